"""Erratum 10: the published critical point holds; a second edge of chaos lies at a bias mean of 4.59, with two branches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.progress import Progress
from memspan.reproductions.chen2018.published import edge_of_chaos, published
from memspan.reproductions.recipe import Outcome
from memspan.results import Branch, Chart, Claim, claim_near, line
from memspan.theory.simulation import Simulation, simulate

CHI_1 = {0.0: 0.9988, 2.0: 1.1213, 4.0: 1.0958, 6.0: 0.9928, -4.0: 0.5449}
FORK = 4.59
BRANCHES = ((0.036, 0.997), (0.076, 1.028))
"""Q* and chi_1 of the two stable branches at the fork."""
_FOUR, _THREE = 1e-4, 5e-4
_STAYS = 0.1
"""By how much of Q* the mean over networks may leave a branch: a quarter of the way to the unstable one between them."""


@final
@dataclass(frozen=True)
class _Size:
    width: int
    networks: int
    steps: int
    points: int


_SIZES = {
    "smoke": _Size(65_536, 2, 25, 9),
    "laptop": _Size(262_144, 4, 300, 121),
    "paper": _Size(1_048_576, 4, 600, 121),
}


def run(scale: str, seed: int, progress: Progress) -> Outcome:
    size = _SIZES[scale]
    stable = [branch for branch in published(FORK).branches() if branch.stable]
    runs = [_simulated(size, branch, [seed, number], progress) for number, branch in enumerate(stable)]
    claims = (*_values(), *_edges(), *_branches(stable), *_staying(size, stable, runs))
    return Outcome(
        claims, (_chi_chart(size.points), _fold_chart(size.points), _fork_chart(stable, runs)), _NOTES
    )


def _simulated(size: _Size, branch: Branch, stream: list[int], progress: Progress) -> Simulation:
    return simulate(
        published(FORK).network(),
        width=size.width,
        steps=size.steps,
        networks=size.networks,
        initial_variance=branch.Q,
        seed=np.random.default_rng(stream),
        progress=progress,
    )


def _values() -> list[Claim]:
    point = published(0.0).fixed_point()
    return [
        *(
            claim_near(f"Slope chi_1 at bias mean {mu:g}.", published(mu).chi1, _FOUR, corrected=chi)
            for mu, chi in CHI_1.items()
        ),
        claim_near("Second moment Q* of the state at bias mean 0.", point.Q, _THREE, corrected=0.318),
        claim_near("Variance q* of the gate's sums at bias mean 0.", point.q, 10 * _THREE, corrected=15.94),
    ]


def _edges() -> list[Claim]:
    lower, upper = edge_of_chaos(-0.5, 0.5), edge_of_chaos(4.3, 4.9)
    inside = np.linspace(lower + 0.01, upper - 0.01, 50)
    least = float(np.min(published(inside).chi1))
    return [
        claim_near("The slope chi_1 is 1 at a bias mean near 0.", lower, _THREE, paper=0.0, corrected=0.014),
        claim_near("The slope chi_1 is 1 again at a larger bias mean.", upper, 0.005, corrected=4.59),
        Claim(
            "Between the two the network is chaotic. (Measured: the smallest chi_1 there.)",
            None,
            None,
            least,
            None,
            least > 1,
        ),
    ]


def _branches(stable: list[Branch]) -> list[Claim]:
    count = claim_near(
        "At bias mean 4.59 the variance has this many stable fixed points.",
        float(len(stable)),
        0.0,
        corrected=2.0,
    )
    values = [
        claim
        for branch, (Q, chi1) in zip(stable, BRANCHES, strict=True)
        for claim in (
            claim_near(f"One of them has Q* = {Q:g}.", branch.Q, _THREE, corrected=Q),
            claim_near(f"Its chi_1 is {chi1:g}.", branch.chi1, _THREE, corrected=chi1),
        )
    ]
    return [count, *values]


def _staying(size: _Size, stable: list[Branch], runs: list[Simulation]) -> list[Claim]:
    return [
        claim_near(
            f"Untied networks of width {size.width:,} that start on the branch Q* = {branch.Q:.3f} are still on it after "
            f"{size.steps} steps. (Measured: their second moment at the end.)",
            float(run.Q[-1]),
            _STAYS * branch.Q,
            corrected=branch.Q,
        )
        for branch, run in zip(stable, runs, strict=True)
    ]


def _curve(bias_means: NDArray[np.float64]) -> tuple[list[float], list[Branch]]:
    """Every fixed point at these bias means, by falling Q: so the three branches of the fold are one curve."""
    found = [
        (float(mu), branch) for mu in np.unique(bias_means) for branch in published(float(mu)).branches()
    ]
    found.sort(key=lambda pair: -pair[1].Q)
    return [mu for mu, _ in found], [branch for _, branch in found]


def _chi_chart(points: int) -> Chart:
    x, curve = _curve(np.concatenate([np.linspace(-4.0, 8.0, points), np.linspace(4.5, 4.7, points)]))
    return Chart(
        name="chi1",
        title="The published network is at the edge of chaos at bias mean 0, and again at 4.59",
        x_label="mean of the gate's bias",
        y_label="chi_1, growth of small squared differences per step",
        x_scale="linear",
        y_scale="linear",
        lines=(
            line("every fixed point", x, [branch.chi1 for branch in curve]),
            line("edge of chaos", [-4.0, 8.0], [1.0, 1.0], style="dashed"),
            line("values in the text", list(CHI_1), list(CHI_1.values()), style="markers"),
        ),
        caption="sigma_w = 6.88, sigma_v = 1.39, R = 0.46. Above the dashed line small differences grow (chaos), "
        "below it they fade. Around 4.59 the curve folds back: two stable fixed points and an unstable one between "
        "them exist at once.",
    )


def _fold_chart(points: int) -> Chart:
    x, curve = _curve(np.linspace(4.58, 4.6, points))
    mu, stable = np.array(x), np.array([branch.stable for branch in curve])
    Q = np.array([branch.Q for branch in curve])
    return Chart(
        name="fold",
        title="Around bias mean 4.59 two stable fixed points exist at once",
        x_label="mean of the gate's bias",
        y_label="second moment Q* of the state",
        x_scale="linear",
        y_scale="linear",
        lines=(
            line("every fixed point", mu, Q),
            line("unstable", mu[~stable], Q[~stable], style="markers"),
            line("bias mean 4.59", [FORK, FORK], [Q.min(), Q.max()], style="dashed"),
        ),
        caption="Followed from the upper left the fixed point moves down, turns back at the right edge of the fold, "
        "is unstable on the way back (marked), and stable again below. Which of the two a network comes to depends "
        "on where it starts.",
    )


def _fork_chart(stable: list[Branch], runs: list[Simulation]) -> Chart:
    lines = []
    for branch, run in zip(stable, runs, strict=True):
        t = np.arange(1, run.Q.size + 1)
        lines.append(line(f"simulated, started at {branch.Q:.3f}", t, run.Q))
    ends = [0.0, float(runs[0].Q.size)]
    middle = next(branch for branch in published(FORK).branches() if not branch.stable)
    return Chart(
        name="fork",
        title="At bias mean 4.59 a network stays on the branch on which it starts",
        x_label="step",
        y_label="second moment Q of the state",
        x_scale="linear",
        y_scale="linear",
        lines=(
            *lines,
            line("unstable fixed point between the branches", ends, [middle.Q] * 2, style="dashed"),
        ),
        caption="Two sets of untied networks with the same parameters: one starts at the small stable second "
        "moment, one at the large one. Both stay, so small differences fade in the one set (chi_1 = 0.997) and grow "
        "in the other (1.028).",
    )


_NOTES = (
    "A network that starts at h = 0 comes to the branch of smallest Q*; phases and timescales elsewhere in memspan "
    "are those of that branch.",
    "The branches hold for some hundred steps only at large width: at 4.59 the second moment returns to its fixed "
    "point with a timescale of several hundred steps, and the noise of narrow networks carries it over.",
)

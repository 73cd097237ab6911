"""Erratum 10 (Chen et al. 2018, Fig. 1): the published critical point, and a second one at a bias mean of 4.59.

The network of Fig. 1 has sigma_w = 6.88, sigma_v = 1.39, R = 0.46 and equal biases. It is at the edge of chaos at
bias mean 0, as published, and again at 4.59, where its variance has two stable fixed points.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from memspan.progress import Progress
from memspan.reproductions.charts import chart, dashed, points
from memspan.reproductions.claims import claim
from memspan.reproductions.recipe import Outcome
from memspan.results import Branch, Chart, Claim, line
from memspan.theory.meanfield.field import Numbers
from memspan.theory.meanfield.minimal import MinimalField
from memspan.theory.sampled.simulation import Simulation, simulate

SIGMA_W, SIGMA_V, INPUT_VARIANCE = 6.88, 1.39, 0.46
# chi_1 by bias mean.
CHI_1 = {0.0: 0.9988, 2.0: 1.1213, 4.0: 1.0958, 6.0: 0.9928, -4.0: 0.5449}
# A bias mean at which two branches are stable.
FOLD = 4.59
# Q* and chi_1 of these two branches.
BRANCHES = ((0.036, 0.997), (0.076, 1.028))
_FOUR_DIGITS, _THREE_DIGITS = 1e-4, 5e-4
# Accepted deviation from a branch relative to Q*, a quarter of the way to the unstable branch in between.
_BRANCH_SHARE = 0.1


def published_field(bias_mean: Numbers) -> MinimalField:
    """The minimal RNN of Fig. 1 with this mean of the gate bias (a number or an array).

    >>> round(published_field(0.0).chi1, 4)
    0.9988
    """
    return MinimalField(sigma_w=SIGMA_W, sigma_v=SIGMA_V, bias_mean=bias_mean, input_variance=INPUT_VARIANCE)


def edge_of_chaos(low: float, high: float) -> float:
    """Bias mean between `low` and `high` at which chi_1 crosses 1, to six digits.

    >>> round(edge_of_chaos(-0.5, 0.5), 4)
    0.0136
    """
    return optimize.root_scalar(lambda mu: published_field(mu).chi1 - 1, bracket=(low, high), xtol=1e-6).root


def run(*, seed: int, progress: Progress, width: int, networks: int, steps: int, chart_points: int) -> Outcome:
    """Check the values of chi_1, and simulate networks on both branches; lines have `chart_points` bias means."""
    stable = [branch for branch in published_field(FOLD).branches() if branch.stable]
    simulations = [
        simulate(
            published_field(FOLD).network(),
            width=width,
            steps=steps,
            networks=networks,
            initial_variance=branch.Q,
            seed=np.random.default_rng([seed, number]),
            progress=progress,
        )
        for number, branch in enumerate(stable)
    ]
    claims = (*_value_claims(), *_edge_claims(), *_branch_claims(stable), *_staying_claims(width, stable, simulations))
    return Outcome(
        claims, (_chi_chart(chart_points), _fold_chart(chart_points), _branch_chart(stable, simulations)), _NOTES
    )


def _value_claims() -> list[Claim]:
    point = published_field(0.0).fixed_point()
    return [
        *(
            claim(f"Slope chi_1 at bias mean {mu:g}.").near(published_field(mu).chi1, _FOUR_DIGITS, corrected=chi)
            for mu, chi in CHI_1.items()
        ),
        claim("Second moment Q* of the state at bias mean 0.").near(point.Q, _THREE_DIGITS, corrected=0.318),
        claim("Variance q* of the gate input at bias mean 0.").near(point.q, 10 * _THREE_DIGITS, corrected=15.94),
    ]


def _edge_claims() -> list[Claim]:
    lower, upper = edge_of_chaos(-0.5, 0.5), edge_of_chaos(4.3, 4.9)
    smallest = float(np.min(published_field(np.linspace(lower + 0.01, upper - 0.01, 50)).chi1))
    return [
        claim("The slope chi_1 is 1 at a bias mean near 0.").near(lower, _THREE_DIGITS, paper=0.0, corrected=0.014),
        claim("The slope chi_1 is 1 again at a larger bias mean.").near(upper, 0.005, corrected=4.59),
        claim("Between the two, the network is chaotic.", measure="the smallest chi_1 there").above(smallest, 1.0),
    ]


def _branch_claims(stable: list[Branch]) -> list[Claim]:
    claims = [claim("Stable fixed points of the variance at bias mean 4.59.").near(len(stable), 0.0, corrected=2.0)]
    for branch, (Q, chi1) in zip(stable, BRANCHES, strict=True):
        claims.append(claim(f"One of them has Q* = {Q:g}.").near(branch.Q, _THREE_DIGITS, corrected=Q))
        claims.append(claim(f"Its chi_1 is {chi1:g}.").near(branch.chi1, _THREE_DIGITS, corrected=chi1))
    return claims


def _staying_claims(width: int, stable: list[Branch], simulations: list[Simulation]) -> list[Claim]:
    return [
        claim(
            f"Untied networks of width {width:,} that start on the branch Q* = {branch.Q:.3f} are still on it after "
            f"{simulation.Q.size} steps. (Measured: their final second moment.)"
        ).near(simulation.Q[-1], _BRANCH_SHARE * branch.Q, corrected=branch.Q)
        for branch, simulation in zip(stable, simulations, strict=True)
    ]


def _fixed_points(bias_means: NDArray[np.float64]) -> tuple[list[float], list[Branch]]:
    """Every fixed point at these bias means, by decreasing Q, so that the three branches of the fold form one curve."""
    pairs = [(float(mu), branch) for mu in np.unique(bias_means) for branch in published_field(float(mu)).branches()]
    pairs.sort(key=lambda pair: -pair[1].Q)
    return [mu for mu, _ in pairs], [branch for _, branch in pairs]


def _chi_chart(chart_points: int) -> Chart:
    x, branches = _fixed_points(
        np.concatenate([np.linspace(-4.0, 8.0, chart_points), np.linspace(4.5, 4.7, chart_points)])
    )
    return chart(
        "chi1",
        "The published network is at the edge of chaos at bias mean 0, and again at 4.59",
        "mean of the gate bias",
        "chi_1, growth of small squared differences per step",
        (
            line("all fixed points", x, [branch.chi1 for branch in branches]),
            dashed("edge of chaos", [-4.0, 8.0], [1.0, 1.0]),
            points("values in the text", list(CHI_1), list(CHI_1.values())),
        ),
        "sigma_w = 6.88, sigma_v = 1.39, R = 0.46. Above the dashed line small differences grow (chaos), below it "
        "they decay. Around 4.59 the curve folds back: two stable fixed points and an unstable one between them "
        "coexist.",
    )


def _fold_chart(chart_points: int) -> Chart:
    x, branches = _fixed_points(np.linspace(4.58, 4.6, chart_points))
    mu, stable = np.array(x), np.array([branch.stable for branch in branches])
    Q = np.array([branch.Q for branch in branches])
    return chart(
        "fold",
        "Around bias mean 4.59 two stable fixed points coexist",
        "mean of the gate bias",
        "second moment Q* of the state",
        (
            line("all fixed points", mu, Q),
            points("unstable", mu[~stable], Q[~stable]),
            dashed("bias mean 4.59", [FOLD, FOLD], [Q.min(), Q.max()]),
        ),
        "Starting from the upper left, the fixed point moves down, turns back at the right edge of the fold, is "
        "unstable on the way back (marked), and is stable again below. The initial state decides which of the two a "
        "network reaches.",
    )


def _branch_chart(stable: list[Branch], simulations: list[Simulation]) -> Chart:
    steps = simulations[0].Q.size
    middle = next(branch for branch in published_field(FOLD).branches() if not branch.stable)
    return chart(
        "fork",
        "At bias mean 4.59 a network stays on the branch on which it starts",
        "step",
        "second moment Q of the state",
        (
            *(
                line(f"simulation started at {branch.Q:.3f}", np.arange(1, steps + 1), simulation.Q)
                for branch, simulation in zip(stable, simulations, strict=True)
            ),
            dashed("unstable fixed point between the branches", [0.0, float(steps)], [middle.Q] * 2),
        ),
        "Two sets of untied networks with the same parameters: one starts at the small stable second moment, one at "
        "the large one. Both stay, so small differences decay in one set (chi_1 = 0.997) and grow in the other "
        "(1.028).",
    )


_NOTES = (
    "A network that starts at h = 0 reaches the branch of smallest Q*. Phases and timescales elsewhere in memspan are "
    "those of that branch.",
    "The branches persist for hundreds of steps only at large width: at 4.59 the second moment returns to its fixed "
    "point with a timescale of several hundred steps, and the fluctuations of narrow networks cross the gap.",
)

"""Memorization note 2023, Fig. 2: the line that divides (0^5 1^3)^+, and how far it stays away from every state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.memorization import Rotation
from memspan.progress import Progress
from memspan.reproductions.memorization2023.polygon import two_runs
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, LinearNetwork, Orbit, claim_near, line

TEXT = two_runs(5, 3)
ROUNDING = 1e-12
"""Rounding errors of the few products that give a distance."""
_DIRECTIONS = 100_000
GRID = 1e-4
"""Two neighbours among 100,000 directions differ by 6e-5 radians, which moves no state on the unit circle by more."""


@final
@dataclass(frozen=True)
class _Size:
    periods: int
    """Periods of 00000111 that are replayed."""
    longest: int
    """The longest period whose lines are compared with the closed form."""


_SIZES = {"smoke": _Size(1_000, 12), "laptop": _Size(10_000, 60), "paper": _Size(100_000, 200)}


def line_distance(a: int, b: int) -> float:
    """sin(pi / p) cos((a - b) pi / (2 p)), p = a + b: how near the best line comes to a state of (0^a 1^b)^+.

    Along the axis through the middles of both runs their nearest states lie at cos((a - 1) pi / p) and
    -cos((b - 1) pi / p); half of the difference is this product.

    >>> round(line_distance(5, 3), 6), round(line_distance(1, 1), 6)
    (0.353553, 1.0)
    """
    p = a + b
    return float(np.sin(np.pi / p) * np.cos((a - b) * np.pi / (2 * p)))


def run(scale: str, seed: int, progress: Progress) -> Outcome:  # noqa: ARG001 - nothing here is random
    size = _SIZES[scale]
    network = Rotation().build(TEXT)
    progress.say(f"replaying {size.periods:,} periods")
    claims = (_replayed(network, size.periods), *_line_claims(network), _closed_form(size.longest, progress))
    return Outcome(claims, (_chart(size.longest),), orbits=(_orbit(network),))


def _replayed(network: LinearNetwork, periods: int) -> Claim:
    symbols = network.run(periods * len(TEXT))[1].reshape(periods, len(TEXT))
    right = (symbols == [network.alphabet.index(symbol) for symbol in TEXT]).all(axis=1)
    return claim_near(
        f"The line outputs (0^5 1^3)^+: {periods:,} periods of 00000111 are replayed. (Measured: periods without a wrong "
        "symbol.)",
        float(right.sum()),
        0.0,
        paper=float(periods),
    )


def _line_claims(network: LinearNetwork) -> list[Claim]:
    expected = line_distance(5, 3)
    best = _widest_by_trying(network)
    return [
        claim_near(
            "The state nearest to the line is sin(pi/8) cos(pi/8) = 0.3536 away, on a circle of radius one.",
            _nearest(5, 3),
            ROUNDING,
            corrected=expected,
        ),
        claim_near(
            f"No line is farther from both runs. (Measured: the distance of the best line of {_DIRECTIONS:,} directions.)",
            best,
            GRID,
            corrected=expected,
        ),
    ]


def _nearest(a: int, b: int) -> float:
    """The distance from the line where both scores are equal to the nearest state of one period of (0^a 1^b)^+."""
    network = Rotation().build(two_runs(a, b))
    states = network.run(a + b)[0]
    lead = states @ (network.W_y[0] - network.W_y[1]) + (network.b_y[0] - network.b_y[1])
    return float(np.abs(lead).min() / np.linalg.norm(network.W_y[0] - network.W_y[1]))


def _widest_by_trying(network: LinearNetwork) -> float:
    """Half of the widest gap between the two runs, over many directions."""
    states, symbols = network.run(len(TEXT))
    angles = np.linspace(0, 2 * np.pi, _DIRECTIONS, endpoint=False)
    along = states @ np.stack([np.cos(angles), np.sin(angles)])
    gaps: NDArray[np.float64] = along[symbols == 0].min(axis=0) - along[symbols == 1].max(axis=0)
    return float(gaps.max() / 2)


def _closed_form(longest: int, progress: Progress) -> Claim:
    pairs = [(a, period - a) for period in range(2, longest + 1) for a in range(1, period)]
    worst = 0.0
    with progress.stage("lines between two runs", len(pairs)) as stage:
        for a, b in pairs:
            worst = max(worst, abs(_nearest(a, b) - line_distance(a, b)))
            stage.advance()
    return claim_near(
        f"For every a and b with a + b up to {longest} the nearest state is sin(pi/p) cos((a - b) pi / 2p) away, p = a + b. "
        "(Measured: the largest difference between the network and the formula.)",
        worst,
        ROUNDING,
        corrected=0.0,
    )


def _orbit(network: LinearNetwork) -> Orbit:
    states, symbols = network.run(len(TEXT))
    return Orbit(
        name="line",
        title="A line that outputs 00000111 for ever",
        x_label="first hidden unit",
        y_label="second hidden unit",
        alphabet=network.alphabet,
        points=states,
        symbols=symbols,
        weights=network.W_y,
        bias=network.b_y,
        round=True,
        caption="The eight states that a network of two hidden units walks through. It writes the symbol whose score is the "
        "greater one; the scores are equal on the line between the two coloured regions, which leaves five states on one "
        "side and three on the other and is as far from both as a line can be.",
    )


def _chart(longest: int) -> Chart:
    periods = sorted({round(period) for period in np.geomspace(2, longest, 16)})
    splits = (
        ("two runs of equal length (differing by one at most)", [p // 2 for p in periods]),
        ("one symbol against all others", [1] * len(periods)),
    )
    found = [
        line(
            label,
            periods,
            [_nearest(a, p - a) for a, p in zip(lengths, periods, strict=True)],
            style="markers",
        )
        for label, lengths in splits
    ]
    formula = [
        line(
            "sin(pi/p) cos((a - b) pi / 2p)" if number == 0 else "",
            periods,
            [line_distance(a, p - a) for a, p in zip(lengths, periods, strict=True)],
            style="dashed",
        )
        for number, (_, lengths) in enumerate(splits)
    ]
    return Chart(
        name="distance",
        title="The longer the period, the nearer the line comes to a state",
        x_label="period p = a + b (symbols)",
        y_label="distance of the nearest state from the line",
        x_scale="log",
        y_scale="log",
        lines=(*found, *formula),
        caption="Two hidden units replay (0^a 1^b)^+ for any a and b, but precision is the price: the states lie on a "
        "circle of radius one, and the best line passes them at a distance that falls as 1/p where the runs are equal, and "
        "as 1/p^2 where one symbol stands alone.",
    )

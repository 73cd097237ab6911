"""Strings of two runs, (0^a 1^b)^+: the hidden state walks around a polygon, and a line separates the runs.

Memorization note 2023, Fig. 1 and 2.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from memspan.memorization import Rotation
from memspan.progress import Progress
from memspan.reproductions.charts import chart, dashed, points
from memspan.reproductions.claims import claim
from memspan.reproductions.recipe import Outcome, tracked
from memspan.results import Chart, Claim, LinearNetwork, Orbit

# Rounding errors of a few hundred rotations: each is off by about 1e-16.
ROUNDING = 1e-12
# Times around the octagon.
ROUNDS = 100
# Periods that every string is replayed for.
PERIODS = 5
DIRECTIONS = 100_000
# Two neighbors among 100,000 directions differ by 6e-5 radians, which moves no state on the unit circle by more.
GRID = 1e-4


def two_runs(a: int, b: int) -> str:
    """One period of (0^a 1^b)^+.

    >>> two_runs(5, 3)
    '00000111'
    """
    return "0" * a + "1" * b


TEXT = two_runs(5, 3)


def run_lengths(longest: int) -> list[tuple[int, int]]:
    """All a, b >= 1 with a + b up to `longest`."""
    return [(a, period - a) for period in range(2, longest + 1) for a in range(1, period)]


# --- Fig. 1: the polygon


def polygon(*, longest: int, seed: int, progress: Progress) -> Outcome:  # noqa: ARG001 - nothing here is random
    """Fig. 1: follow the state of 00000111, and replay every string of two runs with a period up to `longest`."""
    network = Rotation().build(TEXT)
    claims = (*_octagon_claims(network), *_replay_claims(longest, progress))
    figure = _orbit(
        network,
        name="octagon",
        title="The hidden state traces out an octagon when a + b = 8",
        caption="Eight steps of a network of two hidden units without any nonlinearity. Each step turns the state by 45 "
        "degrees, so the state returns after eight steps and the same eight symbols repeat forever; here they are "
        "00000111.",
    )
    return Outcome(claims, (), orbits=(figure,))


def _octagon_claims(network: LinearNetwork) -> list[Claim]:
    states = network.run(8 * ROUNDS)[0]
    away = np.linalg.norm(states[1:8] - states[0], axis=1)
    # Adding 0.0 turns -0.0 into 0.0, which `unique` would count as another value.
    different = len(np.unique(states.round(9) + 0.0, axis=0))
    return [
        claim(
            f"The hidden state traces out an octagon when a + b = 8. (Measured: different states in {ROUNDS} periods.)"
        ).near(different, 0.0, paper=8.0),
        claim("Each step turns the state by 2 pi / (a + b), 45 degrees. (Measured: the step that deviates most.)").near(
            _farthest(_turns(states), 45.0), np.degrees(ROUNDING), paper=45.0
        ),
        claim(
            "The state stays on the circle on which it started. (Measured: the radius that deviates most from one.)"
        ).near(_farthest(np.linalg.norm(states, axis=1), 1.0), ROUNDING, paper=1.0),
        claim("After 8 steps the state is back where it started. (Measured: the distance from there.)").near(
            np.linalg.norm(states[8] - states[0]), ROUNDING, paper=0.0
        ),
        claim(
            "Not before: at all other steps it is at least one side of the octagon away, 2 sin(22.5 degrees) = 0.7654."
        ).near(away.min(), ROUNDING, corrected=2 * np.sin(np.pi / 8)),
    ]


def _turns(states: NDArray[np.float64]) -> NDArray[np.float64]:
    """Angles between each state and the next, counterclockwise, in degrees."""
    complex_states = states[:, 0] + 1j * states[:, 1]
    return np.degrees(np.angle(complex_states[1:] / complex_states[:-1]))


def _farthest(values: NDArray[np.float64], expected: float) -> float:
    """The value that deviates most from the expected one."""
    return float(values[np.argmax(np.abs(values - expected))])


def _replay_claims(longest: int, progress: Progress) -> list[Claim]:
    pairs = run_lengths(longest)
    right, largest_input_weight, largest_size = 0, 0.0, 0
    for a, b in tracked(pairs, progress, "replaying two runs"):
        network = Rotation().build(two_runs(a, b))
        right += network.replay(PERIODS * (a + b)) == PERIODS * two_runs(a, b)
        largest_input_weight = max(largest_input_weight, float(np.abs(network.W_x).max()))
        largest_size = max(largest_size, network.hidden_size)
    return [
        claim(
            f"A rotation replays (0^a 1^b)^+ for every a and b with a + b up to {longest}, {PERIODS} periods of each. "
            "(Measured: strings replayed without a wrong symbol.)"
        ).near(right, 0.0, paper=len(pairs)),
        claim("Two hidden units are enough for all of them. (Measured: units of the largest network.)").near(
            largest_size, 0.0, paper=2.0
        ),
        claim("All of them ignore their input: W_x = 0. (Measured: the largest weight of any W_x.)").near(
            largest_input_weight, 0.0, paper=0.0
        ),
    ]


# --- Fig. 2: the line


def separating_line(*, periods: int, longest: int, seed: int, progress: Progress) -> Outcome:  # noqa: ARG001
    """Fig. 2: replay `periods` periods of 00000111, and compare lines of periods up to `longest` with the closed form."""
    network = Rotation().build(TEXT)
    progress.say(f"replaying {periods:,} periods")
    claims = (_replayed(network, periods), *_line_claims(network), _closed_form(longest, progress))
    figure = _orbit(
        network,
        name="line",
        title="A line that outputs 00000111 forever",
        caption="The eight states that a network of two hidden units walks through. It outputs the symbol with the higher "
        "score; the scores are equal on the line between the two colored regions, which leaves five states on one side and "
        "three on the other and is as far from both as a line can be.",
        output=True,
    )
    return Outcome(claims, (_distance_chart(longest),), orbits=(figure,))


def line_distance(a: int, b: int) -> float:
    """sin(pi / p) cos((a - b) pi / (2 p)), p = a + b: the distance of the best line from the nearest state of (0^a 1^b)^+.

    Along the axis through the middles of both runs their nearest states lie at cos((a - 1) pi / p) and
    -cos((b - 1) pi / p); half of the difference is this product.

    >>> round(line_distance(5, 3), 6), round(line_distance(1, 1), 6)
    (0.353553, 1.0)
    """
    p = a + b
    return float(np.sin(np.pi / p) * np.cos((a - b) * np.pi / (2 * p)))


def _replayed(network: LinearNetwork, periods: int) -> Claim:
    symbols = network.run(periods * len(TEXT))[1].reshape(periods, len(TEXT))
    right = (symbols == [network.alphabet.index(symbol) for symbol in TEXT]).all(axis=1)
    return claim(
        f"The line outputs (0^5 1^3)^+: {periods:,} periods of 00000111 are replayed. (Measured: periods without a wrong "
        "symbol.)"
    ).near(right.sum(), 0.0, paper=periods)


def _line_claims(network: LinearNetwork) -> list[Claim]:
    expected = line_distance(5, 3)
    return [
        claim("The state nearest to the line is sin(pi/8) cos(pi/8) = 0.3536 away, on a circle of radius one.").near(
            _nearest(5, 3), ROUNDING, corrected=expected
        ),
        claim(
            f"No line is farther from both runs. (Measured: the distance of the best line of {DIRECTIONS:,} directions.)"
        ).near(_widest_by_search(network), GRID, corrected=expected),
    ]


def _nearest(a: int, b: int) -> float:
    """The distance from the line where both scores are equal to the nearest state of one period of (0^a 1^b)^+."""
    network = Rotation().build(two_runs(a, b))
    states = network.run(a + b)[0]
    lead = states @ (network.W_y[0] - network.W_y[1]) + (network.b_y[0] - network.b_y[1])
    return float(np.abs(lead).min() / np.linalg.norm(network.W_y[0] - network.W_y[1]))


def _widest_by_search(network: LinearNetwork) -> float:
    """Half of the widest gap between the two runs, over many directions."""
    states, symbols = network.run(len(TEXT))
    angles = np.linspace(0, 2 * np.pi, DIRECTIONS, endpoint=False)
    along = states @ np.stack([np.cos(angles), np.sin(angles)])
    gaps: NDArray[np.float64] = along[symbols == 0].min(axis=0) - along[symbols == 1].max(axis=0)
    return float(gaps.max() / 2)


def _closed_form(longest: int, progress: Progress) -> Claim:
    pairs = tracked(run_lengths(longest), progress, "lines between two runs")
    worst = max(abs(_nearest(a, b) - line_distance(a, b)) for a, b in pairs)
    return claim(
        f"For every a and b with a + b up to {longest} the nearest state is sin(pi/p) cos((a - b) pi / 2p) away, p = a + b. "
        "(Measured: the largest difference between the network and the formula.)"
    ).near(worst, ROUNDING, corrected=0.0)


def _distance_chart(longest: int) -> Chart:
    periods = sorted({round(period) for period in np.geomspace(2, longest, 16)})
    equal, single = [p // 2 for p in periods], [1] * len(periods)

    def distances(function: Callable[[int, int], float], lengths: list[int]) -> list[float]:
        return [function(a, p - a) for a, p in zip(lengths, periods, strict=True)]

    return chart(
        "distance",
        "The longer the period, the closer the line comes to a state",
        "period p = a + b (symbols)",
        "distance of the nearest state from the line",
        [
            points("two runs of equal length (differing by one at most)", periods, distances(_nearest, equal)),
            points("one symbol against all others", periods, distances(_nearest, single)),
            dashed("sin(pi/p) cos((a - b) pi / 2p)", periods, distances(line_distance, equal)),
            dashed("", periods, distances(line_distance, single)),
        ],
        "Two hidden units replay (0^a 1^b)^+ for any a and b, but at the price of precision: the states lie on a circle of "
        "radius one, and the best line passes them at a distance that falls as 1/p if the runs are equal, and as 1/p^2 if "
        "one symbol occurs once.",
        log="xy",
    )


def _orbit(network: LinearNetwork, *, name: str, title: str, caption: str, output: bool = False) -> Orbit:
    """One period of 00000111 in the plane of the two hidden units; with the regions of the output layer if `output`."""
    states, symbols = network.run(len(TEXT))
    return Orbit(
        name=name,
        title=title,
        x_label="first hidden unit",
        y_label="second hidden unit",
        alphabet=network.alphabet,
        points=states,
        symbols=symbols,
        weights=network.W_y if output else np.empty((0, 2)),
        bias=network.b_y if output else np.empty(0),
        round=True,
        caption=caption,
    )

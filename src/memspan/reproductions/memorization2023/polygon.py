"""Memorization note 2023, Fig. 1: the hidden state walks around a polygon, and two units replay any two runs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memspan.memorization import Rotation
from memspan.progress import Progress
from memspan.reproductions.recipe import Outcome
from memspan.results import Claim, LinearNetwork, Orbit, claim_near

ROUNDING = 1e-12
"""Rounding errors of a few hundred rotations: each is off by about 1e-16."""
_ROUNDS = 100
"""Times around the octagon."""
_PERIODS = 5
"""Periods that every string is replayed for."""
_SIZES = {"smoke": 12, "laptop": 60, "paper": 200}
"""The longest period a + b of the strings that are replayed."""


def two_runs(a: int, b: int) -> str:
    """One period of (0^a 1^b)^+.

    >>> two_runs(5, 3)
    '00000111'
    """
    return "0" * a + "1" * b


def run(scale: str, seed: int, progress: Progress) -> Outcome:  # noqa: ARG001 - nothing here is random
    network = Rotation().build(two_runs(5, 3))
    claims = (*_octagon_claims(network), *_replay_claims(_SIZES[scale], progress))
    return Outcome(claims, (), orbits=(_orbit(network),))


def _octagon_claims(network: LinearNetwork) -> list[Claim]:
    states = network.run(8 * _ROUNDS)[0]
    away = np.linalg.norm(states[1:8] - states[0], axis=1)
    return [
        claim_near(
            f"The hidden state traces out an octagon when a + b = 8. (Measured: different places in {_ROUNDS} periods.)",
            float(len(np.unique(states.round(9) + 0.0, axis=0))),
            0.0,
            paper=8.0,
        ),
        claim_near(
            "Each step turns the state by 2 pi / (a + b), 45 degrees. (Measured: the step that is farthest from it.)",
            _farthest(_turns(states), 45.0),
            np.degrees(ROUNDING),
            paper=45.0,
        ),
        claim_near(
            "The state stays on the circle on which it began. (Measured: the radius that is farthest from one.)",
            _farthest(np.linalg.norm(states, axis=1), 1.0),
            ROUNDING,
            paper=1.0,
        ),
        claim_near(
            "After 8 steps the state is back where it began. (Measured: how far it is from there.)",
            float(np.linalg.norm(states[8] - states[0])),
            ROUNDING,
            paper=0.0,
        ),
        claim_near(
            "Not before: at all other steps it is at least one side of the octagon away, 2 sin(22.5 degrees) = 0.7654.",
            float(away.min()),
            ROUNDING,
            corrected=float(2 * np.sin(np.pi / 8)),
        ),
    ]


def _turns(states: NDArray[np.float64]) -> NDArray[np.float64]:
    """Angles between each state and the next, counterclockwise, in degrees."""
    complex_states = states[:, 0] + 1j * states[:, 1]
    return np.degrees(np.angle(complex_states[1:] / complex_states[:-1]))


def _farthest(values: NDArray[np.float64], expected: float) -> float:
    """The value that is farthest from the expected one."""
    return float(values[np.argmax(np.abs(values - expected))])


def _replay_claims(longest: int, progress: Progress) -> list[Claim]:
    pairs = [(a, period - a) for period in range(2, longest + 1) for a in range(1, period)]
    right, largest_input_weight, largest_size = 0, 0.0, 0
    with progress.stage("replaying two runs", len(pairs)) as stage:
        for a, b in pairs:
            network = Rotation().build(two_runs(a, b))
            right += network.replay(_PERIODS * (a + b)) == _PERIODS * two_runs(a, b)
            largest_input_weight = max(largest_input_weight, float(np.abs(network.W_x).max()))
            largest_size = max(largest_size, network.hidden_size)
            stage.advance()
    return [
        claim_near(
            f"A rotation replays (0^a 1^b)^+ for every a and b with a + b up to {longest}, {_PERIODS} periods of each. "
            "(Measured: strings replayed without a wrong symbol.)",
            float(right),
            0.0,
            paper=float(len(pairs)),
        ),
        claim_near(
            "Two hidden units are enough for all of them. (Measured: units of the largest network.)",
            float(largest_size),
            0.0,
            paper=2.0,
        ),
        claim_near(
            "All of them ignore what they read: W_x = 0. (Measured: the largest weight of any W_x.)",
            largest_input_weight,
            0.0,
            paper=0.0,
        ),
    ]


def _orbit(network: LinearNetwork) -> Orbit:
    states, symbols = network.run(8)
    return Orbit(
        name="octagon",
        title="The hidden state traces out an octagon when a + b = 8",
        x_label="first hidden unit",
        y_label="second hidden unit",
        alphabet=network.alphabet,
        points=states,
        symbols=symbols,
        weights=np.empty((0, 2)),
        bias=np.empty(0),
        round=True,
        caption="Eight steps of a network of two hidden units without any nonlinearity. Each step turns the state by 45 "
        "degrees, so it comes back after eight and writes the same eight symbols again, for ever; here they are 00000111.",
    )

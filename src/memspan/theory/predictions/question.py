"""What is asked about a network, and what is assumed where nothing is said."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

from memspan.theory.inverse import Parameter
from memspan.theory.predictions.phase_diagram import Axis

DEFAULTS: dict[str, dict[str, float]] = {
    "rnn": {"sigma_w": 1.0, "sigma_v": 1.0, "sigma_b": 0.0, "bias_mean": 0.0, "input_variance": 1.0},
    "minimal-rnn": {
        "sigma_w": 6.88,
        "sigma_v": 1.39,
        "sigma_b": 0.0,
        "bias_mean": 0.0,
        "input_variance": 0.46,
    },
    "lstm": {"sigma_w": 1.0, "sigma_v": 1.0, "sigma_b": 0.0, "bias_mean": 1.0, "input_variance": 1.0},
    "gru": {"sigma_w": 1.0, "sigma_v": 1.0, "sigma_b": 0.0, "bias_mean": 0.0, "input_variance": 1.0},
}
"""What a cell is predicted with unless told: common initialisations, and for the minimal RNN its source's."""


@final
@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is wanted besides the fixed point."""

    input_correlation: float = 1.0
    weights: str = "gaussian"
    steps: int = 1
    """Steps of the Jacobian."""
    timescale: float | None = None
    """How long signals shall last."""
    timescale_source: str = "--timescale"
    parameter: Parameter | None = None
    """What may be changed for that; by default the bias mean of gated cells and sigma_w of the plain one."""
    axes: tuple[Axis, Axis] | None = None
    """The plane of a phase diagram."""
    dynamics: bool = False


def finite(value: float) -> float | None:
    """A timescale, or None where there is none."""
    return float(value) if 0 < value < math.inf else None

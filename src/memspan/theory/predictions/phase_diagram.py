"""How long signals last over a plane of two parameters, with the edge of chaos drawn."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import final

import numpy as np

from memspan.errors import InputError
from memspan.results import HeatMap, line
from memspan.theory.field import Field
from memspan.theory.timescale import timescale_of

PARAMETERS = ("sigma_w", "sigma_v", "sigma_b", "bias_mean", "input_variance")
LONGEST = 1_000.0
"""Timescales above it share a colour."""
POINTS = 200


@final
@dataclass(frozen=True)
class Axis:
    """A parameter from `low` to `high`."""

    parameter: str
    low: float
    high: float

    def __post_init__(self) -> None:
        if self.parameter not in PARAMETERS:
            raise InputError(
                f"{self.parameter!r} is no axis of a phase diagram; expected one of {', '.join(PARAMETERS)}"
            )
        if not (np.isfinite(self.low) and np.isfinite(self.high) and self.low < self.high):
            raise InputError(
                f"the axis {self.parameter} runs from {self.low:g} to {self.high:g}; expected two numbers, the smaller first"
            )

    @property
    def label(self) -> str:
        """As people say it; sigma_w and its like are their own names."""
        return self.parameter if self.parameter.startswith("sigma") else self.parameter.replace("_", " ")


BIAS_MEAN, SIGMA_W = Axis("bias_mean", -4.0, 8.0), Axis("sigma_w", 0.5, 10.0)


def phase_diagram(
    field: Field,
    x: Axis = BIAS_MEAN,
    y: Axis = SIGMA_W,
    *,
    input_correlation: float = 1.0,
    points: int = POINTS,
) -> HeatMap:
    """The timescale of `field` where its parameters `x` and `y` vary and the others stay, at points x points values."""
    if x.parameter == y.parameter:
        raise InputError(f"both axes are {x.parameter}; expected two different ones")
    across, up = np.linspace(x.low, x.high, points), np.linspace(y.low, y.high, points)
    plane = dataclasses.replace(field, **{x.parameter: across, y.parameter: up[:, None]})
    point = plane.fixed_point(input_correlation)
    # JSON has no infinity, and nobody reads more digits than these from colours.
    values = np.minimum(timescale_of(point.chi), 10 * LONGEST)
    here = [float(getattr(field, axis.parameter)) for axis in (x, y)]
    equal = "equal inputs" if input_correlation == 1 else f"inputs of correlation {input_correlation:g}"
    return HeatMap(
        name="phase-diagram",
        title=f"How long signals last before they are forgotten, for {equal}",
        x_label=x.label,
        y_label=y.label,
        value_label="timescale in steps",
        value_scale="log",
        x=across,
        y=up,
        values=_rounded(values),
        highest=LONGEST,
        edge=_rounded(np.asarray(point.chi1) - 1),
        edge_label="edge of chaos (chi_1 = 1)",
        lines=(line("your network", [here[0]], [here[1]], style="markers"),),
        caption=_caption(input_correlation),
    )


def _caption(input_correlation: float) -> str:
    words = (
        "Bright: a difference between two states lasts long. Along the edge of chaos it lasts for ever if the inputs are "
        "equal; on one side of it states forget where they came from, on the other nearby states drift apart."
    )
    if input_correlation == 1:
        return words
    return (
        f"{words} Here the inputs have correlation {input_correlation:g}: their difference acts as noise, and the bright "
        "line along the edge fades. What stays bright does so because of the gate."
    )


def _rounded(values: np.ndarray) -> np.ndarray:
    """Six significant digits, so that a stored map is small."""
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = 10.0 ** (5 - np.floor(np.log10(np.abs(values))))
    good = np.isfinite(scale) & (scale > 0)
    return np.where(good, np.rint(values * np.where(good, scale, 1.0)) / np.where(good, scale, 1.0), values)

"""Drawings as plain data: a recipe stores what it drew, and a report can draw it again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.results.display import Displayed, Notebook
from memspan.results.encoding import check_choice, check_lengths

_SCALES = ("linear", "log")


@final
@dataclass(frozen=True, eq=False, repr=False)
class Line(Displayed):
    """One line or row of markers: `y` over `x`, with an optional band from `low` to `high` (empty: no band).

    A line with an empty label belongs to the line before it and has the same color.
    """

    label: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    style: str = "line"
    """`line`, `dashed` or `markers`."""

    def __post_init__(self) -> None:
        check_choice(self, "style", ("line", "dashed", "markers"))

    def check(self, name: str) -> None:
        """Raise InputError, naming the drawing, unless all arrays of the line have one length."""
        band = ("low", "high") if self.low.size or self.high.size else ()
        check_lengths(self, "x", "y", *band, where=f" in {name}")


@final
@dataclass(frozen=True, eq=False, repr=False)
class Chart(Notebook):
    """Lines on one pair of axes; `x_scale` and `y_scale` are `linear` or `log`."""

    name: str
    title: str
    x_label: str
    y_label: str
    x_scale: str
    y_scale: str
    lines: tuple[Line, ...]
    caption: str
    x_names: tuple[str, ...] = ()
    """Tick labels at x = 1, 2, … of a categorical axis; empty for a numeric axis."""

    def __post_init__(self) -> None:
        check_choice(self, "x_scale", _SCALES)
        check_choice(self, "y_scale", _SCALES)
        for line in self.lines:
            line.check(self.name)

    def _summary(self) -> str:
        return f"{self.name!r}: {len(self.lines)} lines, {self.y_label} against {self.x_label}"


def line(label: str, x: object, y: object, *, band: tuple[object, object] | None = None, style: str = "line") -> Line:
    """A `Line` from anything array-like."""
    low, high = band if band is not None else ((), ())
    x, y, low, high = (np.array(values, dtype=np.float64) for values in (x, y, low, high))
    return Line(label, x, y, low, high, style)


@final
@dataclass(frozen=True, eq=False, repr=False)
class HeatMap(Notebook):
    """`values[i, j]` at (`x[j]`, `y[i]`) as colors, with `lines` drawn on top; NaN is left blank.

    `value_scale` is `linear` or `log`. Values above `highest` share one color. A border called `edge_label` is drawn where
    `edge` (of the shape of `values`, or empty) changes its sign.
    """

    name: str
    title: str
    x_label: str
    y_label: str
    value_label: str
    value_scale: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    values: NDArray[np.float64]
    highest: float
    edge: NDArray[np.float64]
    edge_label: str
    lines: tuple[Line, ...]
    caption: str
    # The field keeps its spelling, because result files hold it.
    colours: tuple[float, float] | None = None
    """Values of the first and last color, so that maps can be compared; None: the range of the values."""

    def __post_init__(self) -> None:
        check_choice(self, "value_scale", _SCALES)
        for line in self.lines:
            line.check(self.name)
        if self.values.shape != (self.y.size, self.x.size):
            raise InputError(f"values, x and y differ in length in {self.name}; values have shape {self.values.shape}")
        if self.edge.size and self.edge.shape != self.values.shape:
            raise InputError(f"edge and values differ in length in {self.name}; edge has shape {self.edge.shape}")

    def _summary(self) -> str:
        rows, columns = self.values.shape
        return f"{self.name!r}: {rows} x {columns} values, {self.value_label} over {self.x_label} and {self.y_label}"

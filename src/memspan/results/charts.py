"""A drawing as plain data, so that a recipe can store what it drew and a report can draw it again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.results.display import Displayed, Notebook


@final
@dataclass(frozen=True, eq=False, repr=False)
class Line(Displayed):
    """One line or row of markers: `y` over `x`, with an optional band of `low` to `high` (empty: none).

    A line with an empty label belongs to the one before it and has its colour.
    """

    label: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    style: str = "line"
    """`line`, `dashed` or `markers`."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Chart(Notebook):
    """Lines on one pair of axes; `x_scale` and `y_scale` are `linear` or `log`; `caption` says what one sees."""

    name: str
    title: str
    x_label: str
    y_label: str
    x_scale: str
    y_scale: str
    lines: tuple[Line, ...]
    caption: str
    x_names: tuple[str, ...] = ()
    """What stands at x = 1, 2, … where these are no numbers; empty where they are."""

    def _summary(self) -> str:
        return f"{self.name!r}: {len(self.lines)} lines, {self.y_label} against {self.x_label}"


def line(
    label: str,
    x: object,
    y: object,
    *,
    band: tuple[object, object] | None = None,
    style: str = "line",
) -> Line:
    """A `Line` from anything array-like."""
    low, high = band if band is not None else ((), ())
    x, y, low, high = (np.array(values, dtype=np.float64) for values in (x, y, low, high))
    return Line(label, x, y, low, high, style)


@final
@dataclass(frozen=True, eq=False, repr=False)
class HeatMap(Notebook):
    """`values[i, j]` at (`x[j]`, `y[i]`), as colours; `lines` are drawn over it; NaN is left blank.

    `value_scale` is `linear` or `log`; values above `highest` share one colour, which the colour bar says. Where `edge`
    (of the shape of `values`, or empty) changes its sign, a border is drawn and called `edge_label`.
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
    colours: tuple[float, float] | None = None
    """Values of the first and the last colour, so that maps can be compared; None: those that occur"""

    def _summary(self) -> str:
        rows, columns = self.values.shape
        return f"{self.name!r}: {rows} x {columns} values, {self.value_label} over {self.x_label} and {self.y_label}"

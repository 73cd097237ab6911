"""A value over a plane as plain data, so that a result can store it and a report can draw it again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.results.chart import Line
from memspan.results.display import Notebook


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

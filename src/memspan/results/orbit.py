"""The states of a network in a plane as plain data, so that a recipe can store them and a report can draw them again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.results.display import Notebook


@final
@dataclass(frozen=True, eq=False, repr=False)
class Orbit(Notebook):
    """`points[i]` emits symbol `symbols[i]`; the plane is coloured by which symbol's score is the greatest there.

    The score of symbol k at a point is `weights[k] @ point + bias[k]`; where `weights` is empty, the regions are not drawn,
    because the score depends on coordinates that this plane does not show. Points are joined in their order.
    """

    name: str
    title: str
    x_label: str
    y_label: str
    alphabet: tuple[str, ...]
    points: NDArray[np.float64]
    """(places, 2)"""
    symbols: NDArray[np.int64]
    """(places,)"""
    weights: NDArray[np.float64]
    """(symbols, 2), or (0, 2)"""
    bias: NDArray[np.float64]
    """(symbols,), or (0,)"""
    round: bool
    """Whether the states walk around a circle: then both axes have one scale, and the last point is joined to the first."""
    caption: str

    def _summary(self) -> str:
        return f"{self.name!r}: {len(self.symbols):,} states, {len(self.alphabet):,} symbols"

"""The orbit of a small network in letters: each place of the string in the plane, and where the arg max changes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memspan.memorization.charts import orbits
from memspan.results import Memorization, Orbit
from memspan.results.text import visible

_COLUMNS, _ROWS = 49, 21
_REACH = 1.3
"""How far the picture goes beyond the circle."""
_CROWDED = 60
"""More places than this could not be told apart."""


def orbit_picture(result: Memorization) -> str | None:
    """Two hidden units, drawn: the symbols where they are written, borders of their regions as dots; None for others."""
    if result.hidden_size != 2 or result.period > _CROWDED:
        return None
    (orbit, *_) = orbits(result)
    if not len(orbit.weights) or not orbit.round:
        return None
    cells = [[" "] * _COLUMNS for _ in range(_ROWS)]
    for row, column in np.argwhere(_borders(orbit)):
        cells[row][column] = "·"
    for place, symbol in zip(orbit.points, orbit.symbols, strict=True):
        x, y = np.clip(place / (2 * _REACH) + 0.5, 0, 1)
        cells[round((1 - y) * (_ROWS - 1))][round(x * (_COLUMNS - 1))] = visible(orbit.alphabet[symbol])[0]
    return "\n".join("  " + "".join(row).rstrip() for row in cells)


def _borders(orbit: Orbit) -> NDArray[np.bool_]:
    """Cells whose right or lower neighbour belongs to another symbol."""
    x, y = np.linspace(-_REACH, _REACH, _COLUMNS), np.linspace(_REACH, -_REACH, _ROWS)
    plane = np.stack(np.meshgrid(x, y), axis=-1)
    region = np.argmax(plane @ orbit.weights.T + orbit.bias, axis=-1)
    border = np.zeros(region.shape, dtype=np.bool_)
    border[:, :-1] |= region[:, :-1] != region[:, 1:]
    border[:-1] |= region[:-1] != region[1:]
    return border

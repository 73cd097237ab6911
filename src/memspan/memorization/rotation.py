"""Two runs of two symbols in two hidden units: a point walks around a circle, and a line divides it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.memorization.construction import Construction, without_input
from memspan.memorization.strings import PeriodicString, Text
from memspan.results import LinearNetwork


@final
@dataclass(frozen=True)
class Rotation(Construction):
    """W_h turns the plane by 2 pi / (a + b); the line that is farthest from both runs of (0^a 1^b)^+ tells them apart.

    Memorization note 2023, first section. The nearest places of the two runs lie at cos((a - 1) pi / p) and
    -cos((b - 1) pi / p) along the axis through the middle of the first, so the widest line crosses it half way.

    >>> Rotation().build("00000111").replay(12)
    '000001110000'
    """

    def build(self, text: Text) -> LinearNetwork:
        """The network of two hidden units."""
        string = PeriodicString.of(text)
        if not fits(string):
            raise InputError(
                f"a rotation of the plane tells two runs of two symbols apart; {string.text!r} has {len(string.alphabet)} "
                f"symbols in {string.changes} runs; use --method spectral"
            )
        p = string.period
        first, second = string.codes[_first_change(string)], string.codes[_first_change(string) - 1]
        a = int((string.codes == first).sum())
        middle = _first_change(string) + (a - 1) / 2
        direction = _on_circle(middle / p)
        crossing = (np.cos((a - 1) * np.pi / p) - np.cos((p - a - 1) * np.pi / p)) / 2
        W_y, b_y = np.zeros((2, 2)), np.zeros(2)
        # No weight above one, so that margins of different constructions can be compared.
        scale = 1 / np.abs(direction).max()
        W_y[first], W_y[second] = scale * direction, -scale * direction
        b_y[first], b_y[second] = -scale * crossing, scale * crossing
        cos, sin = _on_circle(1 / p)
        return without_input(string, np.array([[cos, -sin], [sin, cos]]), W_y, b_y, _on_circle(0.0))


def fits(string: PeriodicString) -> bool:
    """Whether the string is two runs of two symbols, around its period."""
    return len(string.alphabet) == 2 and string.changes == 2


def _first_change(string: PeriodicString) -> int:
    return int(np.flatnonzero(string.codes != np.roll(string.codes, 1))[0])


def _on_circle(turns: float) -> NDArray[np.float64]:
    return np.array([np.cos(2 * np.pi * turns), np.sin(2 * np.pi * turns)])

"""What every way of writing the weights has in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import gcd
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.memorization.strings import PeriodicString, Text
from memspan.results import LinearNetwork
from memspan.results.memorization import LONGEST_PERIOD


class Construction(ABC):
    """A rule that turns a string into a network that replays it."""

    @abstractmethod
    def build(self, text: Text) -> LinearNetwork:
        """A network that writes `text`, and then again; refuses strings that the rule cannot do."""


def check_length(string: PeriodicString) -> None:
    """Refuse periods whose weights would not fit."""
    if string.period > LONGEST_PERIOD:
        raise InputError(
            f"a period of {string.period:,} symbols; networks are written for up to "
            f"{LONGEST_PERIOD:,}; give a shorter string"
        )


def without_input(
    string: PeriodicString, W_h: np.ndarray, W_y: np.ndarray, b_y: np.ndarray, h_1: np.ndarray
) -> LinearNetwork:
    """A network that ignores what it reads (W_x = 0) and whose W_h is orthogonal, so that h_0 = W_h^T h_1."""
    W_x = np.zeros((len(h_1), len(string.alphabet)))
    return LinearNetwork(string.alphabet, string.separator, W_h, W_x, W_y, b_y, W_h.T @ h_1)


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


@final
@dataclass(frozen=True)
class Cyclic(Construction):
    """W_h = c^j, the j-th power of the cyclic permutation of d = period places; W_y holds the symbols as columns.

    Memorization note 2023, second section and its remark: every j coprime to d does, and there are phi(d) of them (the
    note prints phi(n); errata 19).

    >>> Cyclic(power=3).build("abracadabra").replay(14)
    'abracadabraabr'
    """

    power: int = 1

    def build(self, text: Text) -> LinearNetwork:
        """The network of `period` hidden units whose state has a single one, at place j, 2j, 3j … of the period."""
        string = PeriodicString.of(text)
        check_length(string)
        d = string.period
        if gcd(self.power, d) != 1:
            raise InputError(
                f"power {self.power} shares a factor with the period {d}, so the state would skip places; "
                f"choose one of {', '.join(map(str, coprime_powers(d)))}"
            )
        visited = self.power * np.arange(d) % d
        W_h = np.zeros((d, d))
        W_h[(np.arange(d) + self.power) % d, np.arange(d)] = 1
        W_y = np.zeros((len(string.alphabet), d))
        W_y[string.codes, visited] = 1
        return without_input(string, W_h, W_y, np.zeros(len(string.alphabet)), np.eye(d)[0])


def coprime_powers(d: int) -> list[int]:
    """The phi(d) powers of a cycle of length d that generate the same group.

    >>> coprime_powers(8), len(coprime_powers(11))
    ([1, 3, 5, 7], 10)
    """
    return [power for power in range(1, max(d, 2)) if gcd(power, d) == 1]

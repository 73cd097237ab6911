"""Weights written down directly: `Rotation` for two runs of two symbols, `Cyclic` for any string."""

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

Array = NDArray[np.float64]


class Construction(ABC):
    """A rule that turns a string into a network that replays it."""

    @abstractmethod
    def build(self, text: Text) -> LinearNetwork:
        """A network that repeats `text`; raises InputError for strings that the rule does not cover."""


@final
@dataclass(frozen=True)
class Rotation(Construction):
    """W_h rotates the plane by 2 pi / (a + b), and the line farthest from both runs of (0^a 1^b)^+ separates them.

    Memorization note 2023, first section. The closest points of the two runs lie at cos((a - 1) pi / p) and
    -cos((b - 1) pi / p) along the axis through the middle of the first run, so the best line crosses it halfway.

    >>> Rotation().build("00000111").replay(12)
    '000001110000'
    """

    def build(self, text: Text) -> LinearNetwork:
        """The network of two hidden units."""
        string = PeriodicString.of(text)
        if not has_two_runs(string):
            raise InputError(
                f"a rotation of the plane separates two runs of two symbols; {string.text!r} has {len(string.alphabet)} "
                f"symbols in {string.changes} runs; use --method spectral"
            )
        p = string.period
        change = int(np.flatnonzero(string.codes != np.roll(string.codes, 1))[0])
        first, second = string.codes[change], string.codes[change - 1]
        a = int((string.codes == first).sum())
        direction = _on_circle((change + (a - 1) / 2) / p)
        crossing = (np.cos((a - 1) * np.pi / p) - np.cos((p - a - 1) * np.pi / p)) / 2
        W_y, b_y = np.zeros((2, 2)), np.zeros(2)
        # The largest weight is one, so that the margins of different constructions can be compared.
        scale = 1 / np.abs(direction).max()
        W_y[first], W_y[second] = scale * direction, -scale * direction
        b_y[first], b_y[second] = -scale * crossing, scale * crossing
        cos, sin = _on_circle(1 / p)
        return without_input(string, np.array([[cos, -sin], [sin, cos]]), W_y, b_y, _on_circle(0.0))


def has_two_runs(string: PeriodicString) -> bool:
    """Whether the string consists of two runs of two symbols around its period."""
    return len(string.alphabet) == 2 and string.changes == 2


def _on_circle(turns: float) -> Array:
    return np.array([np.cos(2 * np.pi * turns), np.sin(2 * np.pi * turns)])


@final
@dataclass(frozen=True)
class Cyclic(Construction):
    """W_h = c^j, the j-th power of the cyclic permutation of d = period positions; columns of W_y are the symbols.

    Memorization note 2023, second section and its remark: every j coprime to d works, and there are phi(d) of them (the
    note prints phi(n); errata 19).

    >>> Cyclic(power=3).build("abracadabra").replay(14)
    'abracadabraabr'
    """

    power: int = 1

    def build(self, text: Text) -> LinearNetwork:
        """The network of `period` hidden units whose one-hot state visits units j, 2j, 3j, …"""
        string = PeriodicString.of(text)
        check_length(string)
        d = string.period
        if gcd(self.power, d) != 1:
            raise InputError(
                f"power {self.power} shares a factor with the period {d}, so the state would skip positions; "
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


def check_length(string: PeriodicString) -> None:
    """Raise InputError for periods whose weights would not fit in memory."""
    if string.period > LONGEST_PERIOD:
        raise InputError(
            f"a period of {string.period:,} symbols; expected at most {LONGEST_PERIOD:,}; give a shorter string"
        )


def without_input(string: PeriodicString, W_h: Array, W_y: Array, b_y: Array, h_1: Array) -> LinearNetwork:
    """A network that ignores its input (W_x = 0) and whose W_h is orthogonal, so that h_0 = W_h^T h_1."""
    W_x = np.zeros((len(h_1), len(string.alphabet)))
    return LinearNetwork(string.alphabet, string.separator, W_h, W_x, W_y, b_y, W_h.T @ h_1)

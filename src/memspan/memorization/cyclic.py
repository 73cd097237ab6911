"""Any string in as many hidden units as its period is long: one unit per place, passed around by a permutation."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import final

import numpy as np

from memspan.errors import InputError
from memspan.memorization.construction import Construction, check_length, without_input
from memspan.memorization.strings import PeriodicString, Text
from memspan.results import LinearNetwork


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

"""Any string in the fewest rotations whose orbit can be read by an arg max of affine functions."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import final

from memspan.errors import InputError
from memspan.memorization import harmonics
from memspan.memorization.constructions import Construction, Cyclic, check_length, without_input
from memspan.memorization.harmonics import sufficient
from memspan.memorization.search import Climb, Deadline, Found, Orbits, climb, descend
from memspan.memorization.strings import PeriodicString, Text
from memspan.progress import SILENT, Progress
from memspan.results import FrequencySearch, LinearNetwork

_CLIMB = 0.7
"""Share of the budget for trying all sets, size by size; the rest is for going down from above."""
_GRACE = 10.0
"""Seconds that the frequencies of the theorem have at least, however small the budget: they are what is left then."""


@final
@dataclass(frozen=True, eq=False)
class Solution:
    """What a search gave."""

    network: LinearNetwork
    frequencies: harmonics.Frequencies
    margin: float
    minimal: bool
    """Whether every smaller set of frequencies was refuted."""
    search: FrequencySearch


@final
@dataclass(frozen=True)
class Spectral(Construction):
    """W_h turns planes by 2 pi f / p, one per frequency f of a set that is as small as can be; W_x = 0.

    No network with W_x = 0 whose states stay bounded and whose margin does not fade can do with fewer hidden units than the
    smallest such set: the mean of its scores over all periods has the period p, so it is made of frequencies f / p, no
    more than the network has room for, and it leads wherever the network led in every period.

    >>> solution = Spectral().solve("abracadabra")
    >>> solution.network.hidden_size, solution.frequencies, solution.minimal
    (2, (3,), True)
    """

    budget: float = 60.0
    """Seconds of search; then the smallest set found so far is taken."""
    seed: int = 0
    """Of the random exchanges where the sets are too many to try them all."""

    def build(self, text: Text) -> LinearNetwork:
        """The smallest network found within the budget."""
        return self.solve(text).network

    def solve(self, text: Text, *, progress: Progress = SILENT) -> Solution:
        """The smallest network found within the budget, and what is known about smaller ones."""
        if not (math.isfinite(self.budget) and self.budget >= 0):
            raise InputError(
                f"a search budget of {self.budget} seconds; expected a finite number of 0 or more, such as 60"
            )
        string = PeriodicString.of(text)
        check_length(string)
        started = time.monotonic()
        if string.period == 1:
            record = FrequencySearch(0, 0, True, self.budget, 0.0)
            return Solution(Cyclic().build(string), (), math.inf, True, record)
        orbits = Orbits(string)
        climbed, found = self._searched(orbits, progress)
        size = harmonics.size_of(string.period, found.frequencies)
        minimal = climbed.refuted >= size - 1
        record = FrequencySearch(
            orbits.decided, climbed.refuted, minimal, self.budget, time.monotonic() - started
        )
        return Solution(_network(string, found), found.frequencies, found.readout.margin, minimal, record)

    def _searched(self, orbits: Orbits, progress: Progress) -> tuple[Climb, Found]:
        """From below by trying all; where most of the budget is not enough for that, from above."""
        string, deadline = orbits.string, Deadline.within(self.budget)
        enough = sufficient(string)
        size = harmonics.size_of(string.period, enough)
        first = deadline.or_within(_CLIMB * self.budget)
        climbed = climb(orbits, size + 1, first, self.budget, progress)
        if climbed.found is not None:
            return climbed, climbed.found
        start = orbits.surely(enough, max(deadline.left, _GRACE))
        with progress.stage("fewer frequencies by drawing and exchange", total=1) as stage:
            found = descend(orbits, start, climbed.refuted, deadline, seed=self.seed)
            stage.advance()
        return climbed, found


def _network(string: PeriodicString, found: Found) -> LinearNetwork:
    """Rotations, and the readout that was found; the state starts at angle 0 in every plane."""
    columns = harmonics.columns(string.period, found.frequencies)
    W_h = harmonics.rotation(string.period, found.frequencies)
    h_1 = harmonics.table(string.period)[0, columns]
    return without_input(string, W_h, found.readout.W_y, found.readout.b_y, h_1)

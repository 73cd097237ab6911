"""`Spectral`: any string in the fewest rotations whose orbit an arg max of affine functions can read."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import final

from memspan.errors import InputError
from memspan.memorization import harmonics
from memspan.memorization.constructions import Construction, Cyclic, check_length, without_input
from memspan.memorization.search import Deadline, FrequencySet, OrbitTester, SearchFromBelow, descend, search_from_below
from memspan.memorization.strings import PeriodicString, Text
from memspan.progress import SILENT, Progress
from memspan.results import FrequencySearch, LinearNetwork

# Share of the budget for trying all sets, size by size; the rest is for shrinking a sufficient set.
_SHARE_FROM_BELOW = 0.7
# Minimum time for the sufficient frequencies of the theorem: without them there would be no answer.
_LEAST_SECONDS = 10.0


@final
@dataclass(frozen=True, eq=False)
class Solution:
    """Result of a search."""

    network: LinearNetwork
    frequencies: harmonics.Frequencies
    margin: float
    minimal: bool
    """Whether every smaller set of frequencies was refuted."""
    search: FrequencySearch


@final
@dataclass(frozen=True)
class Spectral(Construction):
    """W_h rotates planes by 2 pi f / p, one per frequency f of a set as small as possible; W_x = 0.

    No network with W_x = 0, bounded states and a margin that does not fade can have fewer hidden units than the smallest
    such set. The mean of its scores over all periods has the period p, so it consists of frequencies f / p, at most as
    many as the network has coordinates for, and it leads wherever the network led in every period.

    >>> solution = Spectral().solve("abracadabra")
    >>> solution.network.hidden_size, solution.frequencies, solution.minimal
    (2, (3,), True)
    """

    budget: float = 60.0
    """Seconds of search; then the smallest set found so far is used."""
    seed: int = 0
    """For the random exchanges where there are too many sets to try them all."""

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
        orbits = OrbitTester(string)
        below, found = self._search(orbits, progress)
        size = harmonics.size_of(string.period, found.frequencies)
        minimal = below.refuted >= size - 1
        seconds = time.monotonic() - started
        record = FrequencySearch(orbits.decided, below.refuted, minimal, self.budget, seconds)
        return Solution(_network(string, found), found.frequencies, found.readout.margin, minimal, record)

    def _search(self, orbits: OrbitTester, progress: Progress) -> tuple[SearchFromBelow, FrequencySet]:
        """Try all sets from below; if most of the budget is not enough for that, shrink a sufficient set."""
        string, deadline = orbits.string, Deadline.within(self.budget)
        enough = harmonics.sufficient(string)
        size = harmonics.size_of(string.period, enough)
        first = deadline.or_within(_SHARE_FROM_BELOW * self.budget)
        below = search_from_below(orbits, size + 1, first, self.budget, progress)
        if below.found is not None:
            return below, below.found
        start = orbits.solve_sufficient(enough, max(deadline.left, _LEAST_SECONDS))
        with progress.stage("searching for fewer frequencies by sampling and exchange", total=1) as stage:
            found = descend(orbits, start, below.refuted, deadline, seed=self.seed)
            stage.advance()
        return below, found


def _network(string: PeriodicString, found: FrequencySet) -> LinearNetwork:
    """Rotations and the readout that was found; the state starts at angle 0 in every plane."""
    columns = harmonics.columns(string.period, found.frequencies)
    W_h = harmonics.rotation(string.period, found.frequencies)
    h_1 = harmonics.table(string.period)[0, columns]
    return without_input(string, W_h, found.readout.W_y, found.readout.b_y, h_1)

"""The fewest frequencies whose orbit can be read: every set of a size is decided before a larger size is tried.

A set that cannot tell the places apart has no part that can, so refuting all sets of d - 1 and d - 2 hidden units
proves that d is the least. Nearly all sets are refuted by one pair of symbols (`separation.py`); the few that are left
are solved for their largest margin (`margin.py`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.engines import Threads, available_cores
from memspan.information.kernels.kernel import announce
from memspan.memorization import harmonics, separation
from memspan.memorization.harmonics import Frequencies
from memspan.memorization.margin import LEAST, Readout, widest
from memspan.memorization.strings import PeriodicString
from memspan.progress import Progress

_CHUNK = 2_048
"""Sets that one thread refutes before it looks at the clock: some hundredths of a second."""
_WIDENING = 0.1
"""Share of the budget for the widest margin once the size is found."""


@final
@dataclass(frozen=True)
class Deadline:
    """A moment after which no new piece of work is begun."""

    at: float

    @classmethod
    def within(cls, seconds: float) -> Deadline:
        return cls(time.monotonic() + seconds)

    @property
    def passed(self) -> bool:
        return time.monotonic() >= self.at

    def or_within(self, seconds: float) -> Deadline:
        """The earlier of this deadline and one that is `seconds` away."""
        return Deadline(min(self.at, time.monotonic() + seconds))


@final
@dataclass(frozen=True, eq=False)
class Found:
    """A set of frequencies and how its states are read."""

    frequencies: Frequencies
    readout: Readout


@final
class Orbits:
    """All states that frequencies of one period can give, asked about sets of them; counts the sets it decided."""

    def __init__(self, string: PeriodicString) -> None:
        self.string = string
        self.period = string.period
        self.states = harmonics.table(string.period)
        self.decided = 0
        self._threads = Threads(min(available_cores(), 8))

    @cached_property
    def energy(self) -> NDArray[np.float64]:
        """How much of the symbols' variation each frequency 1, 2, … carries; rounded, so that equal ones are equal."""
        indicator = np.eye(len(self.string.alphabet))[self.string.codes]
        return (np.abs(np.fft.rfft(indicator, axis=0)) ** 2).sum(axis=1)[1:].round(9)

    @property
    def order(self) -> NDArray[np.int64]:
        """Frequencies by their energy, the strongest first."""
        return 1 + np.argsort(-self.energy, kind="stable")

    def chosen(self, frequencies: Frequencies) -> NDArray[np.float64]:
        """States of one set, of shape (period, hidden units)."""
        return self.states[:, harmonics.columns(self.period, frequencies)]

    def unrefuted(self, sets: list[Frequencies]) -> list[Frequencies]:
        """Those of several sets of one size that no pair of symbols refutes."""
        parts = [sets[at : at + _CHUNK] for at in range(0, len(sets), _CHUNK)]
        refuted = self._threads.map(self._refuted, parts)
        left = [
            f
            for part, out in zip(parts, refuted, strict=True)
            for f, no in zip(part, out, strict=True)
            if not no
        ]
        self.decided += len(sets) - len(left)
        return left

    def _refuted(self, sets: list[Frequencies]) -> NDArray[np.bool_]:
        chosen = np.array([harmonics.columns(self.period, f) for f in sets], dtype=np.int64)
        return separation.refuted(self.states, self.string.codes, chosen)

    def solved(self, frequencies: Frequencies) -> Found | None:
        """The widest margin of one set; None where it is too narrow."""
        self.decided += 1
        frequencies = tuple(sorted(frequencies))
        readout = widest(self.chosen(frequencies), self.string.codes, len(self.string.alphabet))
        return Found(frequencies, readout) if readout.margin >= LEAST else None

    def batches(self, size: int) -> Iterator[list[Frequencies]]:
        """Every set of a size, in pieces that keep all threads busy."""
        sets = harmonics.sets_of_size(self.period, size, self.order)
        return iter(lambda: list(islice(sets, _CHUNK * self._threads.workers)), [])


@final
@dataclass(frozen=True, eq=False)
class Climb:
    """How far the search from below came: sizes up to `refuted` are impossible; `found` has the next size, if any."""

    refuted: int
    found: Found | None


def climb(orbits: Orbits, below: int, deadline: Deadline, budget: float, progress: Progress) -> Climb:
    """Decide every set of 1, 2, … hidden units, up to `below` - 1, until one can be read or the time is over."""
    announce(separation._refuted, progress, "the test of frequency sets")
    for size in range(1, below):
        found, complete = _level(orbits, size, deadline, budget, progress)
        if found is not None or not complete:
            return Climb(size - 1, found)
    return Climb(below - 1, None)


def _level(
    orbits: Orbits, size: int, deadline: Deadline, budget: float, progress: Progress
) -> tuple[Found | None, bool]:
    """The widest of all sets of one size that could be read, and whether every set was decided."""
    best: Found | None = None
    total = harmonics.number_of_sets(orbits.period, size)
    with progress.stage(f"{size} hidden units, {total:,} sets of frequencies", total=max(total, 1)) as stage:
        for batch in orbits.batches(size):
            for frequencies in orbits.unrefuted(batch):
                if deadline.passed:
                    return best, False
                found = orbits.solved(frequencies)
                if found is None:
                    continue
                if best is None:
                    deadline = deadline.or_within(_WIDENING * budget)
                if best is None or found.readout.margin > best.readout.margin:
                    best = found
            stage.advance(len(batch))
            if deadline.passed:
                return best, False
    return best, True

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
from memspan.memorization.margin import LEAST, Readout, one_by_one, whole, widest_within
from memspan.memorization.strings import PeriodicString
from memspan.progress import Progress

_BATCH, _LARGEST = 16, 4_096
"""Sets that are tested together, before the clock is looked at: first, and at the most."""
_PATIENCE = 0.1
"""Seconds that a batch should take."""
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

    @property
    def left(self) -> float:
        """Seconds until then, 0 at the least."""
        return max(self.at - time.monotonic(), 0.0)

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
        self.decided = self.undecided = 0
        self.batch = _BATCH
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
        """Those of several sets of one size that no pair of symbols refutes; `batch` follows the time that took."""
        begun = time.monotonic()
        share = -(-len(sets) // self._threads.workers)
        parts = [sets[at : at + share] for at in range(0, len(sets), share)]
        refuted = self._threads.map(self._refuted, parts)
        in_time = len(sets) * _PATIENCE / max(time.monotonic() - begun, 1e-6)
        self.batch = int(min(max(in_time, 1), 4 * self.batch, _LARGEST))
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

    def solved(self, frequencies: Frequencies, deadline: Deadline) -> Found | None:
        """The widest margin of one set; None where it is too narrow, or where that stays undecided, which is counted."""
        frequencies = tuple(sorted(frequencies))
        symbols = len(self.string.alphabet)
        readout = widest_within(deadline.left, self.chosen(frequencies), self.string.codes, symbols)
        self.decided += readout is not None
        self.undecided += readout is None
        return Found(frequencies, readout) if readout is not None and readout.margin >= LEAST else None

    def surely(self, frequencies: Frequencies, seconds: float) -> Found:
        """A set that a theorem says is enough, read within a time; else all frequencies, which need no search."""
        symbols, states = len(self.string.alphabet), self.chosen(frequencies)
        readout = widest_within(seconds / 2, states, self.string.codes, symbols) or one_by_one(
            seconds / 2, states, self.string.codes, symbols
        )
        if readout is not None and readout.margin >= LEAST:
            return Found(frequencies, readout)
        frequencies = tuple(range(1, self.period // 2 + 1))
        return Found(frequencies, whole(self.string.codes, len(self.string.alphabet), self.states))

    def batches(self, sets: Iterator[Frequencies]) -> Iterator[list[Frequencies]]:
        """Sets in batches, small ones first: how long a test takes depends on the size."""
        self.batch = min(self.batch, _BATCH)
        return iter(lambda: list(islice(sets, self.batch)), [])


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
    unknown = orbits.undecided
    total = harmonics.number_of_sets(orbits.period, size)
    with progress.stage(f"{size} hidden units, {total:,} sets of frequencies", total=max(total, 1)) as stage:
        every = harmonics.sets_of_size(orbits.period, size, orbits.order)
        for batch in orbits.batches(every):
            for frequencies in orbits.unrefuted(batch):
                if deadline.passed:
                    return best, False
                found = orbits.solved(frequencies, deadline)
                if found is None:
                    continue
                if best is None:
                    deadline = deadline.or_within(_WIDENING * budget)
                if best is None or found.readout.margin > best.readout.margin:
                    best = found
            stage.advance(len(batch))
            if deadline.passed:
                return best, False
    return best, orbits.undecided == unknown

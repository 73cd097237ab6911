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
from itertools import combinations, islice
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.engines import Threads, available_cores
from memspan.information.kernels.kernel import announce
from memspan.memorization import harmonics, separation
from memspan.memorization.harmonics import Frequencies, size_of
from memspan.memorization.separation import LEAST, Readout, one_by_one, whole, widest_within
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


_DRAWN = 512
"""Sets that are drawn at once."""
_LEAPS = 300
_AFFORDABLE = 2e8
_DRAWS = 20_000
"""Sets of one size that are drawn before chance is given up for exchange."""


def descend(orbits: Orbits, start: Found, refuted: int, deadline: Deadline, *, seed: int) -> Found:
    """From a set that can be read to ever smaller ones, until the deadline or just above `refuted` hidden units.

    First by drawing sets in which strong frequencies are likely, of twice as many hidden units each time until one can
    be read, then of one less; where luck ends, by exchange: leave one frequency out, or put one in the place of two. Returns
    the smallest set that was met.
    """
    random = np.random.default_rng(seed)
    best = _leap(orbits, start, refuted, deadline, random)
    while (size := _size(orbits, best) - 1) > refuted and _affordable(orbits, size):
        found = _first(orbits, islice(_drawn(orbits, size, random), _DRAWS), deadline)
        if found is None and orbits.period % 2 == 1:
            found = _first(orbits, islice(_drawn(orbits, size - 1, random), _DRAWS), deadline)
        if found is None:
            return _exchange(orbits, best, refuted, deadline, random)
        best = found
    return best


def _leap(
    orbits: Orbits, start: Found, refuted: int, deadline: Deadline, random: np.random.Generator
) -> Found:
    """The first of 2, 4, 8 … times the refuted size at which one of a few hundred draws can be read; else the start."""
    size = 2 * (refuted + 1)
    while size < _size(orbits, start) and _affordable(orbits, size) and not deadline.passed:
        found = _first(orbits, islice(_drawn(orbits, size, random), _LEAPS), deadline)
        if found is not None:
            return found
        size *= 2
    return start


def _affordable(orbits: Orbits, size: int) -> bool:
    """Whether a set of this size is tested in a second or so: the simplex method takes size^2 x period or more."""
    pairs = len(orbits.string.alphabet) ** 2 / 2
    return pairs * size**2 * orbits.period < _AFFORDABLE


def _exchange(
    orbits: Orbits, start: Found, refuted: int, deadline: Deadline, random: np.random.Generator
) -> Found:
    """Where no smaller neighbour can be read, one of equal size is walked to, or another drawn."""
    best = here = start
    while not deadline.passed and _size(orbits, best) > refuted + 1:
        found = _first(orbits, _smaller(orbits.period, here.frequencies, random), deadline)
        if found is not None:
            here = found
            best = min(best, here, key=lambda one: _size(orbits, one))
            continue
        size = _size(orbits, best)
        here = (
            _first(orbits, _equal(orbits.period, here.frequencies, random), deadline)
            or _first(orbits, islice(_drawn(orbits, size, random), _DRAWS), deadline)
            or start
        )
    return best


def _drawn(orbits: Orbits, size: int, random: np.random.Generator) -> Iterator[Frequencies]:
    """Sets of `size` hidden units, frequencies drawn with chances that grow as the square of their energy."""
    half = orbits.period // 2 if orbits.period % 2 == 0 else None
    if size % 2 == 1 and half is None:
        return
    planes = np.arange(1, (orbits.period - 1) // 2 + 1)
    energy = orbits.energy[planes - 1]
    chances = 2 * np.log(energy + 1e-6 * energy.max() + 1e-300)
    while True:
        # The largest of log chances plus Gumbel noise are a draw without replacement.
        order = np.argsort(-(chances + random.gumbel(size=(_DRAWN, len(planes)))), axis=1)
        for row in planes[order[:, : size // 2]]:
            chosen = tuple(int(f) for f in row)
            yield chosen if size % 2 == 0 else (*chosen, int(half or 0))


def _size(orbits: Orbits, found: Found) -> int:
    return size_of(orbits.period, found.frequencies)


def _first(orbits: Orbits, neighbours: Iterator[Frequencies], deadline: Deadline) -> Found | None:
    """The first neighbour that can be read."""
    for batch in orbits.batches(neighbours):
        by_size: dict[int, list[Frequencies]] = {}
        for frequencies in batch:
            by_size.setdefault(size_of(orbits.period, frequencies), []).append(frequencies)
        for size in sorted(by_size):
            for frequencies in orbits.unrefuted(by_size[size]):
                if deadline.passed:
                    return None
                if (found := orbits.solved(frequencies, deadline)) is not None:
                    return found
        if deadline.passed:
            return None
    return None


def _smaller(period: int, have: Frequencies, random: np.random.Generator) -> Iterator[Frequencies]:
    """One left out; then two left out and one put in."""
    for out in random.permutation(have):
        yield _without(have, (int(out),))
    pairs = list(combinations(have, 2))
    others = [f for f in range(1, period // 2 + 1) if f not in have]
    for pair in random.permutation(np.array(pairs).reshape(-1, 2)):
        for new in random.permutation(others):
            candidate = (*_without(have, tuple(int(f) for f in pair)), int(new))
            if size_of(period, candidate) < size_of(period, have):
                yield candidate


def _equal(period: int, have: Frequencies, random: np.random.Generator) -> Iterator[Frequencies]:
    """One exchanged for another."""
    others = [f for f in range(1, period // 2 + 1) if f not in have]
    for out in random.permutation(have):
        for new in random.permutation(others):
            yield (*_without(have, (int(out),)), int(new))


def _without(have: Frequencies, out: Frequencies) -> Frequencies:
    return tuple(f for f in have if f not in out)

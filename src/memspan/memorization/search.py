"""The search for the smallest separable set of frequencies: all sets from below, or ever smaller sets from above.

If a set cannot separate the symbols, none of its subsets can. So refuting all sets of d - 1 and d - 2 hidden units proves
that d is minimal. Nearly all sets are refuted by one pair of symbols (`separation.refuted`); the few others are solved for
their largest margin.
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
from memspan.memorization.separation import LEAST_MARGIN, Readout
from memspan.memorization.strings import PeriodicString
from memspan.progress import Progress

# Sets that are tested together before the clock is checked: at first, and at most.
_FIRST_BATCH, _LARGEST_BATCH = 16, 4_096
# Target duration of a batch.
_BATCH_SECONDS = 0.1
# Share of the budget for widening the margin once the size is known.
_WIDENING = 0.1
# Random sets that are generated at once.
_SAMPLE_BLOCK = 512
# Random sets per size while the size is doubled.
_LEAP_SAMPLES = 300
# Random sets per size before the search turns to exchange.
_SAMPLES = 20_000
# Operations of about one second.
_AFFORDABLE = 2e8


@final
@dataclass(frozen=True)
class Deadline:
    """A time after which no new work is started."""

    at: float

    @classmethod
    def within(cls, seconds: float) -> Deadline:
        """The deadline that many seconds from now."""
        return cls(time.monotonic() + seconds)

    @property
    def passed(self) -> bool:
        """Whether it is over."""
        return time.monotonic() >= self.at

    @property
    def left(self) -> float:
        """Seconds left, at least 0."""
        return max(self.at - time.monotonic(), 0.0)

    def or_within(self, seconds: float) -> Deadline:
        """The earlier of this deadline and one that many seconds from now."""
        return Deadline(min(self.at, time.monotonic() + seconds))


@final
@dataclass(frozen=True, eq=False)
class FrequencySet:
    """A set of frequencies and the readout of its states."""

    frequencies: Frequencies
    readout: Readout


@final
class OrbitTester:
    """Tests whether sets of frequencies of one period are separable, and counts the sets it decided."""

    def __init__(self, string: PeriodicString) -> None:
        self.string = string
        self.period = string.period
        self.states = harmonics.table(string.period)
        self.decided = self.undecided = 0
        self.batch = _FIRST_BATCH
        self._threads = Threads(min(available_cores(), 8))

    @cached_property
    def energy(self) -> NDArray[np.float64]:
        """Power of the symbols' indicator functions at each frequency 1, 2, …; rounded, so that equal ones are equal."""
        indicator = np.eye(len(self.string.alphabet))[self.string.codes]
        return (np.abs(np.fft.rfft(indicator, axis=0)) ** 2).sum(axis=1)[1:].round(9)

    @property
    def order(self) -> NDArray[np.int64]:
        """Frequencies by decreasing energy."""
        return 1 + np.argsort(-self.energy, kind="stable")

    def unrefuted(self, sets: list[Frequencies]) -> list[Frequencies]:
        """The sets (all of one size) that no pair of symbols refutes; adapts `batch` to the time that took."""
        # All sets of one size cost about the same, so one batch predicts the next.
        begun = time.monotonic()
        share = -(-len(sets) // self._threads.workers)
        parts = [sets[at : at + share] for at in range(0, len(sets), share)]
        refuted = np.concatenate(self._threads.map(self._refuted, parts))
        in_time = len(sets) * _BATCH_SECONDS / max(time.monotonic() - begun, 1e-6)
        self.batch = int(min(max(in_time, 1), 4 * self.batch, _LARGEST_BATCH))
        left = [frequencies for frequencies, out in zip(sets, refuted, strict=True) if not out]
        self.decided += len(sets) - len(left)
        return left

    def _refuted(self, sets: list[Frequencies]) -> NDArray[np.bool_]:
        chosen = np.array([harmonics.columns(self.period, f) for f in sets], dtype=np.int64)
        return separation.refuted(self.states, self.string.codes, chosen)

    def solve(self, frequencies: Frequencies, deadline: Deadline) -> FrequencySet | None:
        """The readout with the largest margin; None if that is too small or, which is counted, undecided."""
        frequencies = tuple(sorted(frequencies))
        readout = separation.widest_within(deadline.left, *self._problem(frequencies))
        self.decided += readout is not None
        self.undecided += readout is None
        separable = readout is not None and readout.margin >= LEAST_MARGIN
        return FrequencySet(frequencies, readout) if readout is not None and separable else None

    def solve_sufficient(self, frequencies: Frequencies, seconds: float) -> FrequencySet:
        """A set that suffices by a theorem, solved within a time limit; else all frequencies, which need no solver."""
        problem = self._problem(frequencies)
        readout = separation.widest_within(seconds / 2, *problem) or separation.one_by_one(seconds / 2, *problem)
        if readout is not None and readout.margin >= LEAST_MARGIN:
            return FrequencySet(frequencies, readout)
        every = tuple(range(1, self.period // 2 + 1))
        return FrequencySet(every, separation.full_readout(self.states, *problem[1:]))

    def _problem(self, frequencies: Frequencies) -> tuple[NDArray[np.float64], NDArray[np.int64], int]:
        """The states of a set, of shape (period, hidden units), the symbols they emit, and the number of symbols."""
        states = self.states[:, harmonics.columns(self.period, frequencies)]
        return states, self.string.codes, len(self.string.alphabet)

    def batches(self, sets: Iterator[Frequencies]) -> Iterator[list[Frequencies]]:
        """Sets in batches, small ones first because the duration of a test depends on the size."""
        self.batch = min(self.batch, _FIRST_BATCH)
        return iter(lambda: list(islice(sets, self.batch)), [])


@final
@dataclass(frozen=True, eq=False)
class SearchFromBelow:
    """Sizes up to `refuted` are impossible; `found` has the next size, if any set was found."""

    refuted: int
    found: FrequencySet | None


def search_from_below(
    orbits: OrbitTester, below: int, deadline: Deadline, budget: float, progress: Progress
) -> SearchFromBelow:
    """Decide every set of 1, 2, … hidden units, up to `below` - 1, until one is separable or time is up."""
    announce(separation._refuted, progress, "the test of frequency sets")
    for size in range(1, below):
        found, complete = _search_size(orbits, size, deadline, budget, progress)
        if found is not None or not complete:
            return SearchFromBelow(size - 1, found)
    return SearchFromBelow(below - 1, None)


def _search_size(
    orbits: OrbitTester, size: int, deadline: Deadline, budget: float, progress: Progress
) -> tuple[FrequencySet | None, bool]:
    """The separable set of one size with the largest margin, and whether every set was decided."""
    best: FrequencySet | None = None
    unknown = orbits.undecided
    total = harmonics.number_of_sets(orbits.period, size)
    with progress.stage(f"{size} hidden units, {total:,} sets of frequencies", total=max(total, 1)) as stage:
        for batch in orbits.batches(harmonics.sets_of_size(orbits.period, size, orbits.order)):
            for frequencies in orbits.unrefuted(batch):
                if deadline.passed:
                    return best, False
                found = orbits.solve(frequencies, deadline)
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


def descend(orbits: OrbitTester, start: FrequencySet, refuted: int, deadline: Deadline, *, seed: int) -> FrequencySet:
    """From a separable set to ever smaller ones, until the deadline or just above `refuted` hidden units.

    First samples random sets that favor strong frequencies: of doubling sizes until one is separable, then of one unit
    less each time. When sampling fails, exchanges frequencies: removes one, or replaces two by one. Returns the smallest
    set found.
    """
    random = np.random.default_rng(seed)
    best = _leap(orbits, start, refuted, deadline, random)
    while (size := _size(orbits, best) - 1) > refuted and _affordable(orbits, size):
        found = _first(orbits, islice(_samples(orbits, size, random), _SAMPLES), deadline)
        if found is None and orbits.period % 2 == 1:
            found = _first(orbits, islice(_samples(orbits, size - 1, random), _SAMPLES), deadline)
        if found is None:
            return _exchange(orbits, best, refuted, deadline, random)
        best = found
    return best


def _leap(
    orbits: OrbitTester, start: FrequencySet, refuted: int, deadline: Deadline, random: np.random.Generator
) -> FrequencySet:
    """A separable sample of 2, 4, 8, … times the refuted size, the first that a few hundred samples find; else `start`."""
    size = 2 * (refuted + 1)
    while size < _size(orbits, start) and _affordable(orbits, size) and not deadline.passed:
        found = _first(orbits, islice(_samples(orbits, size, random), _LEAP_SAMPLES), deadline)
        if found is not None:
            return found
        size *= 2
    return start


def _affordable(orbits: OrbitTester, size: int) -> bool:
    """Whether a set of this size is tested in about a second: the simplex method takes size^2 x period or more."""
    pairs = len(orbits.string.alphabet) ** 2 / 2
    return pairs * size**2 * orbits.period < _AFFORDABLE


def _exchange(
    orbits: OrbitTester, start: FrequencySet, refuted: int, deadline: Deadline, random: np.random.Generator
) -> FrequencySet:
    """Move to separable smaller neighbors; if there is none, to one of equal size or to a new sample."""
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
            or _first(orbits, islice(_samples(orbits, size, random), _SAMPLES), deadline)
            or start
        )
    return best


def _samples(orbits: OrbitTester, size: int, random: np.random.Generator) -> Iterator[Frequencies]:
    """Random sets of `size` hidden units; the probability of a frequency grows as the square of its energy."""
    half = orbits.period // 2 if orbits.period % 2 == 0 else None
    if size % 2 == 1 and half is None:
        return
    planes = np.arange(1, (orbits.period - 1) // 2 + 1)
    energy = orbits.energy[planes - 1]
    log_weights = 2 * np.log(energy + 1e-6 * energy.max() + 1e-300)
    while True:
        # The largest of log weights plus Gumbel noise are a weighted sample without replacement.
        order = np.argsort(-(log_weights + random.gumbel(size=(_SAMPLE_BLOCK, len(planes)))), axis=1)
        for row in planes[order[:, : size // 2]]:
            chosen = tuple(int(f) for f in row)
            yield chosen if size % 2 == 0 else (*chosen, int(half or 0))


def _size(orbits: OrbitTester, found: FrequencySet) -> int:
    return size_of(orbits.period, found.frequencies)


def _first(orbits: OrbitTester, candidates: Iterator[Frequencies], deadline: Deadline) -> FrequencySet | None:
    """The first separable candidate; within a batch, small ones are tested first."""
    for batch in orbits.batches(candidates):
        by_size: dict[int, list[Frequencies]] = {}
        for frequencies in batch:
            by_size.setdefault(size_of(orbits.period, frequencies), []).append(frequencies)
        for size in sorted(by_size):
            for frequencies in orbits.unrefuted(by_size[size]):
                if deadline.passed:
                    return None
                if (found := orbits.solve(frequencies, deadline)) is not None:
                    return found
        if deadline.passed:
            return None
    return None


def _smaller(period: int, have: Frequencies, random: np.random.Generator) -> Iterator[Frequencies]:
    """Remove one frequency; then replace two by one."""
    for out in random.permutation(have):
        yield _without(have, (int(out),))
    # The random order avoids cycles between the same neighbors.
    pairs = list(combinations(have, 2))
    others = [f for f in range(1, period // 2 + 1) if f not in have]
    for pair in random.permutation(np.array(pairs).reshape(-1, 2)):
        for new in random.permutation(others):
            candidate = (*_without(have, tuple(int(f) for f in pair)), int(new))
            if size_of(period, candidate) < size_of(period, have):
                yield candidate


def _equal(period: int, have: Frequencies, random: np.random.Generator) -> Iterator[Frequencies]:
    """Replace one frequency by another."""
    others = [f for f in range(1, period // 2 + 1) if f not in have]
    for out in random.permutation(have):
        for new in random.permutation(others):
            yield (*_without(have, (int(out),)), int(new))


def _without(have: Frequencies, out: Frequencies) -> Frequencies:
    return tuple(f for f in have if f not in out)

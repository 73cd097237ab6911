"""Smaller and smaller sets of frequencies by exchange, for periods whose sets are too many to try them all."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, islice

import numpy as np

from memspan.memorization.harmonics import Frequencies, size_of
from memspan.memorization.search import Deadline, Found, Orbits

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

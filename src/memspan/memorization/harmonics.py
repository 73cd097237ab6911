"""Orbits of block rotations: at position t of a period p, a plane of frequency f is at the angle 2 pi f t / p.

A frequency is a whole number of turns per period, and a set of frequencies defines the state of a network. Every frequency
takes two coordinates, except p / 2 (for even p), which takes one: a sign that flips at every step. Frequency 0 is the bias.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from itertools import combinations
from math import comb, gcd

import numpy as np
from numpy.typing import NDArray

from memspan.memorization.strings import PeriodicString

Frequencies = tuple[int, ...]


def table(period: int) -> NDArray[np.float64]:
    """Every coordinate at every position, of shape (period, period - 1): cos and sin of frequency 1, then of 2, …

    >>> table(4).round(6).tolist()[1]
    [0.0, 1.0, -1.0]
    """
    place = np.arange(period)
    # Turns are reduced as whole numbers first, so that equal angles give equal floats.
    angles = [2 * np.pi * (f * place % period) / period for f in range(1, period // 2 + 1)]
    columns = [wave(angle) for angle in angles for wave in (np.cos, np.sin)]
    return np.stack(columns[: period - 1], axis=1) if period > 1 else np.empty((1, 0))


def columns(period: int, frequencies: Frequencies) -> list[int]:
    """The columns of `table` that are coordinates of the state.

    >>> columns(8, (1, 3, 4))
    [0, 1, 4, 5, 6]
    """
    return [c for f in frequencies for c in (2 * f - 2, 2 * f - 1)[: 1 if 2 * f == period else 2]]


def size_of(period: int, frequencies: Frequencies) -> int:
    """Hidden units that a set of frequencies takes."""
    return sum(1 if 2 * f == period else 2 for f in frequencies)


def rotation(period: int, frequencies: Frequencies) -> NDArray[np.float64]:
    """The block-diagonal W_h that turns every plane by its frequency.

    >>> rotation(4, (1, 2)).round(6).tolist()
    [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]]
    """
    W_h = np.zeros((size_of(period, frequencies),) * 2)
    start = 0
    for f in frequencies:
        if 2 * f == period:
            W_h[start, start] = -1.0
            start += 1
            continue
        cos, sin = np.cos(2 * np.pi * f / period), np.sin(2 * np.pi * f / period)
        W_h[start : start + 2, start : start + 2] = [[cos, -sin], [sin, cos]]
        start += 2
    return W_h


def folded(period: int, frequencies: Iterable[int]) -> Frequencies:
    """Frequencies between 1 and half the period: f and p - f turn the same plane in opposite directions."""
    turns = {f % period for f in frequencies} - {0}
    return tuple(sorted({min(f, period - f) for f in turns}))


def sets_of_size(period: int, size: int, order: NDArray[np.int64]) -> Iterator[Frequencies]:
    """Every set of `size` hidden units that visits `period` different states; frequencies early in `order` first.

    Smaller sets are subsets of these, apart from parity: for even periods, the sets of `size` and of `size` - 1 units
    together contain every smaller one.
    """
    half = period // 2 if period % 2 == 0 else None
    if size % 2 == 1 and half is None:
        return
    planes = [int(f) for f in order if f != half]
    tail = () if size % 2 == 0 or half is None else (half,)
    for chosen in combinations(planes, size // 2):
        # A common divisor with the period would visit fewer states than positions.
        if reduce(gcd, (*chosen, *tail), period) == 1:
            yield (*chosen, *tail)


def number_of_sets(period: int, size: int) -> int:
    """Number of sets of a size, including those that visit fewer states."""
    if size % 2 == 1 and period % 2 == 1:
        return 0
    return comb((period - 1) // 2, size // 2)


def change_bound(string: PeriodicString) -> int:
    """min(2k, p - 1) hidden units suffice for a string of two symbols with 2k changes per period.

    A trigonometric polynomial of degree k can place its 2k zeros between the runs. And p - 1 coordinates (all
    frequencies) span every function of the position.

    >>> change_bound(PeriodicString.of("0010111"))
    4
    """
    return max(1, min(string.changes, string.period - 1))


def sufficient(string: PeriodicString) -> Frequencies:
    """The fewest frequencies u, 2u, …, ru (u coprime to p) that suffice by counting runs.

    Walk the period in steps of 1/u. A polynomial of degree r separates a symbol with r runs on that walk from all others.
    The symbol with the most runs needs none, since it is what remains where all others are negative. So r is the second
    largest number of runs, and 2r <= p - 1 hidden units suffice; otherwise all frequencies do.

    >>> sufficient(PeriodicString.of("abracadabra")), sufficient(PeriodicString.of("ab"))
    ((3,), (1,))
    """
    p = string.period
    best: Frequencies = tuple(range(1, p // 2 + 1))
    for u in (u for u in range(1, p // 2 + 1) if gcd(u, p) == 1):
        # The inverse of u modulo p turns frequency u into frequency 1.
        walked = string.codes[pow(u, -1, p) * np.arange(p) % p]
        runs = PeriodicString(walked, string.alphabet, string.separator, p).runs
        r = int(np.sort(runs)[-2]) if len(runs) > 1 else 1
        candidate = folded(p, (u * k for k in range(1, r + 1)))
        if 2 * r < p and size_of(p, candidate) < size_of(p, best):
            best = candidate
    return best


def size_bound(string: PeriodicString) -> int:
    """Hidden units that suffice by counting runs; never more than max(1, p - 1).

    >>> size_bound(PeriodicString.of("abracadabra")), size_bound(PeriodicString.of("aaaa"))
    (2, 1)
    """
    return max(1, size_of(string.period, sufficient(string)))

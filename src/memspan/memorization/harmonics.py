"""The states of block rotations: at place t of a period p, a plane of frequency f stands at the angle 2 pi f t / p.

A frequency is a whole number of turns per period. A set of frequencies is a network's state: every frequency takes two
coordinates, but p / 2 (for even p) takes one, the sign that changes at every step; 0 takes none, because it is the bias.
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
    """Every coordinate at every place, of shape (period, period - 1): cos and sin of frequency 1, then of 2, …

    >>> table(4).round(6).tolist()[1]
    [0.0, 1.0, -1.0]
    """
    place = np.arange(period)
    # Turns are reduced as whole numbers first, so that equal angles are equal numbers.
    angles = [2 * np.pi * (f * place % period) / period for f in range(1, period // 2 + 1)]
    columns = [wave(angle) for angle in angles for wave in (np.cos, np.sin)]
    return np.stack(columns[: period - 1], axis=1) if period > 1 else np.empty((1, 0))


def columns(period: int, frequencies: Frequencies) -> list[int]:
    """Which columns of `table` are the state's coordinates.

    >>> columns(8, (1, 3, 4))
    [0, 1, 4, 5, 6]
    """
    return [c for f in frequencies for c in (2 * f - 2, 2 * f - 1)[: 1 if 2 * f == period else 2]]


def size_of(period: int, frequencies: Frequencies) -> int:
    """Hidden units that a set of frequencies takes."""
    return sum(1 if 2 * f == period else 2 for f in frequencies)


def rotation(period: int, frequencies: Frequencies) -> NDArray[np.float64]:
    """W_h, block diagonal: one step turns every plane by its frequency.

    >>> rotation(4, (1, 2)).round(6).tolist()
    [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]]
    """
    W_h = np.zeros((size_of(period, frequencies),) * 2)
    place = 0
    for f in frequencies:
        if 2 * f == period:
            W_h[place, place] = -1.0
            place += 1
            continue
        cos, sin = np.cos(2 * np.pi * f / period), np.sin(2 * np.pi * f / period)
        W_h[place : place + 2, place : place + 2] = [[cos, -sin], [sin, cos]]
        place += 2
    return W_h


def folded(period: int, frequencies: Iterable[int]) -> Frequencies:
    """Frequencies as turns between 1 and half the period: f and p - f turn the same plane, the other way round."""
    turns = {f % period for f in frequencies} - {0}
    return tuple(sorted({min(f, period - f) for f in turns}))


def sets_of_size(period: int, size: int, order: NDArray[np.int64]) -> Iterator[Frequencies]:
    """Every set of `size` hidden units that visits `period` different states; frequencies early in `order` first.

    Smaller sets are parts of these, apart from the parity: for even periods, sets of `size` and of `size` - 1
    units together hold every smaller one.
    """
    half = period // 2 if period % 2 == 0 else None
    if size % 2 == 1 and half is None:
        return
    planes = [int(f) for f in order if f != half]
    tail = () if size % 2 == 0 or half is None else (half,)
    for chosen in combinations(planes, size // 2):
        if reduce(gcd, (*chosen, *tail), period) == 1:
            yield (*chosen, *tail)


def number_of_sets(period: int, size: int) -> int:
    """How many sets of a size there are, counting those that visit fewer states."""
    if size % 2 == 1 and period % 2 == 1:
        return 0
    return comb((period - 1) // 2, size // 2)


def change_bound(string: PeriodicString) -> int:
    """min(2k, p - 1) for a string of two symbols with 2k changes per period.

    A trigonometric polynomial of degree k has its 2k zeros wherever one wants them: between the runs. And p - 1
    coordinates (all frequencies) are every function of the place.

    >>> change_bound(PeriodicString.of("0010111"))
    4
    """
    return max(1, min(string.changes, string.period - 1))


def sufficient(string: PeriodicString) -> Frequencies:
    """The fewest frequencies u, 2u, …, ru (u coprime to p) that are enough by counting runs.

    Walk the period in steps of 1/u. A symbol of r runs on that walk is told from all others by a polynomial of
    degree r; one symbol, the one with the most runs, needs none: it is what is left where all others are negative. So r is
    the second largest number of runs, and 2r <= p - 1 hidden units are enough; otherwise all frequencies are.

    >>> sufficient(PeriodicString.of("abracadabra")), sufficient(PeriodicString.of("ab"))
    ((3,), (1,))
    """
    p = string.period
    best: Frequencies = tuple(range(1, p // 2 + 1))
    for u in (u for u in range(1, p // 2 + 1) if gcd(u, p) == 1):
        walked = string.codes[pow(u, -1, p) * np.arange(p) % p]
        runs = PeriodicString(walked, string.alphabet, string.separator, p).runs
        r = int(np.sort(runs)[-2]) if len(runs) > 1 else 1
        candidate = folded(p, (u * k for k in range(1, r + 1)))
        if 2 * r < p and size_of(p, candidate) < size_of(p, best):
            best = candidate
    return best


def size_bound(string: PeriodicString) -> int:
    """Hidden units that are enough by counting runs, and never more than max(1, p - 1).

    >>> size_bound(PeriodicString.of("abracadabra")), size_bound(PeriodicString.of("aaaa"))
    (2, 1)
    """
    return max(1, size_of(string.period, sufficient(string)))

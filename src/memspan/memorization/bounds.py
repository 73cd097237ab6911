"""Hidden units that are always enough, without any search."""

from __future__ import annotations

from math import gcd

import numpy as np

from memspan.memorization.harmonics import Frequencies, folded, size_of
from memspan.memorization.strings import PeriodicString


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

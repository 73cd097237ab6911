"""Two sides in turns, the best time of each."""

from __future__ import annotations

import time
from collections.abc import Callable

from memspan.results import Benchmark

Work = Callable[[], object]


def race(ours: Work, theirs: Work, rounds: int) -> tuple[float, float]:
    """Best seconds of each side over `rounds` turns; that the first of ours may compile does not matter then."""
    best = [float("inf"), float("inf")]
    for _ in range(rounds):
        for side, work in enumerate((ours, theirs)):
            best[side] = min(best[side], seconds(work))
    return best[0], best[1]


def seconds(work: Work) -> float:
    """How long the work takes, once."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def beside(name: str, peer: str, ours: float, theirs: float, unit: str) -> Benchmark:
    """A benchmark of costs, so that theirs over ours is above 1 where we are better.

    >>> beside("counting", "the plain way", 1.0, 3.0, "ns per pair").ratio
    3.0
    """
    return Benchmark(name, peer, ours, theirs, unit, theirs / ours)

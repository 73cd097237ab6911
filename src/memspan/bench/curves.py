"""A whole curve next to the package that does this job today, and two workers next to one."""

from __future__ import annotations

import numpy as np

from memspan.bench.counting import ranked
from memspan.bench.peers import peer
from memspan.bench.sizes import Sizes
from memspan.bench.timing import beside, race, seconds
from memspan.information import count_pairs, log_lags, mutual_information
from memspan.results import Benchmark


def whole_curves(sizes: Sizes) -> list[Benchmark]:
    """A whole curve at every size: the peer's start-up and its cost per lag weigh differently."""
    return [_whole_curve(length, sizes) for length in sizes.curves]


def _whole_curve(length: int, sizes: Sizes) -> Benchmark:
    """Estimate and null at the same lags of the same letters, one job at a time, all else as both packages come.

    The peer is timed at one and at three lags; each further lag costs it half of the difference.
    """
    package = peer("automutualinformation")
    sequence = ranked(27, 1.0, length)
    symbols = sequence.store.read(0, sequence.length)
    lags = log_lags(1, min(10_000, length // 10))[: sizes.curve_lags]

    def theirs(number: int) -> float:
        return seconds(
            lambda: package.sequential_mutual_information(
                [symbols], distances=lags[:number], n_jobs=1, use_tqdm=False
            )
        )

    state = np.random.get_state()  # noqa: NPY002 - the peer seeds numpy's global generator
    rounds = [
        (seconds(lambda: mutual_information(sequence, lags, workers=1)), theirs(1), theirs(3))
        for _ in range(sizes.long_rounds)
    ]
    np.random.set_state(state)  # noqa: NPY002
    ours, one, three = (min(times) for times in zip(*rounds, strict=True))
    other = one + max(three - one, 0.0) / 2 * (len(lags) - 1)
    name = (
        f"the curve of {sequence.length:,} letters at {len(lags)} lags (the peer timed at 3, scaled to all)"
    )
    return beside(name, "automutualinformation", ours, other, "s")


def two_workers(sizes: Sizes) -> Benchmark:
    """The same counts by two threads and by one."""
    sequence, lags = ranked(256, 0.0, sizes.shared), log_lags(1, 10_000, 24)[: sizes.shared_lags]
    times = [
        lambda: count_pairs(sequence, lags, null="independent", workers=2),
        lambda: count_pairs(sequence, lags, null="independent", workers=1),
    ]
    ours, theirs = race(times[0], times[1], max(1, sizes.rounds - 2))
    return beside(f"counting {len(lags)} lags of bytes with two workers", "one worker", ours, theirs, "s")

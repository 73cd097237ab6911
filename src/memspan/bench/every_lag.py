"""Every lag up to a largest one: all at once by FFT, next to one at a time."""

from __future__ import annotations

import itertools

import numpy as np

from memspan.bench.counting import count_lags, ranked
from memspan.bench.sizes import Sizes
from memspan.bench.timing import beside, race
from memspan.information.blocks import block_count, cut_blocks, pieces
from memspan.information.kernels import choose_kernel, spectral
from memspan.results import Benchmark
from memspan.sequences import Sequence

LETTERS = 27


def every_lag(sizes: Sizes) -> Benchmark:
    """Our own per-lag kernel is the peer; it is timed at a few lags and its time scaled to all of them."""
    sequence, most = ranked(LETTERS, 1.0, sizes.long), sizes.every_lag
    sampled = np.unique(np.linspace(1, most, sizes.sampled_lags).astype(np.int64)).tolist()
    kernel = choose_kernel(LETTERS)
    ours, theirs = race(
        lambda: count_by_blocks(sequence, most),
        lambda: count_lags(kernel, sequence, sampled),
        sizes.long_rounds,
    )
    return beside(
        f"every lag to {most:,} of {sequence.length:,} letters (the peer timed at {len(sampled)} lags, scaled to all)",
        "our kernel for single lags",
        ours,
        theirs * most / len(sampled),
        "s",
    )


def count_by_blocks(sequence: Sequence, most: int) -> int:
    """All lags 1 … `most` of each block in turn, as `count_pairs` does; returns how many pairs there are."""
    lags = np.arange(1, most + 1)
    cuts = cut_blocks(sequence.offsets, block_count(sequence, lags)).tolist()
    pairs = 0
    for start, stop in itertools.pairwise(cuts):
        (piece,) = pieces(sequence, start, stop, stop - start)
        symbols = sequence.store.read(piece.start, piece.needed(most))
        cells = spectral.count_every_lag(symbols, piece.segments - piece.start, LETTERS, most)
        pairs += int(cells[1:].sum(dtype=np.int64))
    return pairs

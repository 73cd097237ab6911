"""A sequence cut into blocks for the jackknife, and blocks into pieces that fit the cache.

A pair belongs to the block of its first symbol; its second may lie in the next block of the same document.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.information.kernels import (
    CELL,
    FEWEST_BLOCKS,
    LARGEST_DENSE,
    MOST_BLOCKS,
    TABLE_MEMORY,
    USUAL_BLOCKS,
    Runs,
)
from memspan.sequences import Sequence

# A block of this many largest lags is long enough to be one of many.
LONG = 25
# A cut moves to the end of a document if one is nearer than this share of a block.
SNAP = 0.25


def block_count(sequence: Sequence, lags: NDArray[np.int64]) -> int:
    """64 blocks where there are many documents or lags are short, else 16; 8 where tables are large.

    A block is never shorter than the largest lag, and there are at least two.
    """
    length, alphabet = sequence.length, len(sequence.alphabet)
    # A sparse table has at most one cell per pair.
    cells = alphabet**2 if alphabet <= LARGEST_DENSE else length
    many = sequence.n_documents >= 4 * MOST_BLOCKS or length >= MOST_BLOCKS * LONG * int(lags[-1])
    allowed = (MOST_BLOCKS, USUAL_BLOCKS) if many else (USUAL_BLOCKS,)
    fitting = (blocks for blocks in allowed if len(lags) * cells * CELL * blocks <= TABLE_MEMORY)
    return max(2, min(next(fitting, FEWEST_BLOCKS), length // int(lags[-1])))


def lag_groups(length: int, alphabet: int, lags: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Lags that are counted together, so that their tables stay within the memory set aside."""
    # 12 bytes per pair of a sparse table: a key and a cell.
    bytes_per_lag = FEWEST_BLOCKS * CELL * alphabet**2 if alphabet <= LARGEST_DENSE else 12 * length
    size = max(1, 2 * TABLE_MEMORY // bytes_per_lag)
    return [lags[start : start + size] for start in range(0, len(lags), size)]


def cut_blocks(offsets: NDArray[np.int64], blocks: int) -> NDArray[np.int64]:
    """Positions of the cuts, shape blocks + 1: equal parts, moved to the ends of documents nearby."""
    length = int(offsets[-1])
    cuts = np.rint(np.linspace(0, length, blocks + 1)).astype(np.int64)
    # The nearer of the two ends of documents around each cut.
    right = np.searchsorted(offsets, cuts).clip(1, len(offsets) - 1)
    near = np.where(cuts - offsets[right - 1] < offsets[right] - cuts, offsets[right - 1], offsets[right])
    return np.unique(np.where(np.abs(near - cuts) < SNAP * length / blocks, near, cuts))


@final
@dataclass(frozen=True, eq=False)
class Piece:
    """First symbols of pairs at `start` … `stop` - 1; `segments` has rows (begin, end, limit), one per document.

    The first of a pair lies in begin … end - 1, its second below limit, all counted over the whole sequence.
    """

    start: int
    stop: int
    segments: NDArray[np.int64]

    def runs(self, lag: int) -> Runs:
        """The pairs at `lag`, counted from `start`."""
        begin, end, limit = self.segments.T
        n = np.minimum(end, limit - lag) - begin
        some = n > 0
        x = begin[some] - self.start
        return Runs(x, x + lag, n[some])

    def needed(self, largest_lag: int) -> int:
        """Where reading must stop so that all partners are there."""
        return int(np.minimum(self.segments[:, 1] + largest_lag, self.segments[:, 2]).max())


def pieces(sequence: Sequence, start: int, stop: int, size: int) -> Iterator[Piece]:
    """The stretch `start` … `stop` - 1 in pieces of at most `size` first symbols."""
    offsets = sequence.offsets
    for low in range(start, stop, size):
        high = min(low + size, stop)
        # The documents that overlap low … high - 1.
        first, last = np.searchsorted(offsets, low, side="right") - 1, np.searchsorted(offsets, high)
        begin = np.maximum(offsets[first:last], low)
        limit = offsets[first + 1 : last + 1]
        yield Piece(low, high, np.stack([begin, np.minimum(limit, high), limit], axis=1))

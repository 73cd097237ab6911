"""Up to four symbols: one bit plane per symbol but the first, 64 pairs per AND and popcount.

(V - 1)^2 products give the cells without symbol 0; the others follow from the marginals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numba
import numpy as np
from numpy.typing import NDArray

from memspan.information.kernels.kernel import Accumulator, Kernel, PairTable, Runs, announce
from memspan.progress import Progress
from memspan.sequences.store import Symbols

MOST_SYMBOLS = 4


def pack_planes(symbols: Symbols, alphabet: int) -> NDArray[np.uint64]:
    """Bit t of plane a - 1 says that symbol t is a; two spare words let shifted reads run over the end."""
    # Symbol 0 needs no plane: its cells follow from the marginals.
    planes = np.zeros((alphabet - 1, len(symbols) // 64 + 3), "<u8")
    for a in range(1, alphabet):
        packed = np.packbits(symbols == a, bitorder="little")
        planes[a - 1].view(np.uint8)[: len(packed)] = packed
    return planes


@numba.njit(nogil=True, cache=True, inline="always")
def _ones(word):  # type: ignore[no-untyped-def]
    """Number of set bits, in the form that the compiler turns into one instruction."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@numba.njit(nogil=True, cache=True)
def count_common(a, b, xs, ys, n):  # type: ignore[no-untyped-def]
    """Number of pairs of the runs in which both planes have a one."""
    total = np.uint64(0)
    one = np.uint64(1)
    for r in range(len(n)):
        words, rest = n[r] >> 6, np.uint64(n[r] & 63)
        left, right = a[xs[r] >> 6 : (xs[r] >> 6) + words + 2], b[ys[r] >> 6 : (ys[r] >> 6) + words + 2]
        low, high = np.uint64(xs[r] & 63), np.uint64(ys[r] & 63)
        # (x << 1) << (63 - s) is x << (64 - s) also for s = 0, where a shift by 64 would be undefined.
        low_rest, high_rest = np.uint64(63) - low, np.uint64(63) - high
        for k in range(words):
            first = (left[k] >> low) | ((left[k + 1] << one) << low_rest)
            second = (right[k] >> high) | ((right[k + 1] << one) << high_rest)
            total += _ones(first & second)
        if rest:
            first = (left[words] >> low) | ((left[words + 1] << one) << low_rest)
            second = (right[words] >> high) | ((right[words + 1] << one) << high_rest)
            # Positions beyond the end of the run are masked out.
            total += _ones(first & second & ((one << rest) - one))
    return total


@numba.njit(nogil=True, cache=True)
def count_bits(px, py, xs, ys, n, table):  # type: ignore[no-untyped-def]
    """Add all cells of the runs to `table` (V x V, int64)."""
    planes = len(px)
    # The marginals of each plane; cells with symbol 0 are the rest of them.
    row, column = np.zeros(planes, np.int64), np.zeros(planes, np.int64)
    pairs = np.int64(0)
    for r in range(len(n)):
        pairs += n[r]
    for a in range(planes):
        row[a] = count_common(px[a], px[a], xs, xs, n)
        column[a] = count_common(py[a], py[a], ys, ys, n)
        for b in range(planes):
            table[a + 1, b + 1] += count_common(px[a], py[b], xs, ys, n)
    return pairs, row, column


@final
@dataclass(frozen=True, eq=False)
class BitsAccumulator(Accumulator):
    """The cells without symbol 0, and per slot the pairs and marginals from which the others follow."""

    inner: NDArray[np.int64]
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    pairs: NDArray[np.int64]

    def add(self, slot: int, x: Any, y: Any, runs: Runs) -> None:
        pairs, row, column = count_bits(x, y, runs.x, runs.y, runs.n, self.inner[slot])
        self.pairs[slot] += pairs
        self.rows[slot] += row
        self.columns[slot] += column

    def tables(self) -> list[PairTable]:
        cells = self.inner.copy()
        cells[:, 1:, 0] = self.rows - cells[:, 1:, 1:].sum(axis=2)
        cells[:, 0, 1:] = self.columns - cells[:, 1:, 1:].sum(axis=1)
        cells[:, 0, 0] = self.pairs - cells.sum(axis=(1, 2))
        return [PairTable(None, table.ravel()) for table in cells]


@final
@dataclass(frozen=True)
class Bits(Kernel):
    """Counts alphabets of two, three and four symbols."""

    alphabet: int
    piece: int = 1 << 22

    def prepare(self, symbols: Symbols) -> NDArray[np.uint64]:
        return pack_planes(symbols, self.alphabet)

    def accumulator(self, slots: int) -> BitsAccumulator:
        size, planes = self.alphabet, self.alphabet - 1
        return BitsAccumulator(
            np.zeros((slots, size, size), np.int64),
            np.zeros((slots, planes), np.int64),
            np.zeros((slots, planes), np.int64),
            np.zeros(slots, np.int64),
        )

    def warm_up(self, dtype: np.dtype[Any], progress: Progress) -> None:
        announce(count_bits, progress)
        planes, nothing = self.prepare(np.zeros(0, dtype)), np.zeros(0, np.int64)
        self.accumulator(1).add(0, planes, planes, Runs(nothing, nothing, nothing))

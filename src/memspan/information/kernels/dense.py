"""A dense table of V x V cells: one increment per pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numba
import numpy as np
from numpy.typing import NDArray

from memspan.information.kernels.kernel import Accumulator, Kernel, PairTable, Runs, announce
from memspan.progress import Progress
from memspan.sequences.store import Symbols


@numba.njit(nogil=True, cache=True)
def _count_run(first, second, length, alphabet, even, odd):  # type: ignore[no-untyped-def]
    """Two tables take turns, so that equal pairs in a row do not wait for each other's store."""
    one = np.uint32(1)
    size = np.uint64(alphabet)
    # Two tables in turn: consecutive pairs are often equal, and an increment would wait for the one before it.
    for t in range(0, length // 2 * 2, 2):
        even[np.uint64(first[t]) * size + np.uint64(second[t])] += one
        odd[np.uint64(first[t + 1]) * size + np.uint64(second[t + 1])] += one
    if length & 1:
        even[np.uint64(first[length - 1]) * size + np.uint64(second[length - 1])] += one


@numba.njit(nogil=True, cache=True)
def count_dense(x, y, xs, ys, n, alphabet, even, odd):  # type: ignore[no-untyped-def]
    """Add all runs to the sum of the tables `even` and `odd`."""
    for r in range(len(n)):
        first, second = x[xs[r] : xs[r] + n[r]], y[ys[r] : ys[r] + n[r]]
        _count_run(first, second, n[r], alphabet, even, odd)


@final
@dataclass(frozen=True, eq=False)
class DenseAccumulator(Accumulator):
    """uint32 tables; a slot takes fewer than 2^32 pairs of one kind (blocks are far smaller)."""

    alphabet: int
    cells: NDArray[np.uint32]
    odd: NDArray[np.uint32]

    def add(self, slot: int, x: Any, y: Any, runs: Runs) -> None:
        count_dense(x, y, runs.x, runs.y, runs.n, self.alphabet, self.cells[slot], self.odd)
        self.cells[slot] += self.odd
        self.odd[:] = 0

    def tables(self) -> list[PairTable]:
        return [PairTable(None, row) for row in self.cells]


@final
@dataclass(frozen=True)
class Dense(Kernel):
    """Counts any alphabet whose square fits a table."""

    alphabet: int
    piece: int = 1 << 20

    def prepare(self, symbols: Symbols) -> Symbols:
        return np.ascontiguousarray(symbols)

    def accumulator(self, slots: int) -> DenseAccumulator:
        size = self.alphabet**2
        return DenseAccumulator(self.alphabet, np.zeros((slots, size), np.uint32), np.zeros(size, np.uint32))

    def warm_up(self, dtype: np.dtype[Any], progress: Progress) -> None:
        announce(count_dense, progress)
        nothing = np.zeros(0, np.int64)
        self.accumulator(1).add(0, np.zeros(0, dtype), np.zeros(0, dtype), Runs(nothing, nothing, nothing))

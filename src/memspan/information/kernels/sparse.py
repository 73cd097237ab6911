"""Large alphabets (words, tokens): group positions by first symbol once, then count each row in cache.

For every first symbol, the symbols that follow at the lag are counted in one dense row of V cells; memory grows with the
number of pairs, never with the square of the alphabet. Keys come row by row, in no particular order within a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numba
import numpy as np
from numpy.typing import NDArray

from memspan.information.kernels.kernel import Accumulator, Kernel, PairTable, Runs, announce
from memspan.progress import Progress
from memspan.sequences.store import Symbols, narrow_dtype


@numba.njit(nogil=True, cache=True)
def group_positions(symbols, alphabet):  # type: ignore[no-untyped-def]
    """Positions sorted by symbol, and where each symbol's positions start."""
    start = np.zeros(alphabet + 1, np.int64)
    for t in range(len(symbols)):
        start[np.int64(symbols[t]) + 1] += 1
    for a in range(alphabet):
        start[a + 1] += start[a]
    place = start[:-1].copy()
    positions = np.empty(len(symbols), np.uint32)
    for t in range(len(symbols)):
        symbol = np.int64(symbols[t])
        positions[place[symbol]] = t
        place[symbol] += 1
    return positions, start


@numba.njit(nogil=True, cache=True)
def align_runs(y, xs, ys, n, aligned):  # type: ignore[no-untyped-def]
    """Put the partner of x[t] at aligned[t]; what has no partner keeps what it holds."""
    for r in range(len(n)):
        aligned[xs[r] : xs[r] + n[r]] = y[ys[r] : ys[r] + n[r]]


@numba.njit(nogil=True, cache=True)
def count_rows(positions, start, partner, low, alphabet, most, keys, cells):  # type: ignore[no-untyped-def]
    """Write keys first * alphabet + second and their counts, return how many kinds there are (-1: a count is over `most`).

    The partner of position t is partner[t - low], where there is one; `alphabet` stands for none. A symbol is listed
    without a branch: it is always written, and the end moves on only if it is new.
    """
    row = np.zeros(alphabet + 1, np.uint32)
    seen = np.empty(alphabet + 2, np.uint32)
    nowhere, offset, length = np.uint64(alphabet), np.uint64(low), np.uint64(len(partner))
    kinds = np.int64(0)
    for a in range(alphabet):
        row[nowhere] = 1  # already there, so never listed
        listed = np.uint64(0)
        for k in range(start[a], start[a + 1]):
            place = np.uint64(positions[k]) - offset
            if place < length:
                second = np.uint64(partner[place])
                count = row[second]
                # Always written, but kept only if the pair is new: no branch to mispredict.
                seen[listed] = second
                listed += np.uint64(count == 0)
                row[second] = count + np.uint32(1)
        base = np.int64(a) * np.int64(alphabet)
        for i in range(np.int64(listed)):
            second = np.uint64(seen[i])
            keys[kinds + i] = base + np.int64(second)
            count = row[second]
            # The caller repeats the count with wider cells.
            if count > most:
                return np.int64(-1)
            cells[kinds + i] = count
            row[second] = 0
        kinds += np.int64(listed)
    return kinds


@numba.njit(nogil=True, cache=True)
def sparse_margins(keys, cells, alphabet):  # type: ignore[no-untyped-def]
    """How often each symbol is first and second, for cells of shape rows x keys; both rows x alphabet."""
    rows, kinds = cells.shape
    first, second = np.zeros((rows, alphabet), np.int64), np.zeros((rows, alphabet), np.int64)
    for k in range(kinds):
        a = keys[k] // alphabet
        b = keys[k] - a * alphabet
        for row in range(rows):
            first[row, a] += np.int64(cells[row, k])
            second[row, b] += np.int64(cells[row, k])
    return first, second


@numba.njit(nogil=True, cache=True)
def _union(keys, cells, bounds, alphabet, out_keys, out_cells):  # type: ignore[no-untyped-def]
    """Columns for all kinds in any of the tables laid end to end in `keys`; returns how many there are."""
    tables = len(bounds) - 1
    column = np.full(alphabet, -1, np.int64)
    cursor = bounds[:-1].copy()
    kinds = np.int64(0)
    for a in range(alphabet):
        first_kind = kinds
        last_key = (np.int64(a) + 1) * np.int64(alphabet)
        for table in range(tables):
            k = cursor[table]
            while k < bounds[table + 1] and keys[k] < last_key:
                second = keys[k] - np.int64(a) * np.int64(alphabet)
                if column[second] < 0:
                    column[second] = kinds
                    out_keys[kinds] = keys[k]
                    kinds += 1
                out_cells[table, column[second]] = cells[k]
                k += 1
            cursor[table] = k
        # Clear only what this symbol used; clearing all columns would cost alphabet^2.
        for kind in range(first_kind, kinds):
            column[out_keys[kind] - np.int64(a) * np.int64(alphabet)] = -1
    return kinds


def key_dtype(alphabet: int) -> np.dtype[Any]:
    """The narrowest type for keys below alphabet^2: less to write is faster."""
    return np.dtype(np.uint32 if alphabet <= 1 << 16 else np.int64)


def union(tables: list[PairTable], alphabet: int) -> tuple[NDArray[np.int64], NDArray[np.integer[Any]]]:
    """Sparse tables on common keys: keys (kinds,) and cells (tables, kinds) in the widest type among them."""
    keys = np.concatenate([np.asarray(table.keys, np.int64) for table in tables])
    wide = np.uint32 if all(table.cells.dtype.itemsize <= 4 for table in tables) else np.int64
    # The widest type that any table needs; sums of several tables are widened by the caller.
    cells = np.concatenate([table.cells.astype(wide, copy=False) for table in tables])
    bounds = np.cumsum([0] + [len(table.cells) for table in tables])
    out_keys = np.empty(len(keys), np.int64)
    out_cells = np.zeros((len(tables), len(keys)), wide)
    kinds = _union(keys, cells, bounds, alphabet, out_keys, out_cells)
    return out_keys[:kinds], out_cells[:, :kinds]


@final
@dataclass(frozen=True, eq=False)
class Grouped:
    """Symbols, their positions sorted by symbol, and where each symbol's positions start."""

    symbols: Symbols
    positions: NDArray[np.uint32]
    start: NDArray[np.int64]


@final
@dataclass(frozen=True, eq=False)
class SparseAccumulator(Accumulator):
    """One sparse table per slot; several pieces are merged as they come."""

    alphabet: int
    slots: list[PairTable]

    def add(self, slot: int, x: Any, y: Any, runs: Runs) -> None:
        if len(runs.n) == 1:
            low, start, length = int(runs.x[0]), int(runs.y[0]), int(runs.n[0])
            partner = y.symbols[start : start + length]
        else:
            low, length = 0, len(x.symbols)
            partner = np.full(length, self.alphabet, narrow_dtype(self.alphabet + 1))
            align_runs(y.symbols, runs.x, runs.y, runs.n, partner)
        kinds, keys, cells = -1, np.empty(length, key_dtype(self.alphabet)), np.empty(0, np.uint16)
        for dtype in (np.uint16, np.uint32):  # narrow cells are less to write, and nearly always wide enough
            cells = np.empty(length, dtype)
            most = np.uint32(np.iinfo(dtype).max)
            kinds = count_rows(x.positions, x.start, partner, low, self.alphabet, most, keys, cells)
            if kinds >= 0:
                break
        keys.resize(kinds, refcheck=False)  # gives back what was not needed without copying the rest
        cells.resize(kinds, refcheck=False)
        new, old = PairTable(keys, cells), self.slots[slot]
        if len(old.cells):
            keys, cells = union([old, new], self.alphabet)
            new = PairTable(keys.astype(key_dtype(self.alphabet)), cells.sum(axis=0, dtype=np.int64))
        self.slots[slot] = new

    def tables(self) -> list[PairTable]:
        return list(self.slots)


@final
@dataclass(frozen=True)
class Sparse(Kernel):
    """Counts any alphabet; the one for words."""

    alphabet: int
    piece: int = 1 << 24

    def prepare(self, symbols: Symbols) -> Grouped:
        symbols = np.ascontiguousarray(symbols)
        return Grouped(symbols, *group_positions(symbols, self.alphabet))

    def accumulator(self, slots: int) -> SparseAccumulator:
        return SparseAccumulator(
            self.alphabet, [PairTable(np.zeros(0, key_dtype(self.alphabet)), np.zeros(0, np.uint32))] * slots
        )

    def warm_up(self, dtype: np.dtype[Any], progress: Progress) -> None:
        announce(count_rows, progress)
        nothing = np.zeros(0, np.int64)
        symbols = self.prepare(np.zeros(0, dtype))
        self.accumulator(1).add(0, symbols, symbols, Runs(nothing, nothing, nothing))

"""Joint histograms put side by side, added, and moved to a larger alphabet, dense or sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from memspan.information.kernels import LARGEST_DENSE, PairTable


def aligned(tables: list[PairTable], alphabet: int) -> tuple[NDArray[np.int64] | None, NDArray[np.integer[Any]]]:
    """Tables on common keys: keys (None: every cell) and cells of shape tables x keys."""
    if all(table.keys is None for table in tables):
        return None, np.stack([table.cells for table in tables])
    from memspan.information.kernels.sparse import union

    return union([_sparse(table) for table in tables], alphabet)


def summed(tables: list[PairTable], alphabet: int) -> PairTable:
    """All tables added, in cells wide enough."""
    if len(tables) == 1:
        return tables[0]
    keys, cells = aligned(tables, alphabet)
    total = cells.sum(axis=0, dtype=np.int64)
    return PairTable(keys, narrowed(total))


def moved(table: PairTable, *, codes: NDArray[np.int64], alphabet: int) -> PairTable:
    """The same pairs with symbol k renamed to `codes[k]`."""
    old = len(codes)
    if table.keys is None and alphabet <= LARGEST_DENSE:
        cells = np.zeros((alphabet, alphabet), table.cells.dtype)
        cells[np.ix_(codes, codes)] = table.cells.reshape(old, old)
        return PairTable(None, cells.ravel())
    sparse = _sparse(table)
    first, second = np.divmod(np.asarray(sparse.keys, np.int64), old)
    keys = codes[first] * alphabet + codes[second]
    order = np.argsort(keys)
    return PairTable(keys[order], sparse.cells[order])


def marginals(
    keys: NDArray[np.int64] | None, cells: NDArray[np.integer[Any]], alphabet: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How often each symbol is first and second, for cells of shape rows x keys; both rows x alphabet."""
    rows = len(cells)
    if keys is None:
        joint = cells.reshape(rows, alphabet, alphabet)
        return joint.sum(axis=2, dtype=np.int64), joint.sum(axis=1, dtype=np.int64)
    from memspan.information.kernels.sparse import sparse_margins

    return sparse_margins(keys, np.ascontiguousarray(cells), alphabet)


def narrowed(cells: NDArray[np.integer[Any]]) -> NDArray[np.integer[Any]]:
    """The same counts in the narrowest unsigned type."""
    return cells.astype(np.min_scalar_type(int(cells.max())) if cells.size else np.uint8)


def narrow_table(table: PairTable, alphabet: int) -> PairTable:
    """The same table in as little memory as it needs."""
    if table.keys is None:
        return PairTable(None, narrowed(table.cells))
    from memspan.information.kernels.sparse import key_dtype

    return PairTable(table.keys.astype(key_dtype(alphabet), copy=False), narrowed(table.cells))


def _sparse(table: PairTable) -> PairTable:
    if table.keys is not None:
        return table
    keys = np.flatnonzero(table.cells)
    return PairTable(keys, table.cells[keys])

"""A large square of numbers in fewer, so that it can be stored and seen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MOST = 200
"""Rows and columns that are kept."""
_DIGITS = 6


def block_size(steps: int, most: int = MOST) -> int:
    """Steps of a block, so that there are at most `most` blocks.

    >>> block_size(120), block_size(420), block_size(2020)
    (1, 3, 11)
    """
    return -(-steps // most)


def in_blocks(square: NDArray[np.float64], block: int) -> NDArray[np.float64]:
    """Means over the rows of a block and sums over its columns: a row that sums to one still does.

    >>> in_blocks(np.array([[0.0, 1.0, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]), 2)
    array([[1., 0.],
           [0., 1.]])
    """
    edges = np.arange(0, len(square), block)
    sizes = np.minimum(edges + block, len(square)) - edges
    rows: NDArray[np.float64] = np.add.reduceat(square, edges, axis=0) / sizes[:, None]
    columns: NDArray[np.float64] = np.add.reduceat(rows, edges, axis=1)
    return columns.round(_DIGITS)

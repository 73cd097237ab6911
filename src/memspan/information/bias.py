"""How much plug-in information independent symbols show, however sparsely the cells are filled.

A cell with Poisson mean m has E[n ln n] = m ln m + excess(m); the excess is 1/2 for well-filled cells, which gives the known
bias (V - 1)^2 / 2N, and goes to zero for empty ones.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from memspan.information.kernels import Table
from memspan.information.tables import marginals

LEAST, MOST, POINTS = 1e-6, 200.0, 600


def independent_bias(table: Table, alphabet: int) -> float:
    """Plug-in information, nats, to expect of independent symbols with the margins of this table."""
    keys = None if table.keys is None else np.asarray(table.keys, np.int64)
    x, y = (margin[0] for margin in marginals(keys, table.cells[None], alphabet))
    pairs = int(x.sum())
    means = np.outer(x[x > 0], y[y > 0]) / pairs
    return float(excess(means).sum() / pairs)


def excess(mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """E[n ln n] - m ln m for n Poisson with mean m.

    >>> excess(np.array([1e-4, 1.0, 1e4])).round(3).tolist()
    [0.001, 0.573, 0.5]
    """
    grid, values = _tabulated()
    inside = np.interp(np.log(np.clip(mean, LEAST, MOST)), grid, values)
    return np.where(mean > MOST, 0.5 + 1 / (12 * np.maximum(mean, 1.0)), inside)


@functools.cache
def _tabulated() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    grid = np.linspace(np.log(LEAST), np.log(MOST), POINTS)
    n = np.arange(2, 600, dtype=np.float64)
    mean = np.exp(grid)[:, None]
    probability = np.exp(n * grid[:, None] - mean - gammaln(n + 1))
    return grid, probability @ (n * np.log(n)) - mean[:, 0] * grid

"""What an estimator shows of independent symbols, however sparsely the cells are filled.

A cell with Poisson mean m has E[n g(n)] = m ln m + excess(m). For the plug-in estimate (g = ln) the excess is 1/2 in
well-filled cells, which gives the known bias (V - 1)^2 / 2N, and goes to zero in empty ones.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from memspan.information.estimators import EntropyEstimator

Floats = NDArray[np.float64]
LEAST, MOST, POINTS = 1e-6, 200.0, 600
GRID = 6
"""Numbers of pairs at which the expectation is computed; in between it is interpolated."""


def expected_information(
    first: NDArray[np.int64], second: NDArray[np.int64], pairs: Floats, estimator: EntropyEstimator
) -> Floats:
    """E[I] in nats of so many pairs of independent symbols with these frequencies, for every number of pairs."""
    low, high = float(pairs.min()), float(pairs.max())
    if high <= low * (1 + 1e-9):
        return np.full(pairs.shape, _expected(first, second, low, estimator))
    grid = np.geomspace(low, high, GRID)
    total = [
        number * _expected(first, second, number, estimator) for number in grid
    ]  # nearly constant, so smooth
    return np.interp(np.log(pairs), np.log(grid), total) / pairs


def _expected(
    first: NDArray[np.int64], second: NDArray[np.int64], pairs: float, estimator: EntropyEstimator
) -> float:
    """Cells minus margins plus the total: inclusion and exclusion of the degrees of freedom."""
    (x, x_kinds), (y, y_kinds) = (_shares(margin) for margin in (first, second))
    cells = x_kinds @ excess(pairs * np.outer(x, y), estimator) @ y_kinds
    margins = sum(kinds @ excess(pairs * share, estimator) for share, kinds in ((x, x_kinds), (y, y_kinds)))
    return float((cells - margins + excess(np.array([pairs]), estimator)[0]) / pairs)


def _shares(margin: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Frequencies that occur, and how many symbols have each."""
    counts, kinds = np.unique(margin[margin > 0], return_counts=True)
    return counts / margin.sum(), kinds.astype(np.float64)


def excess(mean: Floats, estimator: EntropyEstimator) -> Floats:
    """E[n g(n)] - m ln m for n Poisson with mean m.

    >>> from memspan.information import Plugin
    >>> excess(np.array([1e-4, 1.0, 1e4]), Plugin()).round(3).tolist()
    [0.001, 0.573, 0.5]
    """
    grid, values = _tabulated(estimator)
    return np.interp(np.log(np.clip(mean, LEAST, MOST)), grid, values)


@functools.cache
def _tabulated(estimator: EntropyEstimator) -> tuple[Floats, Floats]:
    grid = np.linspace(np.log(LEAST), np.log(MOST), POINTS)
    n = np.arange(1, 600, dtype=np.float64)
    mean = np.exp(grid)[:, None]
    probability = np.exp(n * grid[:, None] - mean - gammaln(n + 1))
    # An offset of c per kind and observation is c less in every cell that is not empty.
    per_kind = estimator.offset(np.array(2.0), np.array(1.0)) - estimator.offset(np.array(1.0), np.array(1.0))
    return grid, probability @ (n * estimator.weight(n) - per_kind) - mean[:, 0] * grid

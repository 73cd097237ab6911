"""How probable the null makes what was measured."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import gamma


def p_values(information: NDArray[np.float64], draws: NDArray[np.float64]) -> NDArray[np.float64]:
    """P(null >= information) under a gamma distribution with mean and variance of the null's draws.

    Plug-in information of independent symbols is a scaled chi-square, and a weighted sum of them for structured
    sequences, which a gamma distribution fits; `draws` has shape lags x draws.
    """
    mean, variance = draws.mean(axis=1), draws.var(axis=1, ddof=1)
    spread = (variance > 0) & (mean > 0)
    shape = np.where(spread, mean**2 / np.where(spread, variance, 1.0), 1.0)
    scale = np.where(spread, variance / np.where(spread, mean, 1.0), 1.0)
    certain = np.where(information > mean, 0.0, 1.0)
    return np.where(spread, gamma.sf(information, shape, scale=scale), certain)

"""How probable the null makes what was measured."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc, ndtr

ROUNDING = 1e-12


def p_values(information: NDArray[np.float64], draws: NDArray[np.float64]) -> NDArray[np.float64]:
    """P(null >= information) under a gamma distribution with mean and variance of the null's draws.

    Plug-in information of independent symbols is a scaled chi-square, and a weighted sum of them for structured
    sequences, which a gamma distribution fits; `draws` has shape lags x draws. Draws around zero, because
    dependence at far distances was taken out of them, are taken as normal.
    """
    mean, sd = draws.mean(axis=1), draws.std(axis=1, ddof=1)
    spread, positive = sd > 0, mean > 0
    shape = np.where(spread & positive, (mean / np.where(spread, sd, 1.0)) ** 2, 1.0)
    scale = np.where(positive, mean, 1.0) / shape
    excess = (information - mean) / np.where(spread, sd, 1.0)
    certain = np.where(information > mean + ROUNDING, 0.0, 1.0)
    by_spread = np.where(positive, gammaincc(shape, np.maximum(information, 0.0) / scale), ndtr(-excess))
    return np.where(spread, by_spread, certain)

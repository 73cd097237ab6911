"""Standard errors and 95 % confidence intervals, each defined once.

| function | assumption |
|---|---|
| `standard_error`, `student_margin`, `student_interval` | independent values, normal mean; exact for small samples |
| `welch_margin` | the same for the difference of two means with unequal variances |
| `wilson_interval` | a share of independent trials |
| `agresti_coull_interval` | the mean of independent values in a known range |
| `jackknife_variance`, `jackknife_error` | estimates that each leave out one of several blocks |

>>> low, high = student_interval([1.0, 2.0, 3.0])
>>> round(low, 3), round(high, 3)
(-0.484, 4.484)
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

LEVEL = 0.95
"""Confidence of every interval."""
Z = 1.959964
"""Standard deviations of a two-sided 95 % interval of a normal variable."""


def standard_error(values: ArrayLike) -> Array:
    """Standard error of the mean over the first axis; NaN for a single value, whose spread is unknown.

    >>> bool(standard_error([1.0, 2.0, 3.0]) == 1 / np.sqrt(3))
    True
    """
    sample = np.asarray(values, np.float64)
    if len(sample) < 2:
        return np.full(sample.shape[1:], np.nan)
    return np.asarray(sample.std(axis=0, ddof=1) / math.sqrt(len(sample)))


def student_quantile(freedom: float, level: float = LEVEL) -> float:
    """Standard errors on either side of a mean that a two-sided Student interval spans.

    >>> round(student_quantile(2), 3), round(student_quantile(9), 3)
    (4.303, 2.262)
    """
    # scipy.stats.t.ppf calls this function; importing scipy.stats would cost half a second.
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + level) / 2))


def student_margin(values: ArrayLike, level: float = LEVEL) -> float:
    """Half the width of the Student interval of a mean; NaN for a single value.

    >>> round(student_margin([1.0, 2.0, 3.0]), 3)
    2.484
    """
    sample = np.asarray(values, np.float64)
    return student_quantile(sample.size - 1, level) * float(standard_error(sample)) if sample.size > 1 else math.nan


def student_interval(values: ArrayLike, level: float = LEVEL) -> tuple[float, float]:
    """Student's confidence interval of a mean; (NaN, NaN) for a single value."""
    mean, margin = float(np.mean(np.asarray(values, np.float64))), student_margin(values, level)
    return mean - margin, mean + margin


def welch_margin(first: ArrayLike, second: ArrayLike, level: float = LEVEL) -> float:
    """Half the width of the interval of the difference of two independent means (Welch 1947).

    A sample of one value contributes no variance; 0 where neither sample has any.

    >>> round(welch_margin([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]), 3)  # 4 degrees of freedom
    2.267
    """
    sizes = np.array([np.size(first), np.size(second)])
    # Welch-Satterthwaite degrees of freedom; NaN (one value) counts as no variance.
    squares = np.nan_to_num(np.array([float(standard_error(first)) ** 2, float(standard_error(second)) ** 2]))
    if not squares.any():
        return 0.0
    freedom = squares.sum() ** 2 / (squares**2 / np.maximum(sizes - 1, 1)).sum()
    return student_quantile(float(freedom), level) * float(np.sqrt(squares.sum()))


def wilson_interval(share: float, trials: float) -> tuple[float, float]:
    """Wilson's 95 % score interval of a share of `trials` independent trials (Wilson 1927).

    `trials` need not be whole: correlated trials count as fewer.

    >>> low, high = wilson_interval(1.0, 1000)
    >>> round(low, 4), high
    (0.9962, 1.0)
    """
    middle = (share + Z**2 / (2 * trials)) / (1 + Z**2 / trials)
    half = Z / (1 + Z**2 / trials) * math.sqrt(share * (1 - share) / trials + Z**2 / (4 * trials**2))
    return max(0.0, middle - half), min(1.0, middle + half)


def agresti_coull_interval(values: Array, least: float = 0.0, most: float = 1.0) -> tuple[float, float]:
    """95 % interval of the mean of independent values between `least` and `most`, extended to hold the mean itself.

    Z^2 / 2 further values at either end of the range are added to the sample. For shares this is the interval of Agresti
    and Coull 1998. Unlike a plain normal interval it keeps a finite width where all values are equal.

    >>> low, high = agresti_coull_interval(np.zeros(100))
    >>> low < 0.0 < round(high, 3)
    True
    """
    further = Z**2 / 2
    count = values.size + 2 * further
    center = (float(values.sum()) + further * (least + most)) / count
    squares = float(((values - center) ** 2).sum()) + further * ((least - center) ** 2 + (most - center) ** 2)
    half = Z * math.sqrt(squares) / count
    mean = float(values.mean())
    return min(center - half, mean), max(center + half, mean)


def jackknife_variance(replicates: ArrayLike) -> Array:
    """(n - 1) / n times the sum of squared deviations of n leave-one-block-out estimates, over the first axis.

    For the mean of equal blocks this is the squared standard error:

    >>> values = np.array([1.0, 2.0, 4.0])
    >>> left_out = (values.sum() - values) / 2
    >>> bool(np.isclose(jackknife_variance(left_out), standard_error(values) ** 2))
    True
    """
    estimates = np.asarray(replicates, np.float64)
    blocks = len(estimates)
    return np.asarray((blocks - 1) / blocks * np.sum((estimates - estimates.mean(axis=0)) ** 2, axis=0))


def jackknife_error(replicates: ArrayLike) -> Array:
    """Standard error of an estimate from its leave-one-block-out replicates, over the first axis."""
    return np.sqrt(jackknife_variance(replicates))

"""How far the dependence goes: the span (what is visible) and the reach (what exceeds a level)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memspan.results import Reach, Span
from memspan.results.curve import SIGNIFICANCE

USUAL_LAGS = 60
"""Up to so many lags a span is a chain of significant ones, one by one."""
SURELY = 2.0
"""Standard errors below the level that make a lag surely below it."""
REDRAWN = 400
"""Curves drawn for the interval of the reach."""
FIRST, STEP = 3, 3
"""A chain starts at lag 3 or less (or at the smallest lag measured), and each is at most three times the one before."""


def chain(lags: NDArray[np.int64], member: NDArray[np.bool_]) -> int:
    """Index of the last lag of the chain of members, -1 if none.

    >>> chain(np.array([1, 2, 3, 4, 8, 30]), np.array([False, True, False, True, True, True]))
    4
    """
    last, first = -1, max(FIRST, int(lags[0]))
    for index in np.flatnonzero(member).tolist():
        if lags[index] > (first if last < 0 else STEP * lags[last]):
            break
        last = index
    return last


def find_span(lags: NDArray[np.int64], p_value: NDArray[np.float64]) -> Span:
    """The end of the chain of significant lags; censored if it is the largest lag measured.

    Where very many lags are measured each must be the more significant, or a few false alarms would carry the chain on.
    """
    last = chain(lags, p_value < SIGNIFICANCE * min(1.0, USUAL_LAGS / len(lags)))
    return Span(0, False) if last < 0 else Span(int(lags[last]), last == len(lags) - 1)


def find_reach(
    lags: NDArray[np.int64],
    corrected: NDArray[np.float64],
    error: NDArray[np.float64],
    significant: NDArray[np.bool_],
    replicates: NDArray[np.float64],
    floor_sd: NDArray[np.float64],
    level: float,
    seed: int | np.random.Generator = 0,
) -> Reach:
    """Where the corrected curve falls below `level`, with a 95 % interval; censored if no lag is surely below it.

    The interval is that of curves drawn with the jackknife's covariance and the floor's uncertainty.
    """
    last = chain(lags, (corrected >= level) & significant)
    if last < 0:
        return Reach(0.0, level, None, False)
    below = np.flatnonzero(corrected[last + 1 :] + SURELY * error[last + 1 :] < level)
    if not len(below):
        return Reach(float(lags[last]), level, None, True)
    stop = last + 2 + int(below[0])
    generator = np.random.default_rng(seed)
    centred = replicates - replicates.mean(axis=0)
    noise = generator.standard_normal((REDRAWN, len(replicates))) @ centred
    noise += generator.standard_normal((REDRAWN, 1)) * floor_sd
    again = [_crossing(lags[:stop], (corrected + row)[:stop], level) for row in noise]
    low, high = np.quantile(again, [0.025, 0.975])
    lag = _crossing(lags[: last + 2], corrected[: last + 2], level)
    return Reach(lag, level, (min(float(low), lag), max(float(high), lag)), False)


def _crossing(lags: NDArray[np.int64], corrected: NDArray[np.float64], level: float) -> float:
    """Where the chain of values above the level ends, between two measured lags on log-log axes."""
    last = chain(lags, corrected >= level)
    if last < 0:
        return 0.0
    if last == len(lags) - 1:
        return float(lags[last])
    high, low = corrected[last], max(corrected[last + 1], 1e-3 * level)
    step = np.log(high / level) / np.log(high / min(low, level))
    return float(np.exp(np.log(lags[last]) + step * np.log(lags[last + 1] / lags[last])))

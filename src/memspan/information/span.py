"""How far dependence extends: the span (the detection limit) and the reach (where the curve falls below a level)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression
from scipy.special import stdtrit

from memspan.information.lags import log_lags
from memspan.results import Reach, Span
from memspan.results.curve import SIGNIFICANCE

Floats = NDArray[np.float64]
Lags = NDArray[np.int64]

# Width (in log lag) of the bands over which evidence is pooled: half a Gaussian, about three steps of the lag grid.
BAND = 0.6
# Standard errors that make a value surely above or below a level.
SURELY = 2.0
# Standard errors above the level that make a single lag a peak which extends the reach, the second at any distance.
PEAK, FAR_PEAK = 3.0, 5.0
# Curves drawn for the interval of the reach.
REDRAWN = 400
# Lags that are counted in addition, around the lag where the curve crosses the level; again if that moves the crossing.
REFINED, ROUNDS = 12, 16
# A chain starts at lag 3 or less (or at the smallest lag measured), and each is at most three times the one before.
FIRST, STEP = 3, 3


def chain(lags: Lags, member: NDArray[np.bool_], last: int = -1) -> int:
    """Index of the last lag of the chain of members, -1 if there is none; with `last`, of one that continues from there.

    >>> chain(np.array([1, 2, 3, 4, 8, 30]), np.array([False, True, False, True, True, True]))
    4
    """
    first = max(FIRST, int(lags[0]))
    for index in np.flatnonzero(member[last + 1 :]) + last + 1:
        if lags[index] > (first if last < 0 else STEP * lags[last]):
            break
        last = int(index)
    return last


def find_span(lags: Lags, score: Floats, range_profile: RangeProfile, draws: int) -> Span:
    """The largest lag up to which evidence pooled over bands of lags is significant, with a 95 % interval.

    `score` are normal scores of single lags under the null. A band is a weighted sum of the scores of a lag and of those
    beyond it (half a Gaussian in log lag), so that strong dependence at short lags does not extend the span. Its
    variance accounts for the correlation of neighboring lags and for the error that all lags share because the floor
    rests on a limited number of draws.
    """
    # Extra lags around the crossing of the level would give their bands more evidence than the others have.
    usual = np.isin(lags, log_lags(int(lags[0]), int(lags[-1])))
    # A score of 1,000 is as good as any larger one, and the sums of the bands stay finite.
    lags, score = lags[usual], np.clip(score[usual], -1e3, 1e3)
    pooled = band_scores(lags, score, range_profile, draws)
    # Student's t, because the standard deviation under the null is estimated from the draws.
    needed = -float(stdtrit(draws - 1, SIGNIFICANCE))
    low, last, high = (_first_gap(lags, pooled, needed + shift) for shift in (1.96, 0.0, -1.96))
    if last < 0:
        return Span(0, False)
    end = len(lags) - 1
    if last == end:
        return Span(int(lags[end]), True, (int(lags[max(low, 0)]), int(lags[end])))
    return Span(int(lags[last]), False, (int(lags[low]) if low >= 0 else 0, int(lags[high])))


def _first_gap(lags: Lags, pooled: Floats, needed: float) -> int:
    """Index of the last lag before pooled evidence falls below what is needed; -1 if it never reaches it.

    A single band below it, with sufficient ones on both sides, is a dip by chance.
    """
    above = pooled >= needed
    above[1:-1] |= above[:-2] & above[2:]
    start = np.flatnonzero(above[lags <= max(FIRST, lags[0])])
    if not len(start):
        return -1
    gap = np.flatnonzero(~above[start[0] :])
    return int(start[0] + gap[0] - 1) if len(gap) else len(lags) - 1


def band_scores(lags: Lags, score: Floats, range_profile: RangeProfile, draws: int) -> Floats:
    """Scores of the bands that start at every lag; standard normal where there is no dependence."""
    position = np.log(lags.astype(np.float64))
    step = (position - position[:, None]) / BAND
    weights = np.where(step >= 0, np.exp(-(step**2) / 2), 0.0)
    correlation = range_profile.correlation(np.abs(lags[:, None] - lags))
    # The last term is the error of the floor, which all lags share: the mean of `draws` draws.
    variance = np.einsum("ki,ij,kj->k", weights, correlation, weights) + weights.sum(axis=1) ** 2 / draws
    pooled = weights @ score / np.sqrt(variance)
    end = int(np.searchsorted(position, position[-1] - BAND / 2))
    pooled[end:] = pooled[end]  # the last lags share a band, since bands of their own would have too few
    return pooled


class RangeProfile:
    """How long short-range structure lasts, from T(s) = sum_x P(x_t = x, x_{t+s} = x) / p(x) - 1.

    By Bartlett's formula the bias of I at long lags is (1/2N) sum_s T(s)^2, and the estimates at two lags that are d
    apart are correlated by about (sum_s T(s) T(s + d) / sum_s T(s)^2)^2.
    """

    def __init__(self, lags: Lags, agreement: Floats, alphabet: int, significant: NDArray[np.bool_]) -> None:
        last = chain(lags, significant)
        most = int(lags[last]) if last >= 0 else 1
        # T(0) = V - 1 by definition. Beyond the chain T is taken to fall linearly to 0 at twice its last lag.
        known = np.concatenate([[alphabet - 1.0], np.where(significant, agreement, 0.0)[: last + 1], [0.0]])
        places = np.concatenate([[0], lags[: last + 1], [2 * most]])
        profile = np.interp(np.arange(2 * most + 1), places, known)
        # T is even in s.
        even = np.concatenate([profile[:0:-1], profile])
        # Padded to twice the length, so that the cyclic correlation does not wrap around.
        size = 1 << int(np.ceil(np.log2(2 * len(even))))
        product = np.fft.irfft(np.abs(np.fft.rfft(even, size)) ** 2, size)[: 2 * most + 1]
        # 1e-300 instead of 0: a constant sequence has no structure at all.
        self._correlation = (product / max(product[0], 1e-300)) ** 2
        squares = profile**2
        self.mean_range = float(
            (squares * np.arange(len(squares))).sum() * 2 / max(2 * squares.sum() - squares[0], 1e-300)
        )
        """Mean |s| weighted by T(s)^2, in symbols."""

    def correlation(self, distance: NDArray[np.int64]) -> Floats:
        """Correlation of the null's values at lags of this distance."""
        inside = distance < len(self._correlation)
        return np.where(inside, self._correlation[np.where(inside, distance, 0)], 0.0)


def crossing_lags(lags: Lags, corrected: Floats, error: Floats, bias: Floats, level: float, longest: int) -> Lags:
    """Lags to count in addition, to find the crossing of the level.

    They lie between the last lag surely above the level and the first surely below it: all of them, or a sample. If these
    are few, the lags that follow are added, because a period that the grid steps over would show there.
    """
    last = last_peak(lags, corrected, error, bias, level, chain(lags, corrected >= level))
    if last < 0:
        return np.zeros(0, np.int64)
    surely = chain(lags, lower_bound(corrected, error, bias) >= level)
    below = np.flatnonzero(corrected[last + 1 :] + SURELY * error[last + 1 :] < level)
    low = int(lags[surely]) if surely >= 0 else int(lags[0])
    high = int(lags[last + 1 + below[0]]) if len(below) else int(lags[-1])
    between = np.setdiff1d(np.arange(low + 1, high), lags)
    if len(between) <= REFINED:
        beyond = np.setdiff1d(np.arange(high, min(high + 4 * REFINED, longest)), lags)
        return np.concatenate([between, beyond[: REFINED - len(between)]])
    chosen = np.unique(np.rint(np.geomspace(low + 1, high - 1, REFINED)).astype(np.int64))
    return np.setdiff1d(chosen, lags)


def lower_bound(corrected: Floats, error: Floats, bias: Floats, errors: float = SURELY) -> Floats:
    """What the information surely exceeds; the bias of undersampled tables is downward, so it lowers no bound."""
    return corrected - errors * np.sqrt(np.maximum(error**2 - bias**2, 0.0))


def last_peak(lags: Lags, corrected: Floats, error: Floats, bias: Floats, level: float, last: int) -> int:
    """Index of the last lag surely above the level: one of a chain that continues from `last`, or one far above it."""
    chained = chain(lags, lower_bound(corrected, error, bias, PEAK) >= level, last)
    alone = np.flatnonzero(lower_bound(corrected, error, bias, FAR_PEAK) >= level)
    return max(chained, int(alone[-1]) if len(alone) else -1)


def find_reach(
    lags: Lags,
    corrected: Floats,
    error: Floats,
    replicates: Floats,
    floor_sd: Floats,
    bias: Floats,
    level: float,
    seed: int | np.random.Generator = 0,
) -> Reach:
    """Where the corrected curve falls below `level`, with a 95 % interval.

    The crossing is that of a decreasing curve fitted to the values (isotonic regression, weighted by the errors), so
    that noise at single lags does not decide; a lag surely above the level beyond it extends the reach. The interval is
    that of curves drawn with the errors of this one, and at least as wide as the distance to the neighboring lags.
    `censored` means that the data cannot exclude a reach beyond the largest lag; `lag` is then the last one that is
    surely above the level.
    """
    lag, last = _reach(lags, corrected, error, bias, level)
    if lag == 0:
        return Reach(0.0, level, None, False)
    generator = np.random.default_rng(seed)
    centered = replicates - replicates.mean(axis=0)
    noise = generator.standard_normal((REDRAWN, len(replicates))) @ centered
    noise += generator.standard_normal((REDRAWN, len(lags))) * floor_sd
    noise += np.abs(generator.standard_normal((REDRAWN, 1))) * bias  # bias of undersampled tables is downward
    again = [_reach(lags, corrected + row, error, bias, level)[0] for row in noise]
    low, high = np.quantile(again, [0.025, 0.975])
    if high >= lags[-1]:
        surely = chain(lags, lower_bound(corrected, error, bias) >= level)
        return Reach(float(lags[surely]) if surely >= 0 else 0.0, level, None, True)
    before = float(lags[max(last - 1, 0)]) if lag <= lags[last] else float(lags[last])
    after = float(lags[min(last + 1, len(lags) - 1)])
    return Reach(lag, level, (min(float(low), before, lag), max(float(high), after, lag)), False)


def _reach(lags: Lags, corrected: Floats, error: Floats, bias: Floats, level: float) -> tuple[float, int]:
    """The crossing, and the index of the last lag before it."""
    monotone = isotonic_regression(corrected, weights=1 / np.maximum(error, 1e-12) ** 2, increasing=False).x
    above = np.flatnonzero(monotone >= level)
    last = int(above[-1]) if len(above) else -1
    peak = last_peak(lags, corrected, error, bias, level, last)
    if peak > last:
        return float(lags[peak]), peak
    if last < 0:
        return 0.0, -1
    if last == len(lags) - 1:
        return float(lags[last]), last
    high, low = monotone[last], max(monotone[last + 1], 1e-3 * level)
    step = np.log(high / level) / np.log(high / min(low, level))
    return float(np.exp(np.log(lags[last]) + step * np.log(lags[last + 1] / lags[last]))), last

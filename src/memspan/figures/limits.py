"""Where axes begin and end: a value near zero must not stretch a logarithmic axis over twenty decades."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memspan.results import Curve, DecayFit

_HEADROOM = 0.2
"""Share of a logarithmic axis kept free above the curve for the labels of span and reach."""


def positive(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The finite values above zero: those that a logarithmic axis can show."""
    return values[np.isfinite(values) & (values > 0)]


def information_limits(curves: list[Curve], factor: float) -> tuple[float, float]:
    """Bottom and top of a logarithmic information axis, in nats times `factor`.

    The bottom follows the smallest significant value, the size of the errors or the reach's level; values
    that are not significant may lie below it.
    """
    high = np.concatenate([positive(np.concatenate([c.information, c.corrected])) for c in curves])
    low = np.concatenate([_lows(curve) for curve in curves])
    if not high.size:
        high = low
    if not high.size:
        return 1e-6 * factor, factor
    top = float(high.max())
    bottom = min(float(low.min()) if low.size else top, top / 30) / 2
    return bottom * factor, top * (top / bottom) ** _HEADROOM * factor


def _lows(curve: Curve) -> NDArray[np.float64]:
    lows = [positive(curve.corrected[curve.significant]), _middle(positive(curve.error))]
    if curve.reach.lag > 0:
        lows.append(np.array([curve.reach.level]))
    return np.concatenate(lows)


def _middle(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([np.median(values)]) if values.size else values


def lag_limits(curves: list[Curve]) -> tuple[float, float]:
    """First and last distance on a logarithmic axis, with a margin."""
    lags = np.concatenate([curve.lags for curve in curves])
    first, last = (float(lags.min()), float(lags.max())) if lags.size else (1.0, 1.0)
    margin = max((last / first) ** 0.04, 1.15) if last > first else 3.0
    return first / margin, last * margin


def near_limits(curve: Curve, decay: DecayFit | None) -> tuple[float, float]:
    """A linear axis that shows where the information falls: some times the reach or the exponential's length.

    All lags up to a far span would squeeze that part into the first millimetre.
    """
    lags = curve.lags[curve.significant] if curve.significant.any() else curve.lags
    last = float(lags.max()) if lags.size else 1.0
    fit = decay.laws.get("exponential") if decay is not None else None
    scales = [curve.reach.lag, fit.parameters["length"] if fit is not None else 0.0]
    falls = max((scale for scale in scales if np.isfinite(scale)), default=0.0)
    wanted = min(1.3 * last, max(4 * falls, 20.0)) if falls > 0 else last
    return 0.0, max(1.04 * min(wanted, float(curve.lags.max(initial=1))), 2.0 * curve.lags.min(initial=1))

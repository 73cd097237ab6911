"""Where axes begin and end: a value near zero must not stretch a logarithmic axis over twenty decades."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memspan.results import Curve

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


def lag_limits(curves: list[Curve], scale: str) -> tuple[float, float]:
    """First and last distance shown; a linear axis ends soon after the last significant distance."""
    lags = np.concatenate([curve.lags for curve in curves])
    first, last = (float(lags.min()), float(lags.max())) if lags.size else (1.0, 1.0)
    if scale == "log":
        margin = max((last / first) ** 0.04, 1.15) if last > first else 3.0
        return first / margin, last * margin
    seen = max(max(curve.span.lag, _last_significant(curve)) for curve in curves)
    end = min(last, 1.4 * seen) if seen else last
    return 0.0, max(end * 1.04, first * 2)


def _last_significant(curve: Curve) -> float:
    lags = curve.lags[curve.significant]
    return float(lags.max()) if lags.size else 0.0

"""Limits, ticks and reference lines of axes."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter
from numpy.typing import NDArray

from memspan.presentation.draw.style import INK, label_size, literal
from memspan.presentation.numbers import trimmed
from memspan.results import Curve, DecayFit

_HEADROOM = 0.2
"""Share of a logarithmic axis left free above the curve for the labels of span and reach."""


def positive(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The finite values above zero: those that a logarithmic axis can show."""
    return values[np.isfinite(values) & (values > 0)]


def masked(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """`values` with NaN where they are not above zero, for a logarithmic axis."""
    return np.where(values > 0, values, np.nan)


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
    """Limits of a logarithmic lag axis, with a margin."""
    lags = np.concatenate([curve.lags for curve in curves])
    first, last = (float(lags.min()), float(lags.max())) if lags.size else (1.0, 1.0)
    margin = max((last / first) ** 0.04, 1.15) if last > first else 3.0
    return first / margin, last * margin


def near_limits(curve: Curve, decay: DecayFit | None) -> tuple[float, float]:
    """Limits of a linear lag axis: a few times the reach or the exponential's length.

    All lags up to a large span would squeeze the part where the information falls into the first millimeter.
    """
    lags = curve.lags[curve.significant] if curve.significant.any() else curve.lags
    last = float(lags.max()) if lags.size else 1.0
    fit = decay.laws.get("exponential") if decay is not None else None
    scales = [curve.reach.lag, fit.parameters["length"] if fit is not None else 0.0]
    falls = max((scale for scale in scales if np.isfinite(scale)), default=0.0)
    right = min(1.3 * last, max(4 * falls, 20.0)) if falls > 0 else last
    return 0.0, max(1.04 * min(right, float(curve.lags.max(initial=1))), 2.0 * curve.lags.min(initial=1))


SHORT = 10**1.5
"""Ratio of the ends below which a logarithmic axis has too few powers of ten for its labels."""


def plain_ticks(ax: Axes) -> None:
    """Label the horizontal axis in plain numbers; the limits must be set.

    On a short logarithmic axis the twos and fives between powers of ten are labeled as well.
    """
    _label(ax.xaxis, ax.get_xscale(), *ax.get_xlim())


def plain_short_ticks(ax: Axes) -> None:
    """The same for the vertical axis, where it is logarithmic and too short for powers of ten."""
    low, high = ax.get_ylim()
    if ax.get_yscale() == "log" and high / low < SHORT:
        _label(ax.yaxis, "log", low, high)


def whole_ticks(ax: Axes) -> None:
    """No ticks between whole numbers on the horizontal axis."""
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def _label(axis: Axis, scale: str, low: float, high: float) -> None:
    axis.set_major_formatter(FuncFormatter(lambda value, _: trimmed(value)))
    if scale == "log":
        axis.set_minor_formatter(FuncFormatter(_two_or_five) if high / low < SHORT else NullFormatter())


def _two_or_five(value: float, _: object) -> str:
    first = round(value / 10 ** math.floor(math.log10(value) + 1e-9))
    return trimmed(value) if first in (2, 5) else ""


def horizontal_line(ax: Axes, value: float, label: str) -> None:
    """A dotted line with its label at the right end, on the side with more space; the limits must be set."""
    ax.axhline(value, color=INK, linewidth=0.9, linestyle=":")
    to_axes = ax.transData + ax.transAxes.inverted()
    below = to_axes.transform((ax.get_xlim()[1], value))[1] > 0.5
    ax.annotate(
        literal(label),
        (0.995, value),
        xycoords=("axes fraction", "data"),
        xytext=(0, -3 if below else 3),
        textcoords="offset points",
        ha="right",
        va="top" if below else "bottom",
        fontsize=label_size(),
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
    )


def vertical_line(ax: Axes, place: float, label: str, height: float) -> None:
    """A dashed line with its label at `height` (a share of the axes), on the side with more space; limits must be set."""
    ax.axvline(place, color=INK, linewidth=0.9, linestyle="--")
    to_axes = ax.transData + ax.transAxes.inverted()
    on_left = to_axes.transform((place, ax.get_ylim()[0]))[0] > 0.5
    ax.annotate(
        literal(label),
        (place, height),
        xycoords=("data", "axes fraction"),
        xytext=(-3 if on_left else 3, 0),
        textcoords="offset points",
        ha="right" if on_left else "left",
        va="top",
        fontsize=label_size(),
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
    )

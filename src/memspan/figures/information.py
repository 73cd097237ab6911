"""I(tau) of one sequence: the corrected values, the raw ones, the floor, the laws, the span and the reach."""

from __future__ import annotations

import textwrap

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from memspan.figures.laws import draw_laws
from memspan.figures.limits import information_limits, lag_limits, near_limits
from memspan.figures.marks import draw_reach, draw_span
from memspan.figures.numbers import count, unit_of
from memspan.figures.style import BLUE, GREY, MANY, PALE, literal, new_figure
from memspan.figures.ticks import plain_ticks
from memspan.figures.words import law_sentence, short, span_words, symbols_word
from memspan.results import Curve, DecayFit, Measurement

_RASTER_FROM = 1000
"""Bands over more lags than this are stored as pixels: as outlines they would make pages of megabytes."""
_EDGE = 0.012
"""Height of the marks for values below the axis, in shares of the axes."""
_ORDER = ("corrected, ±", "corrected, band", "corrected, not", "corrected, below", "", "estimate", "floor")
"""Places in the legend by the label's beginning; the empty one stands for the laws."""


def information_figure(measurement: Measurement, *, bits: bool) -> Figure:
    """Two panels of one curve: a power law is straight in the left one, an exponential in the right one."""
    figure = new_figure(10.0, 5.4)
    left, right = figure.subplots(1, 2, sharey=True)
    for ax, scale in ((left, "log"), (right, "linear")):
        draw_curve(ax, measurement.curve, measurement.decay, measurement.symbols, bits=bits, x_scale=scale)
    left.set_title("both axes logarithmic: a power law is a straight line")
    right.set_title("distance linear: an exponential is a straight line")
    right.set_ylabel("")
    figure.suptitle(_title(measurement, 118), x=0.01, ha="left")
    figure.legend(*_key(left), loc="outside lower center", ncols=2)
    return figure


def information_axes(ax: Axes, measurement: Measurement, *, bits: bool) -> None:
    """The left panel alone, with its legend inside."""
    draw_curve(ax, measurement.curve, measurement.decay, measurement.symbols, bits=bits, x_scale="log")
    ax.set_title(_title(measurement, 80))
    ax.legend(*_key(ax), loc="lower left", frameon=True, framealpha=0.85, edgecolor="none")


def curve_axes(ax: Axes, curve: Curve, *, bits: bool) -> None:
    """A curve of which nothing is known but its numbers."""
    draw_curve(ax, curve, None, "symbols", bits=bits, x_scale="log")
    ax.set_title(f"{span_words(curve, 'symbols').capitalize()} ({count(curve.length)} symbols)")
    ax.legend(*_key(ax), loc="lower left", frameon=True, framealpha=0.85, edgecolor="none")


def _key(ax: Axes) -> tuple[list[Artist], list[str]]:
    """The legend in the order of importance: what was measured, the laws, then what was taken off."""
    handles, labels = ax.get_legend_handles_labels()
    order = sorted(range(len(labels)), key=lambda i: _place(labels[i]))
    return [handles[i] for i in order], [labels[i] for i in order]


def _place(label: str) -> int:
    starts = (place for place, beginning in enumerate(_ORDER) if beginning and label.startswith(beginning))
    return next(starts, _ORDER.index(""))


def _title(measurement: Measurement, width: int) -> str:
    curve, symbols = measurement.curve, measurement.symbols
    first = f"{short(measurement.name)}: {span_words(curve, symbols)}"
    amount = f"with {count(curve.length)} {symbols_word(symbols)} (more may show more)"
    lines = (f"{first} {amount}", law_sentence(measurement))
    return literal("\n".join(textwrap.fill(line, width) for line in lines))


def draw_curve(
    ax: Axes, curve: Curve, decay: DecayFit | None, symbols: str, *, bits: bool, x_scale: str
) -> None:
    """One panel; the information axis is logarithmic, `x_scale` is `log` or `linear`."""
    unit, factor = unit_of(bits)
    bottom, top = information_limits([curve], factor)
    ax.set_xscale(x_scale)
    ax.set_yscale("log")
    _draw_floor(ax, curve, factor, bottom)
    _draw_raw(ax, curve, factor)
    if curve.lags.size < MANY:
        _draw_points(ax, curve, factor, bottom)
    else:
        _draw_line(ax, curve, factor, bottom)
    if decay is not None:
        draw_laws(ax, decay, factor, x_scale)
    ax.set_xlim(*(lag_limits([curve]) if x_scale == "log" else near_limits(curve, decay)))
    ax.set_ylim(bottom, top)
    draw_span(ax, curve)
    draw_reach(ax, curve, unit, factor)
    plain_ticks(ax)
    ax.set_xlabel(f"distance in {symbols_word(symbols)}")
    ax.set_ylabel(f"information, {unit}")


def masked(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """`values` with NaN where a logarithmic axis has no place for them."""
    return np.where(values > 0, values, np.nan)


def _draw_floor(ax: Axes, curve: Curve, factor: float, bottom: float) -> None:
    low, high = ((curve.floor + side * curve.floor_sd) * factor for side in (-2, 2))
    if not (high > bottom).any():
        ax.fill_between([], [], color=PALE, label="floor: below the axis (zero or less)")
        return
    lags, low, high = curve.lags, np.fmax(low, bottom), np.fmax(high, bottom)
    if lags.size == 1:  # a band over one point would have no width
        lags, low, high = np.array([lags[0] / 1.2, lags[0] * 1.2]), np.repeat(low, 2), np.repeat(high, 2)
    ax.fill_between(
        lags,
        low,
        high,
        color=PALE,
        linewidth=0,
        label="floor: what chance alone gives, ± 2 standard deviations",
        rasterized=curve.lags.size > _RASTER_FROM,
    )


def _draw_raw(ax: Axes, curve: Curve, factor: float) -> None:
    raw = masked(curve.information * factor)
    label = "estimate before the floor is taken off"
    width, marker = 0.8 if raw.size < MANY else 0.5, "_" if raw.size == 1 else ""
    ax.plot(curve.lags, raw, color=GREY, linewidth=width, marker=marker, markersize=14, label=label)


def _draw_points(ax: Axes, curve: Curve, factor: float, bottom: float) -> None:
    value, error = curve.corrected * factor, 2 * curve.error * factor
    under = ~(value > bottom)
    kinds = (
        (curve.significant & ~under, BLUE, BLUE, "corrected, ± 2 standard errors"),
        (~curve.significant & ~under, BLUE, "white", "corrected, not significant"),
    )
    for chosen, edge, face, label in kinds:
        if chosen.any():
            below = np.fmin(error, value - bottom / 10)[chosen]
            bars = np.nan_to_num(np.stack([below, error[chosen]]))
            ax.errorbar(
                curve.lags[chosen],
                value[chosen],
                yerr=bars,
                fmt="o",
                color=edge,
                markerfacecolor=face,
                elinewidth=0.9,
                label=label,
            )
    if under.any():
        _draw_under(ax, curve.lags[under])


def _draw_under(ax: Axes, lags: NDArray[np.int64]) -> None:
    """Values that the axis cannot show stand at its lower edge, so that nobody takes them for missing."""
    ax.plot(
        lags,
        np.full(lags.size, _EDGE),
        "v",
        transform=ax.get_xaxis_transform(),
        color=BLUE,
        markerfacecolor="white",
        markersize=4,
        label="corrected, below the axis (zero or nearly so)",
    )


def _draw_line(ax: Axes, curve: Curve, factor: float, bottom: float) -> None:
    value, error = curve.corrected * factor, 2 * curve.error * factor
    strong = masked(np.where(curve.significant, value, np.nan))
    weak = masked(np.where(curve.significant, np.nan, value))
    low, high = np.fmax(value - error, bottom / 10), np.fmax(value + error, bottom / 10)
    raster = curve.lags.size > _RASTER_FROM
    ax.fill_between(curve.lags, low, high, color=BLUE, alpha=0.2, linewidth=0, rasterized=raster)
    if curve.significant.any():
        ax.plot(curve.lags, strong, color=BLUE, linewidth=1.2, label="corrected, band of ± 2 standard errors")
    if not curve.significant.all():
        ax.plot(curve.lags, weak, color=BLUE, linewidth=0.5, alpha=0.6, label="corrected, not significant")

"""I(tau) of one sequence: the corrected values, the raw ones, the floor, the laws, the span and the reach."""

from __future__ import annotations

import dataclasses
import textwrap
from dataclasses import dataclass
from typing import final

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from memspan.figures.laws import draw_laws
from memspan.figures.legend import place_legend
from memspan.figures.limits import information_limits, lag_limits, near_limits
from memspan.figures.marks import draw_reach, draw_span
from memspan.figures.numbers import count, unit_of
from memspan.figures.style import BLUE, GREY, MANY, PALE, StyleName, literal, new_figure
from memspan.figures.ticks import plain_ticks
from memspan.figures.words import law_sentence, short, span_words, symbols_word
from memspan.results import Curve, DecayFit, Measurement

_RASTER_FROM = 1000
"""Bands over more lags than this are stored as pixels: as outlines they would make pages of megabytes."""
_EDGE = 0.012
"""Height of the marks for values below the axis, in shares of the axes."""


@final
@dataclass(frozen=True)
class Labels:
    """What the legend calls each part, in the order of importance; laws stand between `below` and `raw`."""

    points: str = "corrected, ± 2 standard errors"
    line: str = "corrected, band of ± 2 standard errors"
    weak: str = "corrected, not significant"
    undersampled: str = "undersampled: lower bound"
    below: str = "corrected, below the axis (zero or nearly so)"
    raw: str = "estimate before the floor is taken off"
    floor: str = "floor: what chance alone gives, ± 2 standard deviations"
    floor_below: str = "floor: below the axis (zero or less)"

    def place(self, label: str) -> float:
        """The position of a label in the legend."""
        order = dataclasses.astuple(self)
        return order.index(label) if label in order else order.index(self.below) + 0.5


WHOLE = Labels()
BRIEF = Labels(
    points="corrected, ± 2 SE",
    line="corrected, ± 2 SE",
    weak="not significant",
    below="below the axis",
    raw="estimate with floor",
    floor="floor, ± 2 SD",
    floor_below="floor: below the axis",
)
"""For a figure of one column."""


def information_figure(measurement: Measurement, *, bits: bool) -> Figure:
    """Two panels of one curve: a power law is straight in the left one, an exponential in the right one."""
    figure = new_figure(10.0, 5.4)
    left, right = figure.subplots(1, 2, sharey=True)
    for ax, scale in ((left, "log"), (right, "linear")):
        draw_curve(ax, measurement.curve, _decay(measurement), measurement.symbols, bits=bits, x_scale=scale)
    left.set_title("both axes logarithmic: a power law is a straight line")
    right.set_title("distance linear: an exponential is a straight line")
    right.set_ylabel("")
    figure.suptitle(_title(measurement, 118), x=0.01, ha="left")
    figure.legend(*_key(left), loc="outside lower center", ncols=2)
    return figure


def information_axes(ax: Axes, measurement: Measurement, *, bits: bool, style: StyleName = "report") -> None:
    """The left panel alone; in the style `paper` without a title, with the best law only and short labels."""
    curve, decay, labels = measurement.curve, _decay(measurement), BRIEF if style == "paper" else WHOLE
    if style == "paper" and decay is not None and decay.laws:
        decay = dataclasses.replace(decay, laws={decay.best: decay[decay.best]})
    draw_curve(ax, curve, decay, measurement.symbols, bits=bits, x_scale="log", labels=labels)
    if style == "report":
        ax.set_title(_title(measurement, 80))
    place_legend(ax, *_key(ax, labels))


def _decay(measurement: Measurement) -> DecayFit | None:
    """The laws to draw: none through a period, which they do not describe."""
    return measurement.decay if measurement.period is None else None


def curve_axes(ax: Axes, curve: Curve, *, bits: bool, style: StyleName = "report") -> None:
    """A curve of which nothing is known but its numbers."""
    labels = BRIEF if style == "paper" else WHOLE
    draw_curve(ax, curve, None, "symbols", bits=bits, x_scale="log", labels=labels)
    if style == "report":
        ax.set_title(f"{span_words(curve, 'symbols').capitalize()} ({count(curve.length)} symbols)")
    place_legend(ax, *_key(ax, labels))


def _key(ax: Axes, labels: Labels = WHOLE) -> tuple[list[Artist], list[str]]:
    """The legend in the order of importance: what was measured, the laws, then what was taken off."""
    handles, names = ax.get_legend_handles_labels()
    order = sorted(range(len(names)), key=lambda i: labels.place(names[i]))
    return [handles[i] for i in order], [names[i] for i in order]


def _title(measurement: Measurement, width: int) -> str:
    curve, symbols = measurement.curve, measurement.symbols
    first = f"{short(measurement.name)}: {span_words(curve, symbols)}"
    amount = f"with {count(curve.length)} {symbols_word(symbols)} (more may show more)"
    lines = (f"{first} {amount}", law_sentence(measurement))
    return literal("\n".join(textwrap.fill(line, width) for line in lines))


def draw_curve(
    ax: Axes,
    curve: Curve,
    decay: DecayFit | None,
    symbols: str,
    *,
    bits: bool,
    x_scale: str,
    labels: Labels = WHOLE,
) -> None:
    """One panel; the information axis is logarithmic, `x_scale` is `log` or `linear`."""
    unit, factor = unit_of(bits)
    bottom, top = information_limits([curve], factor)
    ax.set_xscale(x_scale)
    ax.set_yscale("log")
    _draw_floor(ax, curve, factor, bottom, labels)
    _draw_raw(ax, curve, factor, labels)
    if curve.lags.size < MANY:
        _draw_points(ax, curve, factor, bottom, labels)
    else:
        _draw_line(ax, curve, factor, bottom, labels)
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


def _draw_floor(ax: Axes, curve: Curve, factor: float, bottom: float, labels: Labels) -> None:
    low, high = ((curve.floor + side * curve.floor_sd) * factor for side in (-2, 2))
    if not (high > bottom).any():
        ax.fill_between([], [], color=PALE, label=labels.floor_below)
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
        label=labels.floor,
        rasterized=curve.lags.size > _RASTER_FROM,
    )


def _draw_raw(ax: Axes, curve: Curve, factor: float, labels: Labels) -> None:
    raw = masked(curve.information * factor)
    width, marker = 0.8 if raw.size < MANY else 0.5, "_" if raw.size == 1 else ""
    ax.plot(curve.lags, raw, color=GREY, linewidth=width, marker=marker, markersize=14, label=labels.raw)


def _draw_points(ax: Axes, curve: Curve, factor: float, bottom: float, labels: Labels) -> None:
    """Hollow circles could be chance; hollow triangles point up, because more data would raise the value."""
    value, error = curve.corrected * factor, 2 * curve.error * factor
    under = ~(value > bottom)
    sampled = ~under & ~curve.undersampled
    kinds = (
        (curve.significant & sampled, "o", BLUE, labels.points),
        (~curve.significant & sampled, "o", "white", labels.weak),
        (curve.undersampled & ~under, "^", "white", labels.undersampled),
    )
    for chosen, marker, face, label in kinds:
        if chosen.any():
            below = np.fmin(error, value - bottom / 10)[chosen]
            bars = np.nan_to_num(np.stack([below, error[chosen]]))
            ax.errorbar(
                curve.lags[chosen],
                value[chosen],
                yerr=bars,
                fmt=marker,
                color=BLUE,
                markerfacecolor=face,
                elinewidth=0.9,
                label=label,
            )
    if under.any():
        _draw_under(ax, curve.lags[under], labels)


def _draw_under(ax: Axes, lags: NDArray[np.int64], labels: Labels) -> None:
    """Values that the axis cannot show stand at its lower edge, so that nobody takes them for missing."""
    ax.plot(
        lags,
        np.full(lags.size, _EDGE),
        "v",
        transform=ax.get_xaxis_transform(),
        color=BLUE,
        markerfacecolor="white",
        label=labels.below,
    )


def _draw_line(ax: Axes, curve: Curve, factor: float, bottom: float, labels: Labels) -> None:
    value, error = curve.corrected * factor, 2 * curve.error * factor
    kinds = (
        (curve.significant & ~curve.undersampled, "-", 1.2, 1.0, labels.line),
        (~curve.significant & ~curve.undersampled, "-", 0.5, 0.6, labels.weak),
        (curve.undersampled, ":", 1.2, 1.0, labels.undersampled),
    )
    low, high = np.fmax(value - error, bottom / 10), np.fmax(value + error, bottom / 10)
    raster = curve.lags.size > _RASTER_FROM
    ax.fill_between(curve.lags, low, high, color=BLUE, alpha=0.2, linewidth=0, rasterized=raster)
    for chosen, dash, width, alpha, label in kinds:
        if chosen.any():
            shown = masked(np.where(chosen, value, np.nan))
            ax.plot(curve.lags, shown, color=BLUE, linestyle=dash, linewidth=width, alpha=alpha, label=label)

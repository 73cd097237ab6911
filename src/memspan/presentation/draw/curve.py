"""I(τ) of one sequence: corrected and raw values, noise floor, fitted laws with residuals, span and reach."""

from __future__ import annotations

import dataclasses
import textwrap
from dataclasses import dataclass
from typing import final

import numpy as np
from matplotlib import rcParams
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from memspan.decay.laws import LAWS
from memspan.presentation.curve import (
    interval_words,
    law_name,
    law_sentence,
    law_words,
    short,
    span_words,
    symbols_word,
)
from memspan.presentation.draw.axes import (
    information_limits,
    lag_limits,
    masked,
    near_limits,
    place_legend,
    plain_ticks,
)
from memspan.presentation.draw.style import (
    BLUE,
    GREEN,
    GREY,
    INK,
    MANY,
    PALE,
    PURPLE,
    VERMILION,
    StyleName,
    label_size,
    literal,
    new_figure,
)
from memspan.presentation.numbers import count, trimmed, unit_of
from memspan.results import Curve, DecayFit, Measurement

# Lags from which on bands are stored as pixels: as outlines they would make pages of megabytes.
_RASTER_FROM = 1000
# Height of the markers for values below the axis, as a share of the axes.
_EDGE = 0.012


@final
@dataclass(frozen=True)
class CurveLabels:
    """Legend labels in the order of importance; laws come between `below` and `raw`."""

    points: str = "corrected, ± 2 standard errors"
    line: str = "corrected, band of ± 2 standard errors"
    weak: str = "corrected, not significant"
    undersampled: str = "undersampled: lower bound"
    below: str = "corrected, below the axis (zero or nearly so)"
    raw: str = "estimate before subtracting the floor"
    floor: str = "noise floor (surrogate null), ± 2 standard deviations"
    floor_below: str = "noise floor: below the axis (zero or less)"

    def place(self, label: str) -> float:
        """The position of a label in the legend."""
        order = dataclasses.astuple(self)
        return order.index(label) if label in order else order.index(self.below) + 0.5


FULL_LABELS = CurveLabels()
# For a figure of one column.
SHORT_LABELS = CurveLabels(
    points="corrected, ± 2 SE",
    line="corrected, ± 2 SE",
    weak="not significant",
    below="below the axis",
    raw="estimate with floor",
    floor="floor, ± 2 SD",
    floor_below="floor: below the axis",
)


def information_figure(measurement: Measurement, *, bits: bool) -> Figure:
    """Two panels of one curve: a power law is straight in the left one, an exponential in the right one."""
    figure = new_figure(10.0, 5.4)
    left, right = figure.subplots(1, 2, sharey=True)
    for ax, scale in ((left, "log"), (right, "linear")):
        draw_curve(ax, measurement.curve, _decay(measurement), measurement.symbols, bits=bits, x_scale=scale)
    left.set_title("both axes logarithmic: a power law is a straight line")
    right.set_title("lag axis linear: an exponential is a straight line")
    right.set_ylabel("")
    figure.suptitle(_title(measurement, 118, bits), x=0.01, ha="left")
    figure.legend(*_legend_entries(left), loc="outside lower center", ncols=2)
    return figure


def draw_measurement(ax: Axes, measurement: Measurement, *, bits: bool, style: StyleName = "report") -> None:
    """The left panel alone; in the style `paper` without a title, with the best law only and short labels."""
    curve, decay, labels = (measurement.curve, _decay(measurement), SHORT_LABELS if style == "paper" else FULL_LABELS)
    if style == "paper" and decay is not None and decay.laws:
        decay = dataclasses.replace(decay, laws={decay.best: decay[decay.best]})
    draw_curve(ax, curve, decay, measurement.symbols, bits=bits, x_scale="log", labels=labels)
    if style == "report":
        ax.set_title(_title(measurement, 80, bits))
    place_legend(ax, *_legend_entries(ax, labels))


def _decay(measurement: Measurement) -> DecayFit | None:
    """The laws to draw: none if there is a period, which they do not describe."""
    return measurement.decay if measurement.period is None else None


def draw_plain_curve(ax: Axes, curve: Curve, *, bits: bool, style: StyleName = "report") -> None:
    """A curve whose data are unknown."""
    labels = SHORT_LABELS if style == "paper" else FULL_LABELS
    draw_curve(ax, curve, None, "symbols", bits=bits, x_scale="log", labels=labels)
    if style == "report":
        ax.set_title(f"{span_words(curve, 'symbols').capitalize()} ({count(curve.length)} symbols)")
    place_legend(ax, *_legend_entries(ax, labels))


def _legend_entries(ax: Axes, labels: CurveLabels = FULL_LABELS) -> tuple[list[Artist], list[str]]:
    """Handles and labels of the legend, in the order of importance."""
    handles, names = ax.get_legend_handles_labels()
    order = sorted(range(len(names)), key=lambda i: labels.place(names[i]))
    return [handles[i] for i in order], [names[i] for i in order]


def _title(measurement: Measurement, width: int, bits: bool) -> str:
    curve, symbols = measurement.curve, measurement.symbols
    first = f"{short(measurement.name)}: {span_words(curve, symbols)}"
    amount = f"with {count(curve.length)} {symbols_word(symbols)} (more may show more)"
    lines = (f"{first} {amount}", law_sentence(measurement, bits=bits))
    return literal("\n".join(textwrap.fill(line, width) for line in lines))


def draw_curve(
    ax: Axes,
    curve: Curve,
    decay: DecayFit | None,
    symbols: str,
    *,
    bits: bool,
    x_scale: str,
    labels: CurveLabels = FULL_LABELS,
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
    ax.set_xlabel(f"lag, {symbols_word(symbols)}")
    ax.set_ylabel(f"mutual information, {unit}")


def _draw_floor(ax: Axes, curve: Curve, factor: float, bottom: float, labels: CurveLabels) -> None:
    low, high = ((curve.floor + side * curve.floor_sd) * factor for side in (-2, 2))
    if not (high > bottom).any():
        ax.fill_between([], [], color=PALE, label=labels.floor_below)
        return
    lags, low, high = curve.lags, np.fmax(low, bottom), np.fmax(high, bottom)
    if lags.size == 1:  # a band over one point would have no width
        lags, low, high = np.array([lags[0] / 1.2, lags[0] * 1.2]), np.repeat(low, 2), np.repeat(high, 2)
    ax.fill_between(
        lags, low, high, color=PALE, linewidth=0, label=labels.floor, rasterized=curve.lags.size > _RASTER_FROM
    )


def _draw_raw(ax: Axes, curve: Curve, factor: float, labels: CurveLabels) -> None:
    raw = masked(curve.information * factor)
    width, marker = 0.8 if raw.size < MANY else 0.5, "_" if raw.size == 1 else ""
    ax.plot(curve.lags, raw, color=GREY, linewidth=width, marker=marker, markersize=14, label=labels.raw)


def _draw_points(ax: Axes, curve: Curve, factor: float, bottom: float, labels: CurveLabels) -> None:
    """Hollow circles are not significant; hollow triangles point up, because more data would raise the value."""
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


def _draw_under(ax: Axes, lags: NDArray[np.int64], labels: CurveLabels) -> None:
    """Values below the axis are marked at its lower edge, so that they do not look missing."""
    ax.plot(
        lags,
        np.full(lags.size, _EDGE),
        "v",
        transform=ax.get_xaxis_transform(),
        color=BLUE,
        markerfacecolor="white",
        label=labels.below,
    )


def _draw_line(ax: Axes, curve: Curve, factor: float, bottom: float, labels: CurveLabels) -> None:
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


# Heights of the two labels, as shares of the axes: they differ so that a span near the reach stays legible.
_SPAN_HEIGHT, _REACH_HEIGHT = 0.965, 0.90


def draw_span(ax: Axes, curve: Curve) -> None:
    """A dashed vertical line at the span, or the text that there is none."""
    lag = curve.span.lag
    if lag <= 0:
        ax.text(0.98, _SPAN_HEIGHT, "no span", transform=ax.transAxes, ha="right", va="top")
        return
    interval = curve.span.interval
    if interval is not None:
        ax.axvspan(*interval, color=INK, alpha=0.08, linewidth=0)
    label = f"span ≥ {lag:,} (largest lag)" if curve.span.censored else f"span {interval_words(curve.span)}"
    _labeled_line(ax, lag, label, _SPAN_HEIGHT, "--")


def draw_reach(ax: Axes, curve: Curve, unit: str, factor: float) -> None:
    """A dotted vertical line at the reach and a dotted level, in nats times `factor`."""
    reach = curve.reach
    if reach.lag <= 0:
        return
    ax.axhline(reach.level * factor, color=INK, linewidth=0.7, linestyle=":")
    sign = "≥ " if reach.censored else ""
    label = f"reach {sign}{trimmed(reach.lag)} at {trimmed(reach.level * factor)} {unit}"
    _labeled_line(ax, reach.lag, label, _REACH_HEIGHT, ":")


def _labeled_line(ax: Axes, lag: float, label: str, height: float, dash: str) -> None:
    """The label is on the side with more space; a lag beyond the axis is only pointed at."""
    beyond = lag > ax.get_xlim()[1]
    place = ax.get_xlim()[1] if beyond else lag
    if not beyond:
        ax.axvline(lag, ymax=height, color=INK, linewidth=0.9, linestyle=dash)
    to_axes = ax.transData + ax.transAxes.inverted()
    on_left = to_axes.transform((place, ax.get_ylim()[0]))[0] > 0.5
    ax.annotate(
        f"{label} →" if beyond else label,
        (place, height),
        xycoords=("data", "axes fraction"),
        xytext=(-3 if on_left else 3, 0),
        textcoords="offset points",
        ha="right" if on_left else "left",
        va="top",
        fontsize=label_size(),
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
    )


_PLAIN = {"exponential": (GREEN, (0, (5, 2))), "power": (PURPLE, (0, (1.5, 1.5)))}
_POINTS = 300
# Standard errors beyond which residuals are marked at the edge, so that an outlier does not hide the others.
_FARTHEST = 6.0


def draw_laws(ax: Axes, decay: DecayFit, factor: float, x_scale: str) -> None:
    """The best law, then `exponential` and `power` for comparison, in nats times `factor`."""
    if not decay.lags.size:
        return
    ends = float(decay.lags.min()), float(decay.lags.max())
    lags = np.geomspace(*ends, _POINTS)
    if x_scale != "log":
        # Short lags need the fine steps of a logarithmic grid, long ones those of a linear grid.
        lags = np.union1d(lags, np.linspace(*ends, _POINTS))
    for name in [decay.best, *(name for name in _PLAIN if name != decay.best)]:
        if name not in decay.laws or name not in LAWS:
            continue
        fit, best = decay[name], name == decay.best
        value = np.asarray(LAWS[name].value(lags, fit.parameters), dtype=np.float64) * factor
        color, dash = (VERMILION, "-") if best else _PLAIN[name]
        ax.plot(
            lags,
            np.where(value > 0, value, np.nan),
            color=color,
            linestyle=dash,
            linewidth=(1.125 if best else 0.75) * rcParams["lines.linewidth"],
            label=_law_label(name, decay),
            zorder=3,
        )


def _law_label(name: str, decay: DecayFit) -> str:
    if name != decay.best:
        return law_words(name, decay[name])
    if decay.fits:
        return f"{law_words(name, decay[name])}{' (best law)' if len(decay.laws) > 1 else ''}"
    return f"{law_name(name)} (best of the laws, but it does not fit)"


def has_residuals(measurement: Measurement) -> bool:
    """Whether there is a law whose residuals can be drawn."""
    decay = measurement.decay
    return decay is not None and decay.lags.size > 0 and decay.best in LAWS and measurement.period is None


def residual_figure(measurement: Measurement) -> Figure:
    """(corrected - best law) / error against lag, with a band of ± 2; lags that were not fitted are hollow."""
    decay, curve = measurement.decay, measurement.curve
    assert decay is not None, "has_residuals was checked"
    law = LAWS[decay.best].value(curve.lags, decay[decay.best].parameters)
    with np.errstate(all="ignore"):
        residuals = (curve.corrected - law) / curve.error
    within = (curve.lags >= decay.lags.min()) & (curve.lags <= decay.lags.max()) & np.isfinite(residuals)
    fitted = np.isin(curve.lags, decay.lags)
    figure = new_figure(10.0, 2.6)
    ax = figure.subplots()
    ax.set_xscale("log")
    ax.axhspan(-2, 2, color=PALE, linewidth=0, label="± 2 standard errors")
    ax.axhline(0, color=VERMILION, linewidth=1.2)
    size = 4.5 if curve.lags.size < MANY else 2.0
    for chosen, face, label in ((fitted, BLUE, "fitted"), (~fitted, "white", "not fitted")):
        inside = within & chosen & (np.abs(residuals) <= _FARTHEST)
        if inside.any():
            ax.plot(
                curve.lags[inside],
                residuals[inside],
                "o",
                color=BLUE,
                markerfacecolor=face,
                markersize=size,
                label=label,
            )
    _draw_outside(ax, curve.lags, residuals, within & (np.abs(residuals) > _FARTHEST))
    ax.set_xlim(*lag_limits([curve]))
    ax.set_ylim(-_FARTHEST - 1, _FARTHEST + 1)
    ax.set_yticks([-6, -4, -2, 0, 2, 4, 6])
    plain_ticks(ax)
    ax.set_xlabel(f"lag, {symbols_word(measurement.symbols)}")
    ax.set_ylabel("residual, standard errors")
    ax.set_title(f"Residuals of the best law: {law_name(decay.best)}")
    ax.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=4, borderaxespad=0.2)
    return figure


def _draw_outside(
    ax: Axes, lags: NDArray[np.int64], residuals: NDArray[np.float64], outside: NDArray[np.bool_]
) -> None:
    """Triangles at the edge that point to residuals beyond it."""
    for sign, marker in ((1, "^"), (-1, "v")):
        beyond = outside & (sign * residuals > 0)
        if beyond.any():
            where = np.full(int(beyond.sum()), sign * (_FARTHEST + 0.4))
            label = f"{'above' if sign > 0 else 'below'} the axis"
            ax.plot(lags[beyond], where, marker, color=BLUE, markersize=5, linestyle="", label=label)

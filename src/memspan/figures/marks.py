"""The span and the reach as labelled lines in the free space above the curve."""

from __future__ import annotations

from matplotlib.axes import Axes

from memspan.figures.numbers import trimmed
from memspan.figures.style import INK, label_size
from memspan.figures.words import interval_words
from memspan.results import Curve

_SPAN_HEIGHT, _REACH_HEIGHT = 0.965, 0.90
"""Heights of the two labels, in shares of the axes: a span near the reach must stay legible."""


def draw_span(ax: Axes, curve: Curve) -> None:
    """A dashed vertical line at the span, or the remark that there is none."""
    lag = curve.span.lag
    if lag <= 0:
        ax.text(
            0.98,
            _SPAN_HEIGHT,
            "no span",
            transform=ax.transAxes,
            ha="right",
            va="top",
        )
        return
    interval = curve.span.interval
    if interval is not None:
        ax.axvspan(*interval, color=INK, alpha=0.08, linewidth=0)
    label = f"span ≥ {lag:,} (largest lag)" if curve.span.censored else f"span {interval_words(curve.span)}"
    _labelled_line(ax, lag, label, _SPAN_HEIGHT, "--")


def draw_reach(ax: Axes, curve: Curve, unit: str, factor: float) -> None:
    """A dotted vertical line at the reach and a dotted level, in nats times `factor`."""
    reach = curve.reach
    if reach.lag <= 0:
        return
    ax.axhline(reach.level * factor, color=INK, linewidth=0.7, linestyle=":")
    sign = "≥ " if reach.censored else ""
    label = f"reach {sign}{trimmed(reach.lag)} at {trimmed(reach.level * factor)} {unit}"
    _labelled_line(ax, reach.lag, label, _REACH_HEIGHT, ":")


def _labelled_line(ax: Axes, lag: float, label: str, height: float, dash: str) -> None:
    """The label stands on the side with more room; a lag beyond the axis is only pointed at."""
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

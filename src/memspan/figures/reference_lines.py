"""Lines that say what a value is to be compared with, each with its name beside it."""

from __future__ import annotations

from matplotlib.axes import Axes

from memspan.figures.style import INK, label_size, literal


def across(ax: Axes, value: float, label: str) -> None:
    """A dotted horizontal line, its name at the right end, on the side with more room; the limits must be set."""
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


def upright(ax: Axes, place: float, label: str, height: float) -> None:
    """A dashed vertical line, its name at a height (a share of the axes), on the side with more room; limits must be set."""
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

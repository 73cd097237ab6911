"""Ticks in plain numbers: 1, 10, 1,000 instead of powers and products of ten."""

from __future__ import annotations

import math

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

from memspan.figures.numbers import trimmed

SHORT = 10**1.5
"""A logarithmic axis whose ends have a smaller ratio has too few powers of ten to be read."""


def plain_ticks(ax: Axes) -> None:
    """Label the horizontal axis in plain numbers; call it after the limits are set.

    On a short logarithmic axis the twos and fives between powers of ten are labelled as well.
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

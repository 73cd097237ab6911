"""Ticks in plain numbers: 1, 10, 1,000 instead of powers and products of ten."""

from __future__ import annotations

import math

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullFormatter

from memspan.figures.numbers import trimmed


def plain_ticks(ax: Axes) -> None:
    """Label the horizontal axis in plain numbers; call it after the limits are set.

    A logarithmic axis shorter than a decade and a half has too few powers of ten to be read, so the twos and
    fives between them are labelled as well.
    """
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: trimmed(value)))
    if ax.get_xscale() != "log":
        return
    low, high = ax.get_xlim()
    short = high / low < 10**1.5
    ax.xaxis.set_minor_formatter(FuncFormatter(_two_or_five) if short else NullFormatter())


def _two_or_five(value: float, _: object) -> str:
    first = round(value / 10 ** math.floor(math.log10(value) + 1e-9))
    return trimmed(value) if first in (2, 5) else ""

"""Benchmarks as ratios: to the right of 1 we are better than the peer."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from memspan.figures.numbers import number
from memspan.figures.style import BLUE, INK, ORANGE, label_size, literal, new_figure
from memspan.figures.ticks import plain_ticks
from memspan.figures.words import short
from memspan.results import BenchReport


def benchmark_figure(report: BenchReport) -> Figure:
    """One bar per benchmark."""
    figure = new_figure(8.0, 1.5 + 0.42 * max(1, len(report.benchmarks)))
    benchmark_axes(figure.subplots(), report)
    return figure


def benchmark_axes(ax: Axes, report: BenchReport) -> None:
    """Horizontal bars that start at 1 on a logarithmic axis, each with its ratio; failed ones have no bar."""
    ratios = np.array([b.ratio if b.ratio > 0 else np.nan for b in report.benchmarks])
    places = np.arange(ratios.size)[::-1]
    ax.set_xscale("log")
    ax.barh(places, ratios - 1, left=1, height=0.6, color=[BLUE if r >= 1 else ORANGE for r in ratios])
    ax.axvline(1, color=INK, linewidth=1)
    _name_ratios(ax, places, ratios)
    names = [literal(f"{short(b.name, 36)}\nnext to {short(b.peer, 36)}") for b in report.benchmarks]
    ax.set_yticks(places, names, fontsize=label_size())
    ax.grid(visible=False, axis="y")
    _leave_room(ax, ratios[np.isfinite(ratios)])
    plain_ticks(ax)
    ax.set_xlabel("ratio (above 1: memspan is better)")
    ax.set_title(literal(f"memspan next to its peers, in one run ({short(report.machine, 60)})"))


def _name_ratios(ax: Axes, places: NDArray[np.int64], ratios: NDArray[np.float64]) -> None:
    for place, ratio in zip(places, ratios, strict=True):
        better = not ratio < 1
        ax.annotate(
            f"{number(ratio, 2)} times" if np.isfinite(ratio) else "no ratio",
            (ratio if np.isfinite(ratio) else 1, place),
            xytext=(4 if better else -4, 0),
            textcoords="offset points",
            ha="left" if better else "right",
            va="center",
            fontsize=label_size(),
        )


def _leave_room(ax: Axes, ratios: NDArray[np.float64]) -> None:
    """Space for the words beside the longest bars."""
    low, high = min(1.0, *ratios, 1.0), max(1.5, *ratios, 1.5)
    inches = ax.get_window_extent().width / ax.figure.dpi
    room = (high / low) ** (0.22 if inches > 4 else 0.22 * 7 / inches)
    ax.set_xlim(low / room if low < 1 else low / room**0.2, high * room)

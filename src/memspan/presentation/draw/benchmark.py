"""Benchmarks as ratios: to the right of 1 memspan is better than the peer."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from memspan.presentation.curve import short
from memspan.presentation.draw.axes import plain_ticks
from memspan.presentation.draw.style import BLUE, INK, ORANGE, label_size, literal
from memspan.presentation.numbers import number
from memspan.results import BenchReport


def draw_ratios(ax: Axes, report: BenchReport) -> None:
    """Horizontal bars from 1 on a logarithmic axis, each with its ratio; failed benchmarks have no bar."""
    ratios = np.array([b.ratio if b.ratio > 0 else np.nan for b in report.benchmarks])
    places = np.arange(ratios.size)[::-1]
    ax.set_xscale("log")
    ax.barh(places, ratios - 1, left=1, height=0.6, color=[BLUE if r >= 1 else ORANGE for r in ratios])
    ax.axvline(1, color=INK, linewidth=1)
    _label_ratios(ax, places, ratios)
    names = [literal(f"{short(b.name, 36)}\nnext to {short(b.peer, 36)}") for b in report.benchmarks]
    ax.set_yticks(places, names, fontsize=label_size())
    ax.grid(visible=False, axis="y")
    _set_limits(ax, ratios[np.isfinite(ratios)])
    plain_ticks(ax)
    ax.set_xlabel("ratio (above 1: memspan is better)")
    ax.set_title(literal(f"memspan next to its peers, in one run ({short(report.machine, 60)})"))


def _label_ratios(ax: Axes, places: NDArray[np.int64], ratios: NDArray[np.float64]) -> None:
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


def _set_limits(ax: Axes, ratios: NDArray[np.float64]) -> None:
    """Limits with space for the labels of the longest bars."""
    low, high = min(1.0, *ratios, 1.0), max(1.5, *ratios, 1.5)
    inches = ax.get_window_extent().width / ax.figure.dpi
    margin = (high / low) ** (0.22 if inches > 4 else 0.22 * 7 / inches)
    ax.set_xlim(low / margin if low < 1 else low / margin**0.2, high * margin)

"""How accuracy holds when the delay grows beyond the one that was trained."""

from __future__ import annotations

import textwrap

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from numpy.typing import NDArray

from memspan.figures.reference_lines import across, upright
from memspan.figures.style import BLUE, literal, new_figure
from memspan.figures.ticks import plain_ticks
from memspan.figures.training_words import answers_word, chance_words, percent
from memspan.results import Evaluation, Transfer

CAPTION = (
    "The share of right answers against the number of steps over which must be remembered, with 95 % intervals. The weights "
    "are the same everywhere: they were learnt at the dashed line. The dotted line is what guessing gives."
)

_MOST_NAMES, _APART = 9, 1.3
"""How many delays are named on their axis, and how far apart they must be."""


def transfer_figure(evaluation: Evaluation) -> Figure:
    """One point for each delay."""
    figure = new_figure(7.4, 4.4)
    transfer_axes(figure.subplots(), evaluation)
    return figure


def drawable(evaluation: Evaluation) -> tuple[Transfer, ...]:
    """The entries that have a place in the figure, by delay."""
    known = [one for one in evaluation.transfer if one.delay is not None and one.accuracy is not None]
    return tuple(sorted(known, key=lambda one: one.delay or 0))


def transfer_axes(ax: Axes, evaluation: Evaluation) -> None:
    """Accuracy against delay, on a logarithmic axis."""
    shown = drawable(evaluation)
    delays = np.array([one.delay for one in shown], dtype=np.float64)
    accuracy = np.array([one.accuracy for one in shown], dtype=np.float64)
    ends = np.array([one.interval or (one.accuracy, one.accuracy) for one in shown], dtype=np.float64)
    bars = np.abs(ends.reshape(-1, 2).T - accuracy)
    ax.set_xscale("log")
    ax.errorbar(delays, accuracy, yerr=bars, color=BLUE, marker="o", linestyle="-", linewidth=1.2, capsize=3)
    trained = evaluation.trained_delay
    marked = np.append(delays, trained or delays[:1])
    margin = max((marked.max() / marked.min()) ** 0.06, 1.3) if marked.size else 1.3
    ax.set_xlim(marked.min() / margin, marked.max() * margin)
    ax.set_ylim(0, 1.06)
    _name_delays(ax, np.unique(marked))
    ax.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
    name = evaluation.distance or "delay"
    across(ax, evaluation.chance, chance_words(evaluation.chance))
    if trained is not None:
        upright(ax, trained, f"trained at {name} {trained:,}", height=0.45)
    ax.set_xlabel(f"{name}, steps")
    ax.set_ylabel(f"share of {answers_word(evaluation.task)} that are right")
    ax.set_title(_title(evaluation, shown))


def _name_delays(ax: Axes, delays: NDArray[np.float64]) -> None:
    """The delays themselves where there is room for their names, else round numbers."""
    if delays.size <= _MOST_NAMES and (delays[1:] > _APART * delays[:-1]).all():
        ax.set_xticks(delays, [f"{delay:,.0f}" for delay in delays])
        ax.set_xticks([], minor=True)
    else:
        plain_ticks(ax)


def _title(evaluation: Evaluation, shown: tuple[Transfer, ...]) -> str:
    last = shown[-1]
    name = evaluation.distance or "delay"
    begin = f"{evaluation.task}, {evaluation.cell} trained at {name} {evaluation.trained_delay or 0:,}"
    found = f"{percent(last.accuracy)} of {answers_word(evaluation.task)} right at {name} {last.delay or 0:,}"
    return literal(textwrap.fill(f"{begin}: {found}", 84))

"""How a training went: loss and accuracy against updates, with what can be had without memory."""

from __future__ import annotations

import textwrap

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from memspan.figures.information import masked
from memspan.figures.legend import place_legend
from memspan.figures.limits import positive
from memspan.figures.reference_lines import across, upright
from memspan.figures.style import BLUE, GREY, MANY, ORANGE, literal, new_figure
from memspan.figures.ticks import plain_ticks
from memspan.figures.training_words import (
    accuracy_words,
    chance_words,
    in_its_unit,
    loss_unit,
    loss_words,
    task_words,
)
from memspan.results import TrainingRun

CAPTION = (
    "Left: the loss on what is learnt from (grey) and on sequences kept apart for validation; below the dotted line, the "
    "best that can be had without memory, the network must remember. Right: the share of right answers at every validation. "
    "The dashed line marks the weights that were kept."
)
CAPTION_WITHOUT = (
    "The loss on what is learnt from (grey) and on sequences kept apart for validation. Below the dotted line, the best "
    "that can be had without memory, the network must remember. The dashed line marks the weights that were kept."
)


def training_figure(run: TrainingRun) -> Figure:
    """Loss beside accuracy; the loss alone where there is no accuracy."""
    both = has_accuracy(run)
    figure = new_figure(10.0 if both else 7.4, 4.4)
    panels = np.atleast_1d(figure.subplots(1, 2 if both else 1))
    draw_loss(panels[0], run)
    panels[0].set_title("loss")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower left", ncols=2)
    if both:
        draw_accuracy(panels[1], run)
        panels[1].set_title("right answers of validation")
    figure.suptitle(_title(run, 110 if both else 80), x=0.01, ha="left")
    return figure


def training_axes(ax: Axes, run: TrainingRun) -> None:
    """The loss alone."""
    draw_loss(ax, run)
    ax.set_title(_title(run, 80))
    place_legend(ax)


def has_accuracy(run: TrainingRun) -> bool:
    """Whether any validation told how many answers were right."""
    return bool(np.isfinite(run.validation_accuracy).any())


def draw_loss(ax: Axes, run: TrainingRun) -> None:
    """Training and validation against updates; logarithmic where they fall by more than a factor of ten."""
    learnt, kept_apart, without = (
        in_its_unit(run.task, loss) for loss in (run.training_loss, run.validation_loss, run.baseline)
    )
    known = positive(np.concatenate([learnt, kept_apart]))
    logarithmic = known.size > 0 and known.max() > 10 * known.min()
    ax.set_yscale("log" if logarithmic else "linear")
    lines = (
        (run.logged, learnt, GREY, "training, mean since the point before"),
        (run.validated, kept_apart, BLUE, "validation"),
    )
    for x, y, colour, label in lines:
        shown = masked(y) if logarithmic else y
        ax.plot(x, shown, color=colour, marker="o" if x.size < MANY else "", markersize=3, label=label)
    _finish(ax, run)
    _show_value(ax, float(without), logarithmic)
    across(ax, float(without), f"without memory {loss_words(run.task, run.baseline)}")
    upright(ax, run.best_update, f"kept: update {run.best_update:,}", height=0.78)
    ax.set_ylabel(f"loss, {loss_unit(run.task)}")


def draw_accuracy(ax: Axes, run: TrainingRun) -> None:
    """Validation accuracy against updates, from nothing to everything."""
    marker = "o" if run.validated.size < MANY else ""
    ax.plot(run.validated, run.validation_accuracy, color=ORANGE, marker=marker, markersize=3)
    _finish(ax, run)
    ax.set_ylim(0, 1.04)
    ax.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
    across(ax, run.chance, chance_words(run.chance))
    upright(ax, run.best_update, f"kept: update {run.best_update:,}", height=0.55)
    ax.set_ylabel("share of right answers")


def _show_value(ax: Axes, value: float, logarithmic: bool) -> None:
    """Widen the axis until `value` is on it, with some room around."""
    low, high = ax.get_ylim()
    if logarithmic:
        ax.set_ylim(min(low, value / 1.5), max(high, value * 1.5))
    else:
        room = 0.1 * max(high - value, value - low, high - low)
        ax.set_ylim(min(low, value - room), max(high, value + room))


def _finish(ax: Axes, run: TrainingRun) -> None:
    ax.set_xlim(0, 1.04 * max(run.updates, 1))
    ax.set_xlabel("updates")
    plain_ticks(ax)


def _title(run: TrainingRun, width: int) -> str:
    words = f"{task_words(run.task, run.config)}, {run.cell}: "
    if run.accuracy is None:
        words += f"test loss {loss_words(run.task, run.loss)}"
    else:
        words += accuracy_words(run.task, run.accuracy, run.chance)
    return literal(textwrap.fill(f"{words} after {run.best_update:,} updates", width))

"""What `diagnose` found, as drawings: gradients, attention, the relevant set, Jacobians, context and costs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from memspan.figures.chart import chart_figure
from memspan.figures.diagnosis_maps import attention_drawing, relevant_drawing
from memspan.figures.diagnosis_words import (
    context_words,
    gradient_words,
    growth_words,
    judged_words,
    steps_word,
)
from memspan.figures.heat_map import heat_map_figure
from memspan.figures.jacobian import distance_drawing, spectrum_drawing
from memspan.figures.numbers import number
from memspan.figures.training_words import in_its_unit, loss_unit
from memspan.results import Chart, ContextLoss, Diagnosis, GradientNorms, HeatMap, Line, TrainingCosts, line


def diagnosis_figures(result: Diagnosis) -> dict[str, Figure]:
    """Every drawing of a diagnosis by its name."""
    return {
        drawing.name: chart_figure(drawing) if isinstance(drawing, Chart) else heat_map_figure(drawing)
        for drawing in diagnosis_drawings(result)
    }


def diagnosis_drawings(result: Diagnosis) -> Iterator[Chart | HeatMap]:
    """As plain data, the most telling first; what the cell or the task does not have is left out."""
    yield gradient_drawing(result, result.gradients)
    if result.attention is not None:
        yield attention_drawing(result, result.attention)
    if result.relevant is not None:
        yield relevant_drawing(result, result.relevant)
    if result.jacobian is not None:
        yield distance_drawing(result, result.jacobian)
        yield spectrum_drawing(result, result.jacobian)
    if result.context is not None and result.context.context.size > 1:
        yield context_drawing(result, result.context)
    if result.costs is not None:
        yield memory_drawing(result, result.costs)
        yield time_drawing(result, result.costs)


def gradient_drawing(result: Diagnosis, norms: GradientNorms) -> Chart:
    """||dL/dh_t|| against the distance from the end."""
    shown = norms.mean[np.isfinite(norms.mean) & (norms.mean > 0)]
    low, high = (shown.min(), shown.max()) if shown.size else (1.0, 1.0)
    first = norms.answers - 0.5
    lines = [
        line(
            f"mean of {norms.sequences:,} sequences; the band holds 80 % of them",
            norms.distances,
            norms.mean,
            band=(norms.low, norms.high),
        )
    ]
    if norms.loss != "whole" and norms.answers > 1:
        lines.append(
            line(f"the last {norms.answers} answers begin", [first, first], [low, high], style="dashed")
        )
    changed = (
        f"a state h of {result.cell}"
        if norms.of == "h"
        else f"the vector x of a token that {result.cell} reads"
    )
    return Chart(
        name="gradients",
        title=f"{result.name}: {gradient_words(norms)}",
        x_label="steps before the last one",
        y_label=f"norm of the gradient dL / d{norms.of}",
        x_scale="linear",
        y_scale="log",
        lines=tuple(lines),
        caption=f"How much the loss of {judged_words(norms)} would change if {changed} were changed, against how "
        "long before the end that was. To learn from what happened long ago, a network needs gradients that "
        "arrive there: where the line falls to the right, early steps hardly take part in learning. Every path "
        "from there to the loss counts, also through attention, which may go past the states between.",
    )


def context_drawing(result: Diagnosis, found: ContextLoss) -> Chart:
    """The loss against how many steps were read."""
    task = str(result.task.get("name"))
    low, high = (in_its_unit(task, found.loss + errors * found.error) for errors in (-2, 2))
    loss = in_its_unit(task, found.loss)
    falls = loss.min() > 0 and loss.max() > 10 * loss.min()
    read = found.context + 1
    return Chart(
        name="context",
        title=f"{result.name}: {context_words(found)}",
        x_label="steps read up to the first answer",
        y_label=f"loss of the answers, {loss_unit(task)}",
        x_scale="log",
        y_scale="log" if falls else "linear",
        lines=(
            line(
                f"mean of {found.sequences:,} sequences, ± two standard errors",
                read,
                loss,
                band=(low, high) if np.isfinite(found.error).all() else None,
            ),
        ),
        caption="The network begins with an empty memory so many steps before its answers and reads only what "
        "follows. Where the line goes on falling to the right, it uses what was that long ago; where it is flat, "
        "more past does not help. It was trained on whole sequences, so that parts of them may confuse it more "
        "than no memory would.",
    )


def memory_drawing(result: Diagnosis, costs: TrainingCosts) -> Chart:
    """Peak memory of a training step against the length."""
    return Chart(
        name="memory",
        title=f"{result.cell} of {result.hidden:,} units: {growth_words(costs)}",
        x_label="length of the sequence (steps)",
        y_label="peak memory of a training step (MB)",
        x_scale="linear",
        y_scale="linear",
        lines=_with_proportion(costs.steps, costs.peak / 1e6),
        caption=f"Forward and backward of one batch of {costs.batch:,} sequences, in a process of its own; what it held "
        "before is taken off. Main memory, whatever device the network was trained on.",
    )


def time_drawing(result: Diagnosis, costs: TrainingCosts) -> Chart:
    """Seconds of a training step against the length."""
    last = f"{number(float(costs.seconds[-1]), 2)} s over {steps_word(int(costs.steps[-1]))}"
    threads = "1 thread" if costs.threads == 1 else f"{costs.threads} threads"
    return Chart(
        name="time",
        title=f"{result.cell} of {result.hidden:,} units: a training step takes {last}",
        x_label="length of the sequence (steps)",
        y_label="time of a training step (s)",
        x_scale="linear",
        y_scale="linear",
        lines=_with_proportion(costs.steps, costs.seconds),
        caption=f"The same runs, with {threads}. What else the machine did shows in these times.",
    )


def _with_proportion(steps: NDArray[np.int64], values: NDArray[np.float64]) -> tuple[Line, Line]:
    proportion = values[-1] * steps / steps[-1]
    return (
        line("measured", steps, values),
        line("in proportion to the length", steps, proportion, style="dashed"),
    )

"""A diagnosis: what a trained network does with its past, as gradients, attention, Jacobians, context and costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from memspan.presentation.numbers import duration, number
from memspan.presentation.page.section import Row, TextTable
from memspan.presentation.presenter import Presenter
from memspan.presentation.tasks import loss_in_unit, loss_unit, loss_words, percent, task_words
from memspan.results import (
    AttentionMap,
    Chart,
    ContextLoss,
    Diagnosis,
    GradientNorms,
    HeatMap,
    JacobianSpectrum,
    Line,
    RelevantSet,
    TrainingCosts,
    line,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Norms that differ by a smaller factor are called equal.
_EQUAL = 1.1
_TABLE_STEPS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000)
_NO_EDGE = np.zeros(0)


@final
class DiagnosisPresenter(Presenter[Diagnosis]):
    """One trained network."""

    result_type = Diagnosis

    def page_title(self) -> str:
        return f"{self.result.name}: what does it do with its past?"

    def title(self) -> str:
        return f"What {self.result.name} does with its past"

    def sentence(self) -> str:
        result = self.result
        parts = (gradient_words(result.gradients), attention_words(result), jacobian_words(result))
        return f"{result.name}: {'; '.join(part for part in parts if part is not None)}"

    def explanation(self) -> tuple[str, ...]:
        result = self.result
        thing = "the state h" if result.gradients.of == "h" else "the embedding x of the token"
        whole = (
            "A network can learn from an earlier step only if the gradient of its loss reaches that step. The first figure "
            f"shows the norm of the gradient with respect to {thing} at every step, against the number of steps before the "
            "last one."
        )
        attends = (
            "This network has attention: at every step it distributes weights over the stored states. Attention gives "
            "gradients a shortcut past the steps in between."
        )
        recurs = (
            "In this network the past acts on the present only through the state, step by step. The Jacobian of a step maps "
            "a small change of one state to the next; gradients over many steps are products of Jacobians, and vanish or "
            "explode with their singular values."
        )
        if result.attention is not None:
            return (whole, attends)
        return (whole, recurs) if result.jacobian is not None else (whole,)

    def rows(self) -> tuple[Row, ...]:
        result = self.result
        return (
            *_gradient_rows(result.gradients),
            *_attention_rows(result),
            *(() if result.jacobian is None else _jacobian_rows(result.jacobian)),
            *(() if result.context is None else _context_rows(str(result.task.get("name")), result.context)),
            *(() if result.costs is None else _cost_rows(result.costs)),
            *_network_rows(result),
        )

    def details(self) -> tuple[TextTable, ...]:
        """Gradient norms at roughly logarithmic steps."""
        norms = self.result.gradients
        last = int(norms.distances[-1])
        steps = [step for step in _TABLE_STEPS if step < last] + [last]
        rows = tuple(
            (f"{step:,}", number(norms.mean[step]), number(norms.low[step]), number(norms.high[step])) for step in steps
        )
        header = ("steps before the last one", "mean norm", "10 % are below", "10 % are above")
        return (TextTable(f"Norms of the gradient dL / d{norms.of}", header, rows, folded=True),)

    def drawings(self) -> Sequence[Chart | HeatMap]:
        return tuple(diagnosis_drawings(self.result))

    def draw(self, ax: Axes) -> None:
        from memspan.presentation.draw.chart import draw_chart

        draw_chart(ax, gradient_chart(self.result, self.result.gradients))


def gradient_words(norms: GradientNorms) -> str:
    """How far back gradients reach, and how large they are there."""
    last = int(norms.distances[-1])
    if not np.isfinite(norms.mean).all():
        return "gradients overflow"
    if norms.mean[0] == 0:
        return "the loss has no gradient at the last step"
    if norms.reach < last:
        return f"gradients reach {norms.reach:,} of {steps_word(last)} back"
    fall = norms.fall
    if 1 / _EQUAL < fall < _EQUAL:
        size = "the same norm as"
    else:
        size = f"{number(fall, 2)} times less norm than" if fall > 1 else f"{number(1 / fall, 2)} times more norm than"
    return f"gradients reach all {steps_word(last)} back with {size} at the end"


def loss_scope(norms: GradientNorms) -> str:
    """Which answers' loss was differentiated."""
    if norms.loss == "whole":
        return "all answers"
    what = "the last answer" if norms.answers == 1 else f"the last {norms.answers:,} answers"
    return f"{what} (with changed targets)" if norms.loss == "changed" else what


def attention_words(result: Diagnosis) -> str | None:
    """The effective number of attended states and their mean distance; None without attention."""
    seen = result.attention
    if seen is None:
        return None
    states = f"{number(seen.states, 2)} {'state' if seen.states < 1.05 else 'states'}"
    return f"attention on {states}, {steps_word(round(seen.distance))} back on average"


def jacobian_words(result: Diagnosis) -> str | None:
    """The mean factor by which a step changes a squared gradient; None where it is unknown."""
    spectrum = result.jacobian
    if spectrum is None:
        return None
    words = f"squared singular values of one step average {number(spectrum.one_step_mean)}"
    return f"{words} (theory: {number(float(spectrum.theory[0]))})" if _has_theory(spectrum) else words


def context_words(found: ContextLoss) -> str:
    """How much context the answers need."""
    read = int(found.context[-1]) + 1
    if read > 1 and not found.helps:
        how = "no better" if found.loss[0] <= found.loss[-1] else "not clearly better"
        return f"the answers are {how} from {steps_word(read)} than from one"
    if found.used + 1 == read:
        return f"the answers need all {steps_word(read)} up to the first of them"
    return f"the answers use the last {found.used + 1:,} of {steps_word(read)} up to the first of them"


def growth_words(costs: TrainingCosts) -> str:
    """How memory grows over the last increase of the length."""
    if len(costs.steps) < 2 or costs.peak[-2] <= 0:
        return "memory"
    longer, more = float(costs.steps[-1] / costs.steps[-2]), float(costs.peak[-1] / costs.peak[-2])
    times = "twice" if longer == 2 else f"{number(longer, 2)} times"
    return f"{times} the length takes {number(more, 2)} times the memory"


def steps_word(count: int) -> str:
    """
    >>> steps_word(1), steps_word(1200)
    ('1 step', '1,200 steps')
    """
    return "1 step" if count == 1 else f"{count:,} steps"


def _gradient_rows(norms: GradientNorms) -> tuple[Row, ...]:
    last, thing = int(norms.distances[-1]), "state" if norms.of == "h" else "token"
    scope = loss_scope(norms)
    return (
        ("gradient of", scope, "The answers whose loss L is differentiated (--loss)."),
        (
            "gradient at the end",
            number(float(norms.mean[0])),
            f"Norm of dL / d{norms.of} at the last {thing}, for the loss L of {scope}.",
        ),
        (
            f"{steps_word(last)} before",
            number(float(norms.mean[-1])),
            f"The same at the first {thing}. If it is much smaller, the network hardly learns from its start.",
        ),
        (
            "gradients reach",
            f"{norms.reach:,} of {steps_word(last)}",
            "The largest number of steps back at which the norm is at least a thousandth of that at the end.",
        ),
    )


def _attention_rows(result: Diagnosis) -> tuple[Row, ...]:
    seen, held = result.attention, result.relevant
    if seen is None:
        return ()
    share = "" if held is None else f"Of an answer's attention; the rest is on the last {held.short_term} states."
    return (
        ("attended states", number(seen.states, 2), "Effective number of states that share an answer's attention."),
        ("attention distance", f"{number(seen.distance)} steps", "Mean number of steps back, weighted by attention."),
        *(() if held is None else (("on the relevant set", percent(held.share), share),)),
    )


def _jacobian_rows(found: JacobianSpectrum) -> tuple[Row, ...]:
    measured = (
        "one step, squared",
        f"{number(found.one_step_mean)} (variance {number(found.one_step_variance)})",
        f"Mean squared singular value of d{found.of} / d{found.of} one step before: below 1 gradients vanish.",
    )
    if not found.theory.size:
        return (measured,)
    theory = (
        "the same in theory",
        f"{number(float(found.theory[0]))} (variance {number(found.theory_variance)})",
        f"Mean-field theory of random {found.theory_weights} weights of the same variances.",
    )
    return (measured, theory)


def _context_rows(task: str, found: ContextLoss) -> tuple[Row, ...]:
    return (
        (
            "context used",
            f"{found.used + 1:,} of {steps_word(int(found.context[-1]) + 1)}",
            "Steps up to the first answer that must be read: more hardly lowers the loss, as far as these sequences show "
            "(--sequences).",
        ),
        ("loss of the answers", loss_words(task, float(found.loss[-1])), "When whole sequences are read."),
    )


def _cost_rows(costs: TrainingCosts) -> tuple[Row, ...]:
    peak, seconds = float(costs.peak[-1]), float(costs.seconds[-1])
    batch = f"a batch of {costs.batch:,} sequences of {steps_word(int(costs.steps[-1]))}"
    return (("training step", f"{number(peak / 1e6)} MB, {duration(seconds)}", f"Peak memory and time of {batch}."),)


def _network_rows(result: Diagnosis) -> tuple[Row, ...]:
    weights = f"With the weights of update {result.update:,}, the best on validation."
    return (
        (
            "network",
            f"{result.cell}, {result.hidden:,} units",
            weights if result.update else "As stored in its folder.",
        ),
        (
            "task",
            task_words(str(result.task.get("name")), {"task": result.task}),
            f"{result.sequences:,} test sequences of {steps_word(result.steps)}.",
        ),
        ("time", duration(result.seconds), "Time of the diagnosis."),
        ("run" if result.update else "model", result.run, "The folder of the weights."),
    )


def diagnosis_drawings(result: Diagnosis) -> Iterator[Chart | HeatMap]:
    """Every figure as plain data; what the cell or the task does not have is left out."""
    yield gradient_chart(result, result.gradients)
    if result.attention is not None:
        yield _attention_map(result, result.attention)
    if result.relevant is not None:
        yield _relevant_map(result, result.relevant)
    if result.jacobian is not None:
        yield _jacobian_chart(result, result.jacobian)
        yield _spectrum_chart(result, result.jacobian)
    if result.context is not None and result.context.context.size > 1:
        yield _context_chart(result, result.context)
    if result.costs is not None:
        yield _memory_chart(result, result.costs)
        yield _time_chart(result, result.costs)


def gradient_chart(result: Diagnosis, norms: GradientNorms) -> Chart:
    """||dL/dh_t|| against the number of steps before the last one."""
    shown = norms.mean[np.isfinite(norms.mean) & (norms.mean > 0)]
    low, high = (shown.min(), shown.max()) if shown.size else (1.0, 1.0)
    first = norms.answers - 0.5
    lines = [
        line(
            f"mean of {norms.sequences:,} sequences; band: 80 % of them",
            norms.distances,
            norms.mean,
            band=(norms.low, norms.high),
        )
    ]
    if norms.loss != "whole" and norms.answers > 1:
        lines.append(line(f"the last {norms.answers} answers begin", [first, first], [low, high], style="dashed"))
    of = f"a state h of {result.cell}" if norms.of == "h" else f"the embedding x of a token that {result.cell} reads"
    return Chart(
        name="gradients",
        title=f"{result.name}: {gradient_words(norms)}",
        x_label="steps before the last one",
        y_label=f"gradient norm |dL / d{norms.of}|",
        x_scale="linear",
        y_scale="log",
        lines=tuple(lines),
        caption=f"Norm of the gradient of the loss of {loss_scope(norms)} with respect to {of}, against the number of steps "
        "before the last one. To learn from early steps, a network needs gradients that reach them: where the line falls to "
        "the right, early steps hardly take part in learning. Every path to the loss counts, including shortcuts by "
        "attention.",
    )


def _attention_map(result: Diagnosis, seen: AttentionMap) -> HeatMap:
    places = _block_centers(seen.steps, seen.block)
    of = "a state" if seen.block == 1 else f"{seen.block} states together"
    return HeatMap(
        name="attention",
        title=f"{result.name}: {attention_words(result)}",
        x_label="step of the attended state",
        y_label="attending step",
        value_label=f"attention weight of {of}",
        value_scale="log",
        x=places,
        y=places,
        values=_past(seen.weights),
        highest=1.0,
        edge=_NO_EDGE,
        edge_label="",
        lines=_answers_line(result),
        caption="Each row is a step and shows how its attention is distributed over past states, averaged over "
        f"{seen.sequences:,} sequences; bright means much. The future is hatched. {_block_words(seen.block)}The title gives "
        "the effective number of states that share an answer's attention (exp of its entropy).",
    )


def _relevant_map(result: Diagnosis, held: RelevantSet) -> HeatMap:
    places = _block_centers(held.steps, held.block)
    share = "share of sequences that store it"
    return HeatMap(
        name="relevant",
        title=f"{result.name}: {percent(held.share)} of an answer's attention is on its "
        f"{held.relevant:,} relevant states",
        x_label="step of the stored state",
        y_label="step at which it is stored",
        value_label=share if held.block == 1 else f"of {held.block} states, stored on average",
        value_scale="linear",
        x=places,
        y=places,
        values=_past(held.held),
        highest=float(held.block),
        edge=_NO_EDGE,
        edge_label="",
        lines=_answers_line(result),
        caption=f"A state stays in the short-term buffer for {steps_word(held.short_term)}; then it moves to the relevant "
        f"set if it received more attention there than the least relevant of the {held.relevant:,} stored states. A bright "
        f"column is a state that is stored for long in most of {held.sequences:,} sequences; dark ones are dropped. "
        f"{_block_words(held.block)}The future is hatched.",
    )


def _block_centers(steps: int, block: int) -> NDArray[np.float64]:
    """The centers of the blocks, with steps counted from 1."""
    begins = np.arange(0, steps, block)
    return 0.5 + (begins + np.minimum(begins + block, steps)) / 2


def _past(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The values with the future, above the diagonal, as NaN."""
    return np.where(np.tril(np.ones_like(values, dtype=bool)), values, np.nan)


def _answers_line(result: Diagnosis) -> tuple[Line, ...]:
    place = result.answers_from - 0.5
    return (line("the answers begin", [0.5, result.steps + 0.5], [place, place], style="dashed"),)


def _block_words(block: int) -> str:
    return "" if block == 1 else f"One square is a block of {block} steps by {block} states. "


def _jacobian_chart(result: Diagnosis, found: JacobianSpectrum) -> Chart:
    """Singular values of ds_T/ds_{T-k} against k."""
    rms, distances = np.sqrt(found.mean_square), found.distances
    band = (found.quantiles[:, 1], found.quantiles[:, 3])
    lines = [
        line("root mean square; band: 80 % of the values", distances, rms, band=band),
        line("largest", distances, found.quantiles[:, 4], style="dashed"),
    ]
    if _has_theory(found):
        lines.append(line("root mean square in theory", distances, np.sqrt(found.theory), style="dashed"))
    factor = number(float(rms[-1]), 2)
    return Chart(
        name="jacobian",
        title=f"{result.name}: over {distances[-1]:,} steps a change of the state is multiplied by {factor}",
        x_label="steps k between the two states",
        y_label=f"singular value of the Jacobian of {found.of}",
        x_scale="log",
        y_scale="log",
        lines=tuple(lines),
        caption=f"Growth of a small change of the state {found.of} from k steps before the end to the end, in each "
        f"direction, along {found.sequences:,} sequences at the trained weights. Values far below 1 vanish, far above 1 "
        f"explode; both prevent learning over that distance.{_theory_words(found)}",
    )


def _spectrum_chart(result: Diagnosis, found: JacobianSpectrum) -> Chart:
    """The distribution of the singular values of single steps."""
    shares = np.linspace(0, 100, found.one_step.size)
    lines = [line("singular values of one step", found.one_step, shares)]
    lines.append(_vertical(f"root mean square, {number(found.one_step_mean**0.5)}", found.one_step_mean))
    if _has_theory(found):
        mean = float(found.theory[0])
        lines.append(_vertical(f"root mean square in theory, {number(mean**0.5)}", mean))
    return Chart(
        name="spectrum",
        title=f"{result.name}: {jacobian_words(result)}",
        x_label=f"singular value of d{found.of} / d{found.of} one step before",
        y_label="cumulative share of the values (%)",
        x_scale="linear",
        y_scale="linear",
        lines=tuple(lines),
        caption="In each direction a step multiplies a small change of the state by one singular value; the line is their "
        f"cumulative distribution, at steps all along {found.sequences:,} sequences. The mean of their squares is the "
        f"factor by which one step changes a squared gradient.{_theory_words(found)}",
    )


def _has_theory(found: JacobianSpectrum) -> bool:
    return found.theory.size > 0 and bool(np.isfinite(found.theory[0]))


def _vertical(label: str, mean_square: float) -> Line:
    place = mean_square**0.5
    return line(label, [place, place], [0, 100], style="dashed")


def _theory_words(found: JacobianSpectrum) -> str:
    if not _has_theory(found):
        return ""
    return (
        f" Mean-field theory assumes wide networks with random {found.theory_weights} weights of the same variances and "
        "random inputs; trained weights have additional structure."
    )


def _context_chart(result: Diagnosis, found: ContextLoss) -> Chart:
    """The loss against the number of steps read."""
    task = str(result.task.get("name"))
    low, high = (loss_in_unit(task, found.loss + errors * found.error) for errors in (-2, 2))
    loss = loss_in_unit(task, found.loss)
    wide = loss.min() > 0 and loss.max() > 10 * loss.min()
    label = f"mean of {found.sequences:,} sequences, ± two standard errors"
    band = (low, high) if np.isfinite(found.error).all() else None
    return Chart(
        name="context",
        title=f"{result.name}: {context_words(found)}",
        x_label="steps read up to the first answer",
        y_label=f"loss of the answers, {loss_unit(task)}",
        x_scale="log",
        y_scale="log" if wide else "linear",
        lines=(line(label, found.context + 1, loss, band=band),),
        caption="The network starts with an empty memory this number of steps before its answers and reads only what "
        "follows. Where the line keeps falling, the network uses that much context; where it is flat, more context does not "
        "help. It was trained on whole sequences, so parts of them may do worse than no context.",
    )


def _memory_chart(result: Diagnosis, costs: TrainingCosts) -> Chart:
    return Chart(
        name="memory",
        title=f"{result.cell} of {result.hidden:,} units: {growth_words(costs)}",
        x_label="length of the sequence (steps)",
        y_label="peak memory of a training step (MB)",
        x_scale="linear",
        y_scale="linear",
        lines=_with_proportion(costs.steps, costs.peak / 1e6),
        caption=f"Forward and backward pass of one batch of {costs.batch:,} sequences, in a separate process, minus what "
        "the process held before. Main memory, whatever device the network was trained on.",
    )


def _time_chart(result: Diagnosis, costs: TrainingCosts) -> Chart:
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
        caption=f"The same runs, with {threads}. Other work on the machine affects these times.",
    )


def _with_proportion(steps: NDArray[np.int64], values: NDArray[np.float64]) -> tuple[Line, Line]:
    proportion = values[-1] * steps / steps[-1]
    return (line("measured", steps, values), line("proportional to the length", steps, proportion, style="dashed"))

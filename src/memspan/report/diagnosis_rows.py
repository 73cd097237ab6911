"""Every quantity of a diagnosis with its value and what it means."""

from __future__ import annotations

from memspan.figures.diagnosis_words import judged_words, steps_word
from memspan.figures.training_words import loss_words, percent, task_words
from memspan.report.numbers import duration, number
from memspan.report.section import Row, Table
from memspan.results import ContextLoss, Diagnosis, GradientNorms, JacobianSpectrum, TrainingCosts


def diagnosis_rows(result: Diagnosis) -> tuple[Row, ...]:
    """What was found first, then of which network and on what."""
    context, jacobian = result.context, result.jacobian
    return (
        *_gradient_rows(result.gradients),
        *_attention_rows(result),
        *(() if jacobian is None else _jacobian_rows(jacobian)),
        *(() if context is None else _context_rows(str(result.task.get("name")), context)),
        *(() if result.costs is None else _cost_rows(result.costs)),
        *_network_rows(result),
    )


def gradient_table(norms: GradientNorms) -> Table:
    """Norms at some distances, evenly spread over the logarithm."""
    last, wanted = int(norms.distances[-1]), (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000)
    shown = [distance for distance in wanted if distance < last] + [last]
    rows = tuple(
        (
            f"{distance:,}",
            number(norms.mean[distance]),
            number(norms.low[distance]),
            number(norms.high[distance]),
        )
        for distance in shown
    )
    header = ("steps before the last one", "mean norm", "10 % are below", "10 % are above")
    return Table(f"Norms of the gradient dL / d{norms.of}", header, rows, folded=True)


def _gradient_rows(norms: GradientNorms) -> tuple[Row, ...]:
    last, thing = int(norms.distances[-1]), "state" if norms.of == "h" else "token"
    return (
        (
            "gradient of",
            judged_words(norms),
            "Whose loss L it is that is differentiated (--loss).",
        ),
        (
            "gradient at the end",
            number(float(norms.mean[0])),
            f"How much the loss of {judged_words(norms)} depends on the last {thing}: the norm of dL / d{norms.of}.",
        ),
        (
            f"{steps_word(last)} before",
            number(float(norms.mean[-1])),
            f"The same for the first {thing}. Where it is much smaller, the network hardly learns from its start.",
        ),
        (
            "gradients reach",
            f"{norms.reach:,} of {steps_word(last)}",
            "How far back the norm is still a thousandth of that at the end.",
        ),
    )


def _attention_rows(result: Diagnosis) -> tuple[Row, ...]:
    seen, held = result.attention, result.relevant
    if seen is None:
        return ()
    rows: list[Row] = [
        (
            "states looked at",
            number(seen.states, 2),
            "Among how many states an answer's attention is shared.",
        ),
        (
            "looks back",
            f"{number(seen.distance)} steps",
            "How long ago these states were, on average by attention.",
        ),
    ]
    if held is not None:
        rows.append(
            (
                "on the relevant set",
                percent(held.share),
                f"Of an answer's attention; the rest is on the last {held.short_term} states.",
            )
        )
    return tuple(rows)


def _jacobian_rows(found: JacobianSpectrum) -> tuple[Row, ...]:
    rows: list[Row] = [
        (
            "one step, squared",
            f"{number(found.one_step_mean)} (variance {number(found.one_step_variance)})",
            f"Mean squared singular value of d{found.of} / d{found.of} one step before: below 1 gradients vanish.",
        )
    ]
    if found.theory.size:
        rows.append(
            (
                "the same in theory",
                f"{number(float(found.theory[0]))} (variance {number(found.theory_variance)})",
                f"What mean-field theory says of random {found.theory_weights} weights of the same variances.",
            )
        )
    return tuple(rows)


def _context_rows(task: str, found: ContextLoss) -> tuple[Row, ...]:
    return (
        (
            "context used",
            f"{found.used + 1:,} of {steps_word(int(found.context[-1]) + 1)}",
            "The steps up to the first answer that it must have read: more hardly lowers the loss, as far as these "
            "sequences tell (--sequences).",
        ),
        (
            "loss of the answers",
            loss_words(task, float(found.loss[-1])),
            "When whole sequences are read.",
        ),
    )


def _cost_rows(costs: TrainingCosts) -> tuple[Row, ...]:
    peak, seconds = float(costs.peak[-1]), float(costs.seconds[-1])
    return (
        (
            "training step",
            f"{number(peak / 1e6)} MB, {duration(seconds)}",
            f"Peak memory and time of a batch of {costs.batch:,} sequences of {steps_word(int(costs.steps[-1]))}.",
        ),
    )


def _network_rows(result: Diagnosis) -> tuple[Row, ...]:
    return (
        (
            "network",
            f"{result.cell}, {result.hidden:,} units",
            f"With the weights of update {result.update:,}, the best on validation."
            if result.update
            else "As its folder holds it.",
        ),
        (
            "task",
            task_words(str(result.task.get("name")), {"task": result.task}),
            f"{result.sequences:,} test sequences of {steps_word(result.steps)}.",
        ),
        ("time", duration(result.seconds), "How long the diagnosis took."),
        ("run" if result.update else "model", result.run, "The folder of the weights."),
    )

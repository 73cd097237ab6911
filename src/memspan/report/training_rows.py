"""Every quantity of a training or an evaluation with its value and what it means."""

from __future__ import annotations

import json
from typing import Any

from memspan.figures.training_words import TEXTS, answers_word, loss_words, percent, percent_interval
from memspan.report.numbers import duration, number, trimmed
from memspan.report.second_goal_rows import goal_rows
from memspan.report.section import Row, Table
from memspan.results import Evaluation, TrainingRun


def training_rows(run: TrainingRun) -> tuple[Row, ...]:
    """What was reached, then what it took."""
    return (
        *_accuracy_rows(run),
        *_loss_rows(run),
        (
            "without memory",
            loss_words(run.task, run.baseline),
            "The loss of the best answers that need no memory.",
        ),
        *(() if run.second_goal is None else goal_rows(run.second_goal)),
        ("parameters", f"{run.parameter_count:,}", "Numbers that are learnt."),
        ("updates", f"{run.updates:,}", "Times that the weights were changed."),
        (
            "best update",
            f"{run.best_update:,}",
            "Whose weights had the lowest loss on validation; they are judged.",
        ),
        ("stopped because", run.stopped, "Why it is over."),
        ("time", duration(run.seconds), "Spent on training, in all sessions."),
        ("run", run.run, "The folder with configuration, metrics and checkpoints."),
    )


def _loss_rows(run: TrainingRun) -> tuple[Row, ...]:
    """Of a text, whose two numbers one expects, that of the validation as well."""
    what = "On the test sequences, which played no part in training."
    if run.task not in TEXTS:
        return (("loss", loss_words(run.task, run.loss), what),)
    rows: list[Row] = [("on test", loss_words(run.task, run.loss), what)]
    if run.validation_loss.size:
        lowest = loss_words(run.task, float(run.validation_loss.min()))
        rows.append(
            ("on validation", lowest, "The lowest of the validations: it is by this that weights are chosen.")
        )
    return tuple(rows)


def _accuracy_rows(run: TrainingRun) -> tuple[Row, ...]:
    if run.accuracy is None:
        return ()
    what = f"Share of {answers_word(run.task)} that are right, on the test sequences."
    return (
        ("accuracy", percent(run.accuracy), what),
        ("chance", f"{trimmed(100 * run.chance)} %", "What guessing among the possible answers gives."),
    )


def evaluation_rows(evaluation: Evaluation) -> tuple[Row, ...]:
    """Which network, and on what."""
    trained = evaluation.trained_delay
    rows: list[Row] = [
        ("cell", evaluation.cell, f"{evaluation.parameter_count:,} numbers were learnt."),
        (
            "weights",
            f"of update {evaluation.best_update:,}",
            f"Those with the lowest loss on validation, of {evaluation.updates:,} updates so far.",
        ),
        ("split", evaluation.split, "Which sequences; those of test played no part in training."),
    ]
    if trained is not None:
        rows.append(
            (f"trained at {evaluation.distance}", f"{trained:,}", "Steps over which it learnt to remember.")
        )
    if evaluation.accuracy is not None:
        guess = f"{trimmed(100 * evaluation.chance)} %"
        rows.append(("chance", guess, "What guessing among the possible answers gives."))
    return (
        *rows,
        ("time", duration(evaluation.seconds), "How long the evaluation took."),
        ("run", evaluation.run, "The folder of the weights."),
    )


def transfer_table(evaluation: Evaluation) -> Table:
    """One row for each delay."""
    task = evaluation.task
    if task in TEXTS:
        rows = tuple(
            (
                "all" if one.delay is None else f"at most {one.delay:,}",
                loss_words(task, one.loss),
                loss_words(task, one.baseline),
                f"{one.sequences:,}",
            )
            for one in evaluation.transfer
        )
        return Table("How well the text is foretold", ("context", "loss", "without memory", "pieces"), rows)
    rows = tuple(
        (
            *(() if one.delay is None else (f"{one.delay:,}",)),
            percent(one.accuracy),
            percent_interval(one.interval),
            number(one.loss),
            number(one.baseline),
            f"{one.sequences:,}",
        )
        for one in evaluation.transfer
    )
    first = () if evaluation.distance is None else (evaluation.distance,)
    return Table(
        "What is remembered",
        (*first, "right", "95 % interval", "loss", "loss without memory", "sequences"),
        rows,
    )


def config_tables(config: dict[str, Any]) -> tuple[Table, ...]:
    """The whole configuration, to be opened by whoever wants it."""
    rows = tuple(
        (f"{name}.{key}", json.dumps(value))
        for name, section in config.items()
        if isinstance(section, dict)
        for key, value in section.items()
    )
    plain = tuple((name, json.dumps(value)) for name, value in config.items() if not isinstance(value, dict))
    return (
        Table("The configuration, as --set names it", ("setting", "value"), (*rows, *plain), folded=True),
    )

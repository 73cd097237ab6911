"""The first lines of `train`, `resume` and `evaluate`: how much is remembered, after how much learning."""

from __future__ import annotations

from pathlib import Path

from memspan.figures.training_words import (
    TEXTS,
    answers_word,
    chance_words,
    loss_words,
    percent,
    percent_interval,
    task_words,
)
from memspan.report.written_rows import written_words
from memspan.results import Evaluation, TrainingRun, Transfer

_HARDLY = 0.1
"""A share of the way from guessing to all right that is not worth more than a guess."""
_EASIER = {"delay": "a shorter delay", "length": "shorter sequences", "steps": "fewer steps (task.steps)"}
"""What makes a task easier, by the name of its option."""


def training_sentence(run: TrainingRun) -> str:
    """What a training came to, in one line.

    `copy, delay 100, rel-rnn: 99.9 % of recalled symbols right after 8,250 updates (chance 12.5 %)`
    """
    start = f"{task_words(run.task, run.config)}, {run.cell}: "
    after = f"after {run.best_update:,} {'update' if run.best_update == 1 else 'updates'}"
    if run.accuracy is None:
        without = loss_words(run.task, run.baseline)
        split = " on test" if run.task in TEXTS else ""
        return f"{start}{loss_words(run.task, run.loss)}{split} {after} (without memory {without})"
    right = f"{percent(run.accuracy)} of {answers_word(run.task)} right"
    return f"{start}{right} {after} ({chance_words(run.chance)})"


def evaluation_sentence(evaluation: Evaluation) -> str:
    """What is remembered at the last delay, in one line.

    `copy, delay 5,000, rel-rnn trained at delay 100: 99.4 % [99.1 %, 99.6 %] of recalled symbols right (chance 12.5 %)`
    """
    last = evaluation.transfer[-1]
    return f"{_where(evaluation, last)}: {_found(evaluation, last)}{written_words(evaluation)}"


def _where(evaluation: Evaluation, last: Transfer) -> str:
    name = evaluation.distance
    if name is None or last.delay is None:
        return f"{task_words(evaluation.task, evaluation.config)}, {evaluation.cell}"
    trained = evaluation.trained_delay
    other = f" trained at {name} {trained:,}" if trained is not None and trained != last.delay else ""
    return f"{evaluation.task}, {name} {last.delay:,}, {evaluation.cell}{other}"


def _found(evaluation: Evaluation, last: Transfer) -> str:
    if last.accuracy is None:
        without = loss_words(evaluation.task, last.baseline)
        return f"{loss_words(evaluation.task, last.loss)} (without memory {without})"
    sure = percent_interval(last.interval)
    right = f"{percent(last.accuracy)} {sure} of {answers_word(evaluation.task)} right"
    return f"{right} ({chance_words(evaluation.chance)})"


def training_notes(run: TrainingRun) -> tuple[str, ...]:
    """What a reader should know before trusting or using the weights."""
    if run.accuracy is None or run.accuracy > run.chance + _HARDLY * (1 - run.chance):
        return run.notes
    easier = [words for name, words in _EASIER.items() if name in run.config.get("task", {})]
    advice = ", ".join([_more(run), *easier[:1]])
    return (
        *run.notes,
        f"the answers are hardly better than guesses: it has not learnt to remember; give it more {advice} or another cell",
    )


def _more(run: TrainingRun) -> str:
    """Of what the run has had too little, and how to give it more."""
    training, folder = run.config.get("training", {}), _resumed(Path(run.run))
    limit, minutes = training.get("updates", run.updates), training.get("max_minutes")
    if minutes is not None and run.updates < limit:
        return f"time (memspan resume {folder} --max-minutes {2 * minutes:g})"
    return f"updates (memspan resume {folder} --updates {max(2 * run.updates, limit, 1_000)})"


def _resumed(run: Path) -> Path:
    """The folder to go on with: that of all seeds, where a run is one of several."""
    return run.parent if (run.parent / "seeds.json").is_file() else run

"""What follows the sentence of `train`, `resume` and `evaluate`: the facts, and what to type next."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from memspan.cli.tables import print_table, show_notes
from memspan.figures.training_words import TEXTS
from memspan.report.training_rows import evaluation_rows, training_rows, transfer_table
from memspan.report.training_sentences import training_notes
from memspan.report.written_rows import written_table
from memspan.results import Evaluation, TrainingRun

_FARTHER = (2, 10)
"""Times the trained delay, at which an evaluation is worth trying."""


def show_training(console: Console, result: TrainingRun, folder: Path) -> None:
    """Facts first, then what can be done with the run, which is the best of its seeds where `folder` holds several."""
    print_table(console, (), [*((name, value) for name, value, _ in training_rows(result)), *_next(result)])
    seeds = () if Path(result.run) == folder else (f"the best of the seeds in {folder} by validation loss",)
    show_notes(console, (*seeds, *training_notes(result)))


def show_evaluation(console: Console, result: Evaluation) -> None:
    """One row for each delay, then which network it was."""
    table = transfer_table(result)
    print_table(console, table.header, table.rows)
    written = written_table(result)
    rows = (*(() if written is None else written.rows), *evaluation_rows(result))
    print_table(console, (), [(name, value) for name, value, _ in rows])
    show_notes(console, result.notes)


def _next(result: TrainingRun) -> list[tuple[str, str]]:
    task = result.config.get("task", {})
    delay = task.get("delay", task.get("length"))
    farther = "".join(f" --delay {times * delay}" for times in _FARTHER) if isinstance(delay, int) else ""
    commands = [f"memspan evaluate {result.run}{farther}", f"memspan diagnose {result.run}"]
    if result.task in TEXTS:
        commands += [f"memspan sample {result.run}", f"memspan measure run:{result.run}"]
    return [("" if position else "next", command) for position, command in enumerate(commands)]

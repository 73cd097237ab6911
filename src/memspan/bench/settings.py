"""The benchmark `settings`: does every cell learn every task with its default hyperparameters?"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

from memspan.bench.timing import cost_benchmark
from memspan.cells import CELLS
from memspan.progress import SILENT, Progress
from memspan.reproductions.trainings import train_all, training_config
from memspan.results import Benchmark
from memspan.tasks.catalog import CATALOG
from memspan.training.supervised.build import build_model


@final
@dataclass(frozen=True, kw_only=True)
class Trial:
    """A short version of a task, and the number of updates."""

    task: dict[str, Any]
    updates: int


def _trials() -> dict[str, Trial]:
    # Short versions of the tasks: all cells together take half an hour.
    digits = Trial(task={"data": "digits", "steps": 16}, updates=600)
    return {
        "copy": Trial(task={"delay": 10}, updates=2_000),
        "denoise": Trial(task={"delay": 10}, updates=2_000),
        "adding": Trial(task={"length": 20}, updates=1_000),
        "noisy-digits": Trial(task={"data": "digits", "delay": 5}, updates=1_000),
        "digits": digits,
        "permuted-digits": digits,
        "binary": Trial(task={"length": 128}, updates=800),
        "characters": Trial(task={"data": "python", "steps": 50}, updates=200),
        "words": Trial(task={"data": "python", "steps": 20, "most": 2_000}, updates=200),
    }


@final
@dataclass(frozen=True, kw_only=True)
class Trials:
    """All combinations of these tasks and cells."""

    tasks: dict[str, Trial] = field(default_factory=_trials)
    cells: tuple[str, ...] | None = None
    """None: every cell."""
    workers: int | None = None


FULL = Trials()


def settings(progress: Progress = SILENT, trials: Trials = FULL) -> tuple[Benchmark, ...]:
    """The loss on new sequences after a short training, next to the best loss of a memoryless baseline."""
    configs = {
        f"{task}-{cell}": training_config(
            task,
            cell,
            0,
            {
                "task": trial.task,
                "training": {
                    "updates": trial.updates,
                    "validate_every": min(200, trial.updates),
                    "validation_batches": 3,
                },
            },
        )
        for task, trial in trials.tasks.items()
        for cell in trials.cells or CELLS
    }
    for config in configs.values():
        build_model(config)  # reports a model that cannot be built before any training
    with tempfile.TemporaryDirectory(prefix="memspan-") as folder:
        runs = train_all(configs, Path(folder), progress, workers=trials.workers)
    return tuple(
        cost_benchmark(
            f"{run.task}, {run.cell}, {run.updates:,} updates"
            + ("" if run.accuracy is None else f", {run.accuracy:.1%} correct"),
            "memoryless baseline",
            run.loss,
            run.baseline,
            "squared error" if CATALOG[run.task].loss_unit == "squared error" else "nats",
        )
        for run in runs.values()
    )

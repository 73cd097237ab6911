"""The benchmark `settings`: does every cell learn every task with the settings it has by default?"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

from memspan.bench.timing import beside
from memspan.errors import check_models
from memspan.progress import SILENT, Progress
from memspan.results import Benchmark


@final
@dataclass(frozen=True, kw_only=True)
class Trial:
    """A task made short, and for how many updates it is learnt."""

    task: dict[str, Any]
    updates: int


def _trials() -> dict[str, Trial]:
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
    """What is tried: every one of these tasks with every one of these cells."""

    tasks: dict[str, Trial] = field(default_factory=_trials)
    cells: tuple[str, ...] | None = None
    """None: every cell there is."""
    workers: int | None = None


FULL = Trials()


def settings(progress: Progress = SILENT, trials: Trials = FULL) -> tuple[Benchmark, ...]:
    """The loss on new sequences after a short training, next to the best loss without memory."""
    check_models("this benchmark")
    from memspan.cells.names import CELLS
    from memspan.reproductions.trainings import train_all, training_config
    from memspan.training.building import build_model

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
        build_model(config)  # one that cannot be built is told before the first is trained
    with tempfile.TemporaryDirectory(prefix="memspan-") as folder:
        runs = train_all(configs, Path(folder), progress, workers=trials.workers)
    return tuple(
        beside(
            f"{run.task}, {run.cell}, {run.updates:,} updates"
            + ("" if run.accuracy is None else f", {run.accuracy:.1%} right"),
            "without memory",
            run.loss,
            run.baseline,
            "squared error" if run.task == "adding" else "nats",
        )
        for run in runs.values()
    )

"""The trainings of a recipe: several in parallel, each in its own folder. Finished ones are read, stopped ones resumed."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from memspan.engines import Processes, available_cores
from memspan.errors import InputError
from memspan.progress import SILENT, Progress
from memspan.results import TrainingRun
from memspan.results.files import write_text
from memspan.training import Config, resume, train
from memspan.training.run.config import merge
from memspan.training.run.folder import RunFolder
from memspan.training.run.loop import DivergenceError
from memspan.training.supervised.config import from_json, read_run_config, resolve, to_json
from memspan.training.supervised.defaults import defaults

T = TypeVar("T")

# One thread for each training, so that its numbers do not depend on how many run in parallel.
_ONE_THREAD: dict[str, Any] = {"training": {"threads": 1, "device": "cpu"}}
# Settings of the sources for cells whose defaults differ.
_AS_PUBLISHED: dict[str, dict[str, Any]] = {
    "rnn": {"init": {"name": "default"}},
    "sab-lstm": {
        "cell": {"output_context": True},
        "init": {"name": "default"},
        "training": {"optimizer": "adam", "learning_rate": 1e-3, "batch": 64},
    },
}
# More batches than any text has: validation reads every symbol of its split once.
WHOLE: dict[str, Any] = {"validation_batches": 1_000_000}


def training_config(task: str, cell: str, seed: int, *settings: dict[str, Any]) -> Config:
    """The default settings of a task and cell, updated by `settings` in this order."""
    plain = merge(defaults(task, cell), _ONE_THREAD)
    for each in settings:
        plain = merge(plain, each)
    return from_json({**plain, "seed": seed}, "the recipe")


def recall_config(
    task: str, cell: str, seed: int, *, delay: int, hidden: int, updates: int, options: dict[str, Any] | None = None
) -> Config:
    """The training of copy or denoise at one delay; `options` are those of the cell."""
    settings = {
        "task": {"delay": delay},
        "cell": {"hidden": hidden, **(options or {})},
        "training": {"updates": updates, "validate_every": min(250, updates), "validation_batches": 10},
    }
    return training_config(task, cell, seed, _AS_PUBLISHED.get(cell, {}), settings)


def train_all(
    configs: dict[str, Config], runs: Path, progress: Progress, *, workers: int | None = None
) -> dict[str, TrainingRun]:
    """Train every configuration in the folder of its name below `runs`, in the order given, by default one per core."""
    return _parallel(_train, configs, runs, progress, workers)


def train_converging(
    configs: dict[str, Config], runs: Path, progress: Progress, *, workers: int | None = None
) -> dict[str, TrainingRun]:
    """The same without those that diverge: another seed may not."""
    found = _parallel(_train_if_converging, configs, runs, progress, workers)
    return {name: run for name, run in found.items() if run is not None}


def train_or_read(config: Config, folder: Path, progress: Progress = SILENT) -> TrainingRun:
    """One training: read if it is finished, resumed if it was stopped, else started."""
    result = folder / "result.json"
    if not RunFolder(folder).config_file.exists():
        run = train(config, folder, progress=progress)
    else:
        _check_same(config, RunFolder(folder))
        if result.exists():
            read = TrainingRun.from_json(json.loads(result.read_text()))
            return dataclasses.replace(read, run=str(folder))  # the folder may have been moved
        run = resume(folder, progress=progress)
    write_text(result, json.dumps({"command": "train", **run.to_json()}) + "\n")
    return run


def _check_same(config: Config, folder: RunFolder) -> None:
    if to_json(read_run_config(folder)) != to_json(resolve(config)):
        raise InputError(
            f"{folder.path} holds a training with different settings; give another --out, or delete the folder"
        )


def _parallel(
    work: Callable[[tuple[Config, Path]], T],
    configs: dict[str, Config],
    runs: Path,
    progress: Progress,
    workers: int | None,
) -> dict[str, T]:
    engine = Processes(min(workers or available_cores(), len(configs)))
    jobs = [(config, runs / name) for name, config in configs.items()]
    with progress.stage(f"{len(jobs)} trainings", len(jobs)) as stage:
        found = engine.map(work, jobs, done=stage.advance)
    return dict(zip(configs, found, strict=True))


def _train(job: tuple[Config, Path]) -> TrainingRun:
    return train_or_read(*job)


def _train_if_converging(job: tuple[Config, Path]) -> TrainingRun | None:
    try:
        return _train(job)
    except DivergenceError:
        return None

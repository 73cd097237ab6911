"""The trainings of a recipe: several at once, each in a folder of its own, so that what is finished is not done again."""

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
from memspan.results.atomic import write_text
from memspan.training import Config, resume, train
from memspan.training.config_json import from_json, merged, to_json
from memspan.training.defaults import defaults
from memspan.training.loop import DivergenceError
from memspan.training.resolving import resolved
from memspan.training.run_folder import RunFolder

T = TypeVar("T")

_ALONE: dict[str, Any] = {"training": {"threads": 1, "device": "cpu"}}
"""Every training has one thread, so that its numbers do not depend on how many run beside it."""
_AS_PUBLISHED: dict[str, dict[str, Any]] = {
    "rnn": {"init": {"name": "default"}},
    "sab-lstm": {
        "init": {"name": "default"},
        "training": {"optimizer": "rmsprop", "learning_rate": 1e-3},
    },
}
"""Cells whose default settings are not the sources', which recipes of theirs keep."""
WHOLE: dict[str, Any] = {"validation_batches": 1_000_000}
"""More batches than any text has, and what ends is used once: validation is by every symbol of its split."""


def configured(task: str, cell: str, seed: int, *more: dict[str, Any]) -> Config:
    """The default settings of a task and cell, with some replaced."""
    plain = merged(defaults(task, cell), _ALONE)
    for settings in more:
        plain = merged(plain, settings)
    return from_json({**plain, "seed": seed}, "the recipe")


def recalling(
    task: str,
    cell: str,
    seed: int,
    *,
    delay: int,
    hidden: int,
    updates: int,
    options: dict[str, Any] | None = None,
) -> Config:
    """So many updates of copy or denoise at some delay; `options` are the cell's own."""
    settings = {
        "task": {"delay": delay},
        "cell": {"hidden": hidden, **(options or {})},
        "training": {"updates": updates, "validate_every": min(250, updates), "validation_batches": 10},
    }
    return configured(task, cell, seed, _AS_PUBLISHED.get(cell, {}), settings)


def train_all(
    configs: dict[str, Config], runs: Path, progress: Progress, *, workers: int | None = None
) -> dict[str, TrainingRun]:
    """The run of every configuration by its name, which is also that of its folder below `runs`.

    Longest first would need to know which is; they begin in the order given, as many at once as there are cores.
    """
    return _side_by_side(trained, configs, runs, progress, workers)


def try_all(
    configs: dict[str, Config], runs: Path, progress: Progress, *, workers: int | None = None
) -> dict[str, TrainingRun]:
    """The same without those that diverged."""
    found = _side_by_side(tried, configs, runs, progress, workers)
    return {name: run for name, run in found.items() if run is not None}


def _side_by_side(
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


def tried(job: tuple[Config, Path]) -> TrainingRun | None:
    """The same, or None where it diverged: another seed may not."""
    try:
        return trained(job)
    except DivergenceError:
        return None


def trained(job: tuple[Config, Path], progress: Progress = SILENT) -> TrainingRun:
    """One training: read where it is finished, gone on with where it was stopped, else begun."""
    config, folder = job
    result = folder / "result.json"
    if not RunFolder(folder).config_file.exists():
        run = train(config, folder, progress=progress)
    else:
        _check_same(config, RunFolder(folder))
        if result.exists():
            read = TrainingRun.from_json(json.loads(result.read_text()))
            return dataclasses.replace(read, run=str(folder))  # which may have been moved
        run = resume(folder, progress=progress)
    write_text(result, json.dumps({"command": "train", **run.to_json()}) + "\n")
    return run


def _check_same(config: Config, folder: RunFolder) -> None:
    if to_json(folder.config()) != to_json(resolved(config)):
        raise InputError(
            f"{folder.path} was trained with other settings than are wanted; give another --out, or remove it"
        )

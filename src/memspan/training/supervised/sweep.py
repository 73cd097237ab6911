"""Several supervised trainings at once: the best of k seeds, or named configurations."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from memspan.errors import InputError
from memspan.progress import SILENT, Progress
from memspan.results import TrainingRun
from memspan.results.encoding import dumps
from memspan.results.files import write_text
from memspan.training.run.config import with_limits
from memspan.training.run.folder import RunFolder
from memspan.training.run.journal import check_tensorboard
from memspan.training.run.loop import DivergenceError, TrainingInterrupted
from memspan.training.run.machine import is_distributed
from memspan.training.run.sweep import (
    TrainingJob,
    check_same_seeds,
    check_seeds,
    holds_seeds,
    read_seeds,
    seed_jobs,
    train_many,
    write_seeds,
)
from memspan.training.supervised.config import Config, check_config, from_json, read_run_config, resolve, to_json
from memspan.training.supervised.training import resume, train

Job = TrainingJob[Config]


def train_configs(
    configs: Mapping[str, Config],
    runs: Path,
    *,
    skip_diverged: bool = False,
    workers: int | None = None,
    progress: Progress = SILENT,
) -> dict[str, TrainingRun]:
    """Train every configuration in the folder of its name below `runs`; finished runs are read, stopped ones resumed.

    They start in the order given, `workers` at a time, by default one for each core. `skip_diverged` leaves out runs that
    diverged instead of raising an error.
    """
    jobs = [TrainingJob(config, runs / name) for name, config in configs.items()]
    work = partial(_train_config, skip_diverged=skip_diverged)
    title = f"{len(jobs)} trainings"
    found = train_many(work, jobs, title=title, headline=None, workers=workers, progress=progress)
    return {name: run for name, run in zip(configs, found, strict=True) if run is not None}


def _train_config(job: Job, progress: Progress = SILENT, *, skip_diverged: bool) -> TrainingRun | None:
    try:
        return train_config(job, progress)
    except DivergenceError:
        if skip_diverged:
            return None
        raise


def train_config(job: Job, progress: Progress = SILENT) -> TrainingRun:
    """Train a configuration in its folder: read its result if it is finished, resume it if it was stopped."""
    folder, result = RunFolder(job.folder), job.folder / "result.json"
    if not folder.config_file.exists():
        run = train(job.config, job.folder, progress=progress)
    else:
        if to_json(read_run_config(folder)) != to_json(resolve(job.config)):
            raise InputError(
                f"{job.folder} was trained with other settings than requested; give another --out, or remove it"
            )
        if result.exists():
            saved = TrainingRun.from_json(json.loads(result.read_text(encoding="utf-8")))
            return replace(saved, run=str(job.folder))  # the folder may have been moved
        run = resume(job.folder, progress=progress)
    write_text(result, json.dumps({"command": "train", **run.to_json()}) + "\n")
    return run


def train_seeds(
    config: Config, out: Path, seeds: int, *, workers: int | None = None, progress: Progress = SILENT
) -> TrainingRun:
    """Train with the seeds config.seed, config.seed + 1, … in out/seed-0, out/seed-1, …; returns the best run.

    The best has the lowest validation loss. `workers` run at a time, by default one for each core with one thread each, so
    that results do not depend on their number. Called again, it resumes: finished seeds are not repeated. A seed that
    diverges does not stop the others.
    """
    check_seeds(seeds)
    if is_distributed():
        raise InputError("several seeds cannot be combined with torchrun; use one of them")
    check_config(config)
    if config.training.tensorboard:
        check_tensorboard()
    config = resolve(replace(config, training=replace(config.training, threads=config.training.threads or 1)))
    jobs = seed_jobs(config, out, seeds)
    with RunFolder(out).lock():
        _begin(config, out, seeds, progress)
        title = f"{config.word} by {config.network}, {seeds} seeds"
        try:
            ended = train_many(_train_seed, jobs, title=title, workers=workers, progress=progress)
        except KeyboardInterrupt as interrupt:
            finished = sum(_finished(job) is not None for job in jobs)
            raise TrainingInterrupted(
                f"{finished} of {seeds} seeds are finished and the others are saved in {out}; continue with memspan resume "
                f"{out}"
            ) from interrupt
        return _best_seed(config, out, jobs, ended)


def resume_seeds(
    out: Path,
    *,
    updates: int | None = None,
    max_minutes: float | None = None,
    workers: int | None = None,
    progress: Progress = SILENT,
) -> TrainingRun:
    """Continue the seeds in a folder of `train_seeds`; `updates` and `max_minutes` replace their limits permanently."""
    seeds, plain = read_seeds(out)
    config = with_limits(from_json(plain, str(out / "seeds.json")), updates, max_minutes)
    return train_seeds(config, out, seeds, workers=workers, progress=progress)


def _begin(config: Config, out: Path, seeds: int, progress: Progress) -> None:
    """Record what is to be trained; refuse a folder that holds something else."""
    plain = to_json(config)
    if holds_seeds(out):
        check_same_seeds(out, read_seeds(out), seeds, plain)
    elif RunFolder(out).config_file.exists():
        raise InputError(f"{out} holds a run of a single seed; give another --out")
    else:
        progress.say(f"saving the runs in {out}")
    write_seeds(out, seeds, plain)


def _train_seed(job: Job, progress: Progress = SILENT) -> TrainingRun | str:
    """The result of one seed, or why it has none."""
    run = _finished(job)
    if run is not None:
        return run
    folder, training = RunFolder(job.folder), job.config.training
    try:
        if folder.config_file.exists():
            before = read_run_config(folder).training
            run = resume(
                job.folder,
                updates=training.updates if training.updates != before.updates else None,
                max_minutes=training.max_minutes if training.max_minutes != before.max_minutes else None,
                progress=progress,
            )
        else:
            run = train(job.config, job.folder, progress=progress)
    except DivergenceError as error:
        return str(error)
    write_text(job.folder / "outcome.json", dumps(run.to_json()))
    return run


def _finished(job: Job) -> TrainingRun | None:
    """The result of a seed that has reached its limits."""
    path = job.folder / "outcome.json"
    if not path.is_file():
        return None
    try:
        run = TrainingRun.from_json(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError, KeyError):  # damaged: the run itself is evaluated again
        return None
    return replace(run, run=str(job.folder)) if run.config == to_json(job.config) else None


def _best_seed(config: Config, out: Path, jobs: list[Job], ended: list[TrainingRun | str]) -> TrainingRun:
    """The best run; the results of all go to `seeds.json`."""
    runs = [run for run in ended if isinstance(run, TrainingRun)]
    if not runs:
        raise DivergenceError(f"none of {len(jobs)} seeds finished; the first: {ended[0]}")
    best = min(runs, key=_validation_loss)
    results = [_seed_result(job, run) for job, run in zip(jobs, ended, strict=True)]
    write_seeds(out, len(jobs), to_json(config), runs=results, best=Path(best.run).name)
    return best


def _seed_result(job: Job, run: TrainingRun | str) -> dict[str, Any]:
    named = {"run": job.folder.name, "seed": job.config.seed}
    if isinstance(run, str):
        return {**named, "stopped": run}
    measures = {"validation_loss": _validation_loss(run), "loss": run.loss, "accuracy": run.accuracy}
    return {**named, **measures, "stopped": run.stopped}


def _validation_loss(run: TrainingRun) -> float:
    return min((float(loss) for loss in run.validation_loss), default=math.inf)

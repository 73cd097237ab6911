"""Best of k seeds: a run folder for each, in processes of their own; the best by validation loss is returned."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

from memspan.engines import Processes, available_cores
from memspan.errors import CorruptError, InputError
from memspan.progress import SILENT, Progress
from memspan.results import TrainingRun
from memspan.results.encoding import dumps
from memspan.results.files import write_text
from memspan.training.config import Config, check_config
from memspan.training.config_json import from_json, to_json
from memspan.training.events import check_tensorboard
from memspan.training.limits import with_limits
from memspan.training.loop import DivergenceError
from memspan.training.machine import several_processes
from memspan.training.resolving import resolved
from memspan.training.run_folder import RunFolder
from memspan.training.training import TrainingInterrupted, resume, train
from memspan.training.watching import watching

FILE = "seeds.json"
"""In the folder of all seeds: the configuration and how many, then how each ended and which is the best."""
LIMITS = ("updates", "max_minutes")
"""Settings of training that may be raised when seeds are gone on with."""


@final
@dataclass(frozen=True)
class Job:
    """The training of one seed."""

    config: Config
    folder: Path


def train_seeds(
    config: Config, out: Path, seeds: int, *, workers: int | None = None, progress: Progress = SILENT
) -> TrainingRun:
    """Train with the seeds config.seed, config.seed + 1, … into out/seed-0, out/seed-1, …; the best by validation loss.

    `workers` are at work at once: unless told, one for each core, each with one thread, so that what comes out does not
    depend on how many there are. Called again after it was stopped or killed, it goes on: seeds that are finished are not
    repeated. A seed that diverges does not stop the others.
    """
    if isinstance(seeds, bool) or seeds < 1:
        raise InputError(f"--seeds is {seeds}; expected a whole number of 1 or more")
    if several_processes():
        raise InputError("several seeds and torchrun were asked for together; choose one of them")
    check_config(config)
    if config.training.tensorboard:
        check_tensorboard()
    config = resolved(
        replace(config, training=replace(config.training, threads=config.training.threads or 1))
    )
    jobs = [Job(replace(config, seed=config.seed + i), out / f"seed-{i}") for i in range(seeds)]
    with RunFolder(out).lock():
        if _begin(config, out, seeds):
            progress.say(f"the runs are kept in {out}")
        try:
            ended = _all_of(jobs, min(seeds, workers or available_cores()), progress)
        except KeyboardInterrupt as interrupt:
            finished = sum(_finished(job) is not None for job in jobs)
            raise TrainingInterrupted(
                f"{finished} of {seeds} seeds are finished and the others are saved in {out}; go on by memspan resume {out}"
            ) from interrupt
        return _judged(config, out, jobs, ended)


def resume_seeds(
    out: Path,
    *,
    updates: int | None = None,
    max_minutes: float | None = None,
    workers: int | None = None,
    progress: Progress = SILENT,
) -> TrainingRun:
    """Go on with the seeds in a folder of `train_seeds`; `updates` and `max_minutes` replace their limits, for good."""
    plain = _read(out)
    config = with_limits(from_json(plain["config"], str(out / FILE)), updates, max_minutes)
    return train_seeds(config, out, plain["seeds"], workers=workers, progress=progress)


def holds_seeds(out: Path) -> bool:
    """Whether a folder is one of `train_seeds`."""
    return (out / FILE).is_file()


def _all_of(jobs: list[Job], workers: int, progress: Progress) -> list[TrainingRun | str]:
    if workers == 1:
        return [_one(job, progress) for job in jobs]
    total = len(jobs) * jobs[0].config.training.updates
    name = f"{jobs[0].config.word} by {jobs[0].config.network}, {len(jobs)} seeds"
    with watching([RunFolder(job.folder) for job in jobs], progress.stage(name, total)):
        return Processes(workers).map(_one, jobs)


def _one(job: Job, progress: Progress = SILENT) -> TrainingRun | str:
    """The result of one seed, or why it has none."""
    done = _finished(job)
    if done is not None:
        return done
    try:
        if RunFolder(job.folder).config_file.exists():
            wanted, had = job.config.training, RunFolder(job.folder).config().training
            run = resume(
                job.folder,
                updates=wanted.updates if wanted.updates != had.updates else None,
                max_minutes=wanted.max_minutes if wanted.max_minutes != had.max_minutes else None,
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
        plain = json.loads(path.read_text(encoding="utf-8"))
        run = TrainingRun.from_json(plain)
    except (ValueError, TypeError, KeyError):  # damaged: the run itself is there to be judged again
        return None
    return replace(run, run=str(job.folder)) if run.config == to_json(job.config) else None


def _begin(config: Config, out: Path, seeds: int) -> bool:
    """Write down what is to be trained; whether it is new."""
    if not holds_seeds(out):
        if RunFolder(out).config_file.exists():
            raise InputError(f"{out} holds a run of one seed; give another --out")
        _write(out, {"seeds": seeds, "config": to_json(config)})
        return True
    before = _read(out)
    if _without_limits(before["config"]) != _without_limits(to_json(config)) or before["seeds"] != seeds:
        raise InputError(
            f"{out} holds seeds of another configuration; go on with them by memspan resume {out}, or give another --out"
        )
    _write(out, {"seeds": seeds, "config": to_json(config)})
    return False


def _judged(config: Config, out: Path, jobs: list[Job], ended: list[TrainingRun | str]) -> TrainingRun:
    """The best run; `seeds.json` tells of all."""
    runs = [run for run in ended if isinstance(run, TrainingRun)]
    if not runs:
        raise DivergenceError(f"no seed of {len(jobs)} came to an end; the first: {ended[0]}")
    best = min(runs, key=_validation_loss)
    told = [
        {
            "run": job.folder.name,
            "seed": job.config.seed,
            "validation_loss": _validation_loss(run),
            "loss": run.loss,
            "accuracy": run.accuracy,
            "stopped": run.stopped,
        }
        if isinstance(run, TrainingRun)
        else {"run": job.folder.name, "seed": job.config.seed, "stopped": run}
        for job, run in zip(jobs, ended, strict=True)
    ]
    whole = {"seeds": len(jobs), "config": to_json(config), "runs": told, "best": Path(best.run).name}
    _write(out, whole)
    return best


def _validation_loss(run: TrainingRun) -> float:
    return min((float(loss) for loss in run.validation_loss), default=math.inf)


def _without_limits(plain: dict[str, Any]) -> dict[str, Any]:
    training = {name: value for name, value in plain["training"].items() if name not in LIMITS}
    return {**plain, "training": training}


def _write(out: Path, plain: dict[str, Any]) -> None:
    write_text(out / FILE, json.dumps(plain, indent=2) + "\n")


def _read(out: Path) -> dict[str, Any]:
    try:
        plain = json.loads((out / FILE).read_text(encoding="utf-8"))
        return {"seeds": int(plain["seeds"]), "config": dict(plain["config"])}
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise CorruptError(
            f"{out / FILE} does not tell of seeds ({error}); train again into another --out"
        ) from error

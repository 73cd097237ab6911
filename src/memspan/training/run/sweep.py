"""Train many: several run folders at once, each in a process of its own; a folder that is finished is not trained again.

Supervised runs, agents and recipes share `train_many`. What "finished" means is up to the function that trains one job:
it finds its folder as the last session left it.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar, cast, final

from memspan.engines import Processes, available_cores
from memspan.errors import CorruptError, InputError
from memspan.progress import SILENT, Progress, Stage
from memspan.results.files import write_text
from memspan.training.run.folder import RunFolder

# In the folder of several seeds: their number and configuration; later how each ended and which one is best.
SEEDS_FILE = "seeds.json"
# Settings of training that may change when seeds are resumed.
LIMITS = ("updates", "max_minutes")
# Seconds between two looks at the metrics of other processes.
PERIOD = 1.0

AnyConfig = TypeVar("AnyConfig")
Outcome_co = TypeVar("Outcome_co", covariant=True)
Outcome = TypeVar("Outcome")


@final
@dataclass(frozen=True)
class TrainingJob(Generic[AnyConfig]):
    """One training: its configuration and its run folder."""

    config: AnyConfig
    folder: Path

    @property
    def updates(self) -> int:
        return cast(Any, self.config).training.updates


class TrainJob(Protocol[AnyConfig, Outcome_co]):
    """Trains one job, continues it, or reads its result if it is finished. A module-level function, to be sent by name."""

    def __call__(self, job: TrainingJob[AnyConfig], progress: Progress = SILENT) -> Outcome_co: ...


def train_many(
    train: TrainJob[AnyConfig, Outcome],
    jobs: Sequence[TrainingJob[AnyConfig]],
    *,
    title: str,
    headline: str | None = "loss",
    workers: int | None = None,
    progress: Progress = SILENT,
) -> list[Outcome]:
    """The outcome of every job, in order; `workers` jobs run at a time, by default one for each core.

    Progress counts updates and shows the metric `headline`; with None it counts jobs. An interrupt lets every process
    save its work before it is raised here.
    """
    count = max(1, min(len(jobs), workers or available_cores()))
    if headline is None:
        with progress.stage(title, len(jobs)) as stage:
            return Processes(count).map(train, jobs, done=stage.advance)
    if count == 1:
        return [train(job, progress) for job in jobs]
    stage = progress.stage(title, sum(job.updates for job in jobs))
    with watch_metrics([RunFolder(job.folder) for job in jobs], stage, headline):
        return Processes(count).map(train, jobs)


def seed_jobs(config: AnyConfig, out: Path, seeds: int) -> list[TrainingJob[AnyConfig]]:
    """The jobs of consecutive seeds in out/seed-0, out/seed-1, …"""
    first = cast(Any, config).seed
    return [
        TrainingJob(replace(cast(Any, config), seed=first + number), out / f"seed-{number}") for number in range(seeds)
    ]


def check_seeds(seeds: int) -> None:
    """Refuse a number of seeds below 1."""
    if isinstance(seeds, bool) or seeds < 1:
        raise InputError(f"--seeds is {seeds}; expected a whole number of 1 or more")


def holds_seeds(out: Path) -> bool:
    """Whether a folder holds the runs of several seeds."""
    return (out / SEEDS_FILE).is_file()


def read_seeds(out: Path) -> tuple[int, dict[str, Any]]:
    """The number of seeds in a folder and their configuration as JSON."""
    try:
        plain = json.loads((out / SEEDS_FILE).read_text(encoding="utf-8"))
        return int(plain["seeds"]), dict(plain["config"])
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise CorruptError(
            f"{out / SEEDS_FILE} does not describe seeds ({error}); train again into another --out"
        ) from error


def write_seeds(out: Path, seeds: int, config: dict[str, Any], **results: Any) -> None:
    """Record the seeds of a folder, and their results once there are some."""
    write_text(out / SEEDS_FILE, json.dumps({"seeds": seeds, "config": config, **results}, indent=2) + "\n")


def check_same_seeds(out: Path, held: tuple[int, dict[str, Any]], seeds: int, config: dict[str, Any]) -> None:
    """Refuse a folder whose runs differ from the requested ones in more than their limits."""
    if (held[0], _without_limits(held[1])) != (seeds, _without_limits(config)):
        raise InputError(
            f"{out} holds a run of another configuration; continue that one with memspan resume {out}, or give another "
            "--out"
        )


def _without_limits(config: dict[str, Any]) -> dict[str, Any]:
    training = config.get("training", {})
    return {**config, "training": {name: value for name, value in training.items() if name not in LIMITS}}


def seed_folders(run: Path) -> list[RunFolder]:
    """The folders of several seeds in order; empty if `run` is a single run or none."""
    if (run / "config.json").is_file():
        return []
    # Sorted by length first, so that seed-10 comes after seed-9.
    found = [path for path in run.glob("seed-*") if (path / "config.json").is_file()]
    return [RunFolder(path) for path in sorted(found, key=lambda path: (len(path.name), path.name))]


@contextlib.contextmanager
def watch_metrics(folders: list[RunFolder], stage: Stage, headline: str) -> Iterator[None]:
    """Report the progress of trainings in other processes from their metrics files, in a thread."""
    over = threading.Event()

    def watch() -> None:
        updates = 0
        while not over.wait(PERIOD):
            updates = _report(folders, stage, updates, headline)
        _report(folders, stage, updates, headline)

    watcher = threading.Thread(target=watch, daemon=True)
    with stage:
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()


def _report(folders: list[RunFolder], stage: Stage, before: int, headline: str) -> int:
    """Advance the stage by the updates since `before`; returns the updates of all runs together."""
    runs = [folder.metrics() for folder in folders]
    updates = sum(lines[-1]["update"] for lines in runs if lines)
    stage.advance(max(updates - before, 0))
    values = [[line[headline] for line in lines if line.get(headline) is not None] for lines in runs]
    stage.tell(f"{headline} {' '.join(f'{found[-1]:.4f}' if found else '-' for found in values)}")
    return max(updates, before)

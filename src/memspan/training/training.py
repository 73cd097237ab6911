"""`train` and `resume`: one run folder each, from its first update to its result."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from memspan.errors import CorruptError, InputError
from memspan.objectives import Objective
from memspan.progress import SILENT, Progress
from memspan.results import TrainingRun
from memspan.training.building import seeded
from memspan.training.checkpoint import Position, read_checkpoint
from memspan.training.config import Config, check_config
from memspan.training.interrupts import asking
from memspan.training.journal import Journal
from memspan.training.loop import Loop
from memspan.training.machine import Machine, threads_of, with_threads
from memspan.training.outcome import outcome
from memspan.training.run_folder import RunFolder
from memspan.training.trainer import Trainer


class TrainingInterrupted(KeyboardInterrupt):
    """Somebody asked the training to stop; it is saved. The message says where and how to go on."""


def train(
    config: Config, out: Path, *, objectives: tuple[Objective, ...] = (), progress: Progress = SILENT
) -> TrainingRun:
    """Train from the first update and write everything to the folder `out`, which must not hold a run yet."""
    check_config(config)
    config = replace(
        config,
        task=config.task.resolved(),
        training=replace(config.training, threads=threads_of(config.training)),
    )
    machine, folder = Machine(config.training), RunFolder(out)
    with _alone(folder, machine):
        if machine.main:
            folder.begin(config)
        return _carry_on(config, folder, machine, objectives, progress)


def resume(
    out: Path,
    *,
    updates: int | None = None,
    max_minutes: float | None = None,
    objectives: tuple[Objective, ...] = (),
    progress: Progress = SILENT,
) -> TrainingRun:
    """Go on where a run stopped or was killed, to the same weights and metrics that it would have reached.

    `updates` and `max_minutes` replace the limits that the run was begun with.
    """
    folder = RunFolder(out)
    config = folder.config()
    training = config.training
    if updates is not None or max_minutes is not None:
        training = replace(
            training, updates=updates or training.updates, max_minutes=max_minutes or training.max_minutes
        )
    config = replace(config, training=training)
    check_config(config)
    machine = Machine(config.training)
    with _alone(folder, machine):
        return _carry_on(config, folder, machine, objectives, progress)


def _carry_on(
    config: Config,
    folder: RunFolder,
    machine: Machine,
    objectives: tuple[Objective, ...],
    progress: Progress,
) -> TrainingRun:
    with with_threads(threads_of(config.training)), seeded(config.seed + machine.rank), asking() as asked:
        trainer = Trainer(config, machine, objectives)
        position = latest(trainer, folder, progress)
        if position.stopped is not None and _goes_further(config, position):
            position = replace(position, stopped=None)
        journal = Journal(folder, position.metrics_bytes)
        try:
            loop = Loop(trainer, folder, position, journal, asked)
            loop.run(progress)
            if loop.stopped is None:
                loop.save()
                raise TrainingInterrupted(
                    f"update {loop.update:,} is saved in {folder.path}; go on by memspan resume {folder.path}"
                )
        finally:
            journal.close()
        return outcome(config, folder, trainer, loop.position)


def _goes_further(config: Config, position: Position) -> bool:
    """Whether a run that was over has more to do under limits that were raised."""
    return position.stopped != "all updates done" or config.training.updates > position.update


def latest(trainer: Trainer, folder: RunFolder, progress: Progress) -> Position:
    """Put the trainer where the newest sound checkpoint is; damaged ones are told and passed over."""
    for update in folder.saved():
        path = folder.checkpoint(update)
        try:
            tensors, position = read_checkpoint(path, trainer.config.cell.name)
            if folder.metrics_file.stat().st_size < position.metrics_bytes:
                raise CorruptError(f"{folder.metrics_file} is shorter than {path.name} says")
            trainer.load(tensors, path, averaging=position.averaging)
        except CorruptError as error:
            progress.say(f"passed over: {error}")
            continue
        return position
    return Position()


@contextlib.contextmanager
def _alone(folder: RunFolder, machine: Machine) -> Iterator[None]:
    """One writer to a folder; processes that write nothing need no lock."""
    if not machine.main:
        yield
        return
    try:
        with folder.lock():
            yield
    except OSError as error:
        raise InputError(
            f"cannot write to {folder.path}: {error.strerror or error}; choose another --out"
        ) from error

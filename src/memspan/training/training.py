"""`train` and `resume`: one run folder each, from its first update to its result."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from memspan.errors import CorruptError, InputError
from memspan.objectives import Objective
from memspan.progress import SILENT, Progress
from memspan.results import TrainingRun
from memspan.training.beginning import begin_with
from memspan.training.building import seeded, stream
from memspan.training.checkpoint import read_checkpoint
from memspan.training.config import Config, check_config
from memspan.training.events import Events, check_tensorboard
from memspan.training.interrupts import asking
from memspan.training.journal import FileJournal, Journal, NoJournal
from memspan.training.limits import GOOD_ENOUGH, TIME, lifted, raised, with_limits
from memspan.training.loop import Loop
from memspan.training.machine import Machine, threads_of, with_threads
from memspan.training.outcome import outcome
from memspan.training.position import Position
from memspan.training.resolving import resolved
from memspan.training.restoring import unreadable
from memspan.training.room import check_room
from memspan.training.run_folder import RunFolder
from memspan.training.stopping import why_over
from memspan.training.trainer import Trainer


class TrainingInterrupted(KeyboardInterrupt):
    """Somebody asked the training to stop; it is saved. The message says where and how to go on."""


def train(
    config: Config, out: Path, *, objectives: tuple[Objective, ...] = (), progress: Progress = SILENT
) -> TrainingRun:
    """Train from the first update and write everything to the folder `out`, which must not hold a run yet.

    The caller's random numbers and number of threads stay as they are.
    """
    check_config(config)
    machine = Machine(config.training)
    return _carry_on(resolved(config, machine.count), machine, out, objectives, progress, before=None)


def resume(
    out: Path,
    *,
    updates: int | None = None,
    max_minutes: float | None = None,
    objectives: tuple[Objective, ...] = (),
    progress: Progress = SILENT,
) -> TrainingRun:
    """Go on where a run stopped or was killed, to the same weights and metrics that it would have reached.

    `updates` and `max_minutes` replace the limits of the run, for good. Where one is raised, a run goes on that had stopped
    because it was good enough or no longer improved; with `updates` alone also one whose minutes are spent. A run that is
    over is only judged again.
    """
    folder = RunFolder(out)
    before = folder.config()
    config = with_limits(before, updates, max_minutes)
    check_config(config)
    config = _lifted(
        config,
        folder,
        progress,
        raised=raised(before.training, config.training),
        timed=updates is None or max_minutes is not None,
    )
    return _carry_on(config, Machine(config.training), out, objectives, progress, before=before)


def _carry_on(
    config: Config,
    machine: Machine,
    out: Path,
    objectives: tuple[Objective, ...],
    progress: Progress,
    *,
    before: Config | None,
) -> TrainingRun:
    """A new run, or one that had the configuration `before`."""
    training, new = config.training, before is None
    if training.tensorboard:
        check_tensorboard()
    folder = RunFolder(machine.of_main(out))
    progress = progress if machine.main else SILENT
    with with_threads(threads_of(training)), seeded(stream(config.seed, machine.rank)):
        # What is wrong with the sizes of a cell or a batch is told before there is a folder.
        check_room(config)
        config.task.batch(0, machine.count * training.batch, seed=config.seed)
        trainer = Trainer(config, machine, objectives)
        if new and config.init.name == "run":
            begin_with(trainer.network, trainer.objectives, config)
        with _alone(folder, machine):
            if machine.main and new:
                folder.begin(config)
                progress.say(f"the run is kept in {out}")
            position = _updated(trainer, folder, progress, before)
            left_out = (one.left_out for one in trainer.objectives.values())
            notes = tuple(note for note in left_out if note is not None)
            return outcome(config, folder, trainer.network, position, notes, progress)


def _updated(trainer: Trainer, folder: RunFolder, progress: Progress, before: Config | None) -> Position:
    """Do all updates that are left; where it stands then, unless somebody asked it to stop."""
    machine, config = trainer.machine, trainer.config
    with asking() as asked:
        position, seconds = Position(), 0.0
        if before is not None:
            folder.check_text(config.task)
            position, seconds = _load_newest(trainer, folder, progress)
            _note_limits(before, config, position)
            if machine.main:
                folder.go_on(config)
        journal = _journal(folder, position, config.training.tensorboard) if machine.main else NoJournal()
        with contextlib.closing(journal):
            loop = Loop(trainer, folder, position, journal, asked, seconds)
            if config.init.name == "run" and not position.update:
                loop.save()  # the other run may be gone when this one is gone on with
            over = loop.run(progress)
        machine.wait()
    if over and not asked.stop:
        return position
    what = "all updates are" if over else f"update {position.update:,} is"
    raise TrainingInterrupted(f"{what} saved in {folder.path}; go on by memspan resume {folder.path}")


def _load_newest(trainer: Trainer, folder: RunFolder, progress: Progress) -> tuple[Position, float]:
    """Put the trainer where the newest sound checkpoint is; also the seconds spent until then.

    One process looks for it, so that all of them take the same.
    """
    config, machine = trainer.config, trainer.machine
    newest, seconds = machine.of_main(
        (_newest(folder, config.network, progress), folder.seconds()) if machine.main else (None, 0.0)
    )
    if newest is None:
        if config.init.name == "run":
            begin_with(trainer.network, trainer.objectives, config)
        return Position(), seconds
    path = folder.checkpoint(newest)
    tensors, position = read_checkpoint(path, config.network)
    trainer.load(tensors, path, averaging=position.averaging)
    best = position.best
    if best is not None and (why := unreadable(config, folder, [best])):
        position.lost = list(unreadable(config, folder, position.validated))
        progress.say(f"passed over: {why[best]}, which was the best validation so far")
    if position.stopped is not None and why_over(config.training, position.going_on(), seconds):
        progress.say(f"it is over: {position.stopped}; a larger --updates or --max-minutes goes on with it")
        return position, seconds
    return position.going_on(), seconds


def _lifted(config: Config, folder: RunFolder, progress: Progress, *, raised: bool, timed: bool) -> Config:
    """With a limit `raised`, what else would end the run at once is taken off; its minutes, if it is not to be `timed`."""
    newest = _newest(folder, config.network, SILENT)
    if newest is None:
        return config
    _, position = read_checkpoint(folder.checkpoint(newest), config.network)
    position = position.going_on()
    for wanted, limits, seconds in ((raised, GOOD_ENOUGH, 0.0), (not timed, TIME, folder.seconds())):
        config, why = lifted(config, position, seconds, limits) if wanted else (config, None)
        if why is not None:
            names = " and ".join(f"training.{name}" for name in limits)
            progress.say(f"it had stopped because of this: {why}; no more limits: {names}")
    return config


def _note_limits(before: Config, config: Config, position: Position) -> None:
    """What the configuration alone would no longer tell; fewer updates than were done are refused."""
    old, new = before.training.updates, config.training.updates
    if new < position.update:
        raise InputError(
            f"--updates {new:,}: the run has done {position.update:,} already; expected as many or more"
        )
    if new != old and config.training.schedule == "cosine" and position.update:
        position.notes.append(
            f"its limit was {old:,} updates until update {position.update:,}, and the rate falls along a cosine to the last "
            f"one: trained for {new:,} from the start it would have other weights"
        )


def _newest(folder: RunFolder, cell: str, progress: Progress) -> int | None:
    """The update of the newest checkpoint that can be read; damaged ones are told and passed over."""
    there = folder.saved()
    for update in there:
        path = folder.checkpoint(update)
        try:
            _, position = read_checkpoint(path, cell)
            if folder.metrics_length() < position.metrics_bytes:
                raise CorruptError(f"{folder.metrics_file} is shorter than {path.name} says")
        except CorruptError as error:
            progress.say(f"passed over: {error}")
            continue
        return update
    if there:
        progress.say(f"no checkpoint of {folder.path} can be read; beginning again with the first update")
    return None


def _journal(folder: RunFolder, position: Position, tensorboard: bool) -> Journal:
    events = Events(folder.events, position.update) if tensorboard else None
    return FileJournal(folder, position.metrics_bytes, events)


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
            f"cannot write to {error.filename or folder.path}: {error.strerror or error}; free space or choose another --out"
        ) from error

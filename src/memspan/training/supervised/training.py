"""`train` and `resume`: one run folder from its first update to its result."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.models.model import CellModel, Model
from memspan.objectives import Objective
from memspan.progress import SILENT, Progress
from memspan.results import AuxiliaryObjective, TrainingRun
from memspan.training.run.checkpoint import Position, newest_checkpoint, read_checkpoint
from memspan.training.run.config import with_limits
from memspan.training.run.folder import RunFolder
from memspan.training.run.journal import check_tensorboard
from memspan.training.run.loop import run_learner, stop_reason
from memspan.training.run.machine import Machine, stream_seed, thread_count, torch_seed, torch_threads
from memspan.training.supervised.build import check_memory
from memspan.training.supervised.config import Config, check_config, read_run_config, resolve, to_json
from memspan.training.supervised.evaluation import score
from memspan.training.supervised.learner import SupervisedLearner
from memspan.training.supervised.schedule import full_gradient_start
from memspan.training.supervised.trained_model import load_best_weights, load_initial_run, unreadable

# Test batches of validation_size sequences if the split is endless; a finite split is used once, completely.
TEST_BATCHES = 100

Lines = Sequence[dict[str, Any]]


def train(
    config: Config, out: Path, *, objectives: tuple[Objective, ...] = (), progress: Progress = SILENT
) -> TrainingRun:
    """Train from the first update and write everything to the folder `out`, which must not hold a run yet.

    The caller's random state and number of threads do not change.
    """
    check_config(config)
    machine = Machine(config.training)
    return _run(resolve(config, machine.count), machine, out, objectives, progress, before=None)


def resume(
    out: Path,
    *,
    updates: int | None = None,
    max_minutes: float | None = None,
    objectives: tuple[Objective, ...] = (),
    progress: Progress = SILENT,
) -> TrainingRun:
    """Continue a run that was stopped or killed, to the same weights and metrics that it would have reached.

    `updates` and `max_minutes` replace the limits of the run permanently. A raised limit also continues a run that had
    reached its accuracy or no longer improved; `updates` alone also one that had used up its minutes. A run that is
    finished is only evaluated again.
    """
    folder = RunFolder(out)
    before = read_run_config(folder)
    config = with_limits(before, updates, max_minutes)
    check_config(config)
    timed = updates is None or max_minutes is not None
    config = _without_reached_limits(config, folder, progress, raised=_raised(before, config), timed=timed)
    return _run(config, Machine(config.training), out, objectives, progress, before=before)


def _run(
    config: Config,
    machine: Machine,
    out: Path,
    objectives: tuple[Objective, ...],
    progress: Progress,
    *,
    before: Config | None,
) -> TrainingRun:
    """Train a new run, or one that had the configuration `before`."""
    training, new = config.training, before is None
    if training.tensorboard:
        check_tensorboard()
    folder = RunFolder(machine.of_main(out))
    progress = progress if machine.main else SILENT
    with torch_threads(thread_count(training)), torch_seed(stream_seed(config.seed, machine.rank)):
        # Wrong sizes of a cell or a batch are reported before there is a folder.
        check_memory(config)
        config.task.batch(0, machine.count * training.batch, seed=config.seed)
        learner = SupervisedLearner(config, machine, objectives)
        if new and config.init.name == "run":
            load_initial_run(learner.network, learner.objectives, config)
        # Processes that write nothing need no lock.
        with folder.writing() if machine.main else contextlib.nullcontext():
            if machine.main and new:
                folder.begin(to_json(config), vocabulary=config.task.vocabulary)
                progress.say(f"saving the run in {out}")
            if isinstance(learner.network, CellModel):
                learner.network.cell.announce_compilation(progress)
            position = run_learner(
                learner,
                folder,
                lambda: (Position(), 0.0) if before is None else _restore(learner, folder, progress, before),
                progress=progress,
                tensorboard=training.tensorboard,
                save_start=config.init.name == "run",  # the other run may be gone when this one is resumed
            )
            left_out = (objective.left_out for objective in learner.objectives.values())
            notes = tuple(note for note in left_out if note is not None)
            return run_result(config, folder, learner.network, position, notes, progress)


def _restore(
    learner: SupervisedLearner, folder: RunFolder, progress: Progress, before: Config
) -> tuple[Position, float]:
    """Load the newest readable checkpoint; returns its position and the seconds spent until then."""
    config, machine = learner.config, learner.machine
    folder.check_vocabulary(config.task.vocabulary)
    # The main process chooses the checkpoint, so that all processes load the same one.
    newest = _newest_update(folder, config.network, progress) if machine.main else None
    newest, seconds = machine.of_main((newest, folder.seconds() if machine.main else 0.0))
    position = Position()
    if newest is not None:
        path = folder.checkpoint(newest)
        tensors, position = read_checkpoint(path, config.network)
        learner.load(tensors, path, averaging=position.averaging)
        best = position.best
        if best is not None and (why := unreadable(config, folder, [best])):
            position.lost = list(unreadable(config, folder, position.validated))
            progress.say(f"skipped: {why[best]}, which was the best validation so far")
        if position.stopped is not None and stop_reason(config.training.loop, position.reopened(), seconds):
            progress.say(f"finished: {position.stopped}; continue with a larger --updates or --max-minutes")
        else:
            position = position.reopened()
    elif config.init.name == "run":
        load_initial_run(learner.network, learner.objectives, config)
    _check_limits(before, config, position)
    if machine.main:
        folder.resume(to_json(config))
    return position, seconds


def _newest_update(folder: RunFolder, network: str, progress: Progress) -> int | None:
    newest = newest_checkpoint(folder, network, progress.say, check_metrics=True)
    if newest is None and folder.saved():
        progress.say(f"no checkpoint of {folder.path} can be read; starting over at the first update")
    return None if newest is None else newest[1].update


def _check_limits(before: Config, config: Config, position: Position) -> None:
    """Refuse fewer updates than were done, and note a changed limit that affects the updates done so far."""
    old, new = before.training.updates, config.training.updates
    if new < position.update:
        raise InputError(f"--updates {new:,}: the run has already done {position.update:,}; expected as many or more")
    if new != old and config.training.schedule == "cosine" and position.update:
        position.notes.append(
            f"the limit was {old:,} updates until update {position.update:,}, and the cosine schedule ends at the limit: "
            f"training for {new:,} from the start would have given other weights"
        )
    first = min(full_gradient_start(before.training), full_gradient_start(config.training))
    if new != old and config.training.full_gradient and position.update > first:
        position.notes.append(
            f"the limit was {old:,} updates until update {position.update:,}, and the phase with full gradients ends at the "
            f"limit: training for {new:,} from the start would have given other weights"
        )


def _raised(before: Config, after: Config) -> bool:
    """Whether a limit is higher than before."""
    old, new = (math.inf if one.training.max_minutes is None else one.training.max_minutes for one in (before, after))
    return after.training.updates > before.training.updates or new > old


def _without_reached_limits(
    config: Config, folder: RunFolder, progress: Progress, *, raised: bool, timed: bool
) -> Config:
    """Drop the limits that would end the run at once: accuracy and patience if one was `raised`, the time unless `timed`."""
    newest = newest_checkpoint(folder, config.network, SILENT.say, check_metrics=True)
    if newest is None:
        return config
    position = newest[1].reopened()
    for drop, names, seconds in (
        (raised, ("stop_accuracy", "patience"), 0.0),
        (not timed, ("max_minutes",), folder.seconds()),
    ):
        free = replace(config.training, **dict.fromkeys(names))
        reason = stop_reason(config.training.loop, position, seconds)
        if drop and reason is not None and stop_reason(free.loop, position, seconds) is None:
            config = replace(config, training=free)
            progress.say(
                f"it had stopped because: {reason}; removed {' and '.join(f'training.{name}' for name in names)}"
            )
    return config


def run_result(
    config: Config,
    folder: RunFolder,
    network: Model,
    position: Position,
    notes: tuple[str, ...] = (),
    progress: Progress = SILENT,
) -> TrainingRun:
    """The result of a finished run. Only the weights of the best validation see the test split."""
    best, skipped = load_best_weights(network, config, folder, position)
    size = config.training.validation_size
    batches = config.task.batches("test", size) or TEST_BATCHES
    with progress.stage("evaluating on the test split", batches) as stage:
        found = score(
            network, config.task, split="test", batches=batches, size=size, seed=config.seed, done=stage.advance
        )
    lines = folder.metrics()
    trained = [line for line in lines if "loss" in line]
    validated = [line for line in lines if "validation" in line]
    measures = [line["validation"] for line in validated]
    return TrainingRun(
        task=config.word,
        cell=config.network,
        parameter_count=network.parameter_count(),
        updates=position.update,
        seconds=folder.seconds(),
        loss=found["loss"],
        accuracy=found.get("accuracy"),
        run=str(folder.path),
        best_update=best,
        stopped=position.stopped or "not over",
        chance=config.task.chance,
        baseline=config.task.baseline,
        logged=_updates(trained),
        training_loss=_column(trained, "loss"),
        validated=_updates(validated),
        validation_loss=_column(measures, "loss"),
        validation_accuracy=_column(measures, "accuracy"),
        config=to_json(config),
        notes=(*position.notes, *skipped, *notes, *config.task.notes, *_validation_notes(config)),
        second_goal=_auxiliary_result(config, lines),
    )


def _updates(lines: Lines) -> NDArray[np.int64]:
    return np.array([line["update"] for line in lines], dtype=np.int64)


def _column(lines: Lines, name: str) -> NDArray[np.float64]:
    values = [line.get(name) for line in lines]
    return np.array([math.nan if value is None else value for value in values])


def _validation_notes(config: Config) -> list[str]:
    """A note if validations do not cover the whole split."""
    size, used = config.training.validation_size, config.training.validation_batches
    whole = config.task.batches("valid", size) or used
    if used >= whole:
        return []
    return [
        f"validations used the first {used / whole:.0%} of the validation split; "
        f"--set training.validation_batches={whole} uses all of it"
    ]


def _auxiliary_result(config: Config, lines: Lines) -> AuxiliaryObjective | None:
    """The curves of the BMI regularizer; None for a run without it."""
    logged = [line for line in lines if "bmi.bound" in line]
    if config.bmi.name == "none" or not logged:
        return None
    return AuxiliaryObjective(
        name=config.bmi.name,
        pairs=config.bmi.pairs,
        logged=_updates(logged),
        bound=_column(logged, "bmi.bound"),
        accuracy=_column(logged, "bmi.accuracy"),
        effective=_column(logged, "bmi.effective"),
        switched=_switch_update(config, logged, lines),
    )


def _switch_update(config: Config, logged: Lines, lines: Lines) -> int | None:
    """The update of the switch: the configured one, or that of the last validation before the first line after it."""
    after = ("bmi.nearby", "bmi.reward")  # metrics of the second phase only
    first = next((line["update"] for line in logged if any(name in line for name in after)), None)
    if first is None:
        return None
    configured = config.bmi.switch_at
    validations = [line["update"] for line in lines if "validation" in line and line["update"] < first]
    candidates = validations if configured is None else [configured] if configured < first else []
    # A run that starts from another one may have switched before its own first update.
    earlier = config.init.name == "run" and first == logged[0]["update"]
    return max(candidates) if candidates and not earlier else 0

"""Trained networks: the best weights of a run, finished or not; of several seeds, those of the best one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import final

import torch
from torch import Tensor

from memspan.errors import CorruptError, InputError
from memspan.models.model import CellModel, Model
from memspan.objectives import Objective
from memspan.tasks import Task
from memspan.training.run.checkpoint import Position, load_module, newest_checkpoint, read_checkpoint, strip_prefix
from memspan.training.run.folder import RunFolder
from memspan.training.run.sweep import seed_folders
from memspan.training.supervised.build import build_untrained
from memspan.training.supervised.config import Config, read_run_config

# A training in progress may remove a checkpoint between the moment it is listed and the moment it is read.
_ATTEMPTS = 5


@final
@dataclass(frozen=True)
class TrainedModel:
    """A network with the weights of a run's best validation."""

    network: Model
    config: Config
    folder: RunFolder
    update: int
    """The update of these weights."""
    updates: int
    """Updates that the run has done."""
    notes: tuple[str, ...]
    """Remarks on where the weights come from."""

    @property
    def task(self) -> Task:
        """The task of the run; raises an error if its text has changed."""
        self.folder.check_vocabulary(self.config.task.vocabulary)
        return self.config.task

    def around_cell(self) -> CellModel:
        """The network, if it is built around one cell, whose states can be inspected."""
        if not isinstance(self.network, CellModel):
            raise InputError(
                f"{self.folder.path} is a training of {self.config.network}, but only networks around one cell can be "
                "inspected; evaluate and sample it instead"
            )
        return self.network


def load_best(run: Path, *, device: torch.device | str = "cpu") -> TrainedModel:
    """The saved weights of `run` with the lowest validation loss so far."""
    folder, seed_notes = _best_seed(run)
    config = read_run_config(folder)
    vocabulary = folder.vocabulary()
    network = build_untrained(config, None if vocabulary is None else len(vocabulary), device=device)
    for attempt in range(_ATTEMPTS):
        last = attempt == _ATTEMPTS - 1
        position, skipped = _newest_position(folder, config)
        try:
            update, lost = load_best_weights(network, config, folder, position)
        except CorruptError:
            if last:
                raise
            continue
        if lost and folder.saved()[0] != position.update and not last:
            continue  # not lost: the training has continued and removed it
        notes = (*seed_notes, *skipped, *lost, *position.notes, *_position_notes(position, skipped))
        return TrainedModel(network.to(device).eval(), config, folder, update, position.update, notes)
    raise AssertionError("the last attempt returns or raises")


def _best_seed(run: Path) -> tuple[RunFolder, tuple[str, ...]]:
    folders = seed_folders(run)
    if not folders:
        return RunFolder(run), ()
    begun = [folder for folder in folders if folder.saved()]
    if not begun:
        raise InputError(f"{run} has no checkpoint yet; wait for the first validation of a seed")
    losses = [
        min(_newest_position(folder, read_run_config(folder))[0].losses, default=float("inf")) for folder in begun
    ]
    best = begun[losses.index(min(losses))]
    return best, (f"the best of {len(folders)} seeds by validation loss: {best.path.name}",)


def _newest_position(folder: RunFolder, config: Config) -> tuple[Position, tuple[str, ...]]:
    """Where a run stands by its newest readable checkpoint, and a note on every file that was skipped."""
    skipped: list[str] = []
    newest = newest_checkpoint(folder, config.network, skipped.append)
    if newest is not None:
        return newest[1], tuple(skipped)
    if skipped:
        raise CorruptError(
            f"no checkpoint of {folder.path} can be read ({skipped[0]}); memspan resume {folder.path} starts over"
        )
    raise InputError(
        f"{folder.path} has no checkpoint yet; wait for its first validation, or continue with memspan resume {folder.path}"
    )


def _position_notes(position: Position, skipped: tuple[str, ...]) -> tuple[str, ...]:
    notes = ()
    if position.stopped is None and skipped:
        notes = (f"readable up to update {position.update:,}; memspan resume repeats the rest",)
    elif position.stopped is None:
        notes = (f"the run has not finished; it has done {position.update:,} updates",)
    if position.best is None:
        notes = (*notes, "the run has not been validated yet, so these are its latest weights")
    return notes


def load_best_weights(
    network: Model, config: Config, folder: RunFolder, position: Position
) -> tuple[int, tuple[str, ...]]:
    """Load the weights with the lowest validation loss, or the next best if they cannot be read.

    Returns the update they are from and notes on what was skipped. Weights that were never validated come last.
    """
    saved, ranked = folder.saved(), position.by_loss()
    best = ranked[0] if ranked else position.update
    skipped = [] if best in saved else [f"the checkpoint of update {best:,}, the best one, is missing"]
    for update in dict.fromkeys((*(update for update in ranked if update in saved), *saved)):
        try:
            load_weights(network, config, folder, update)
        except CorruptError as error:
            skipped.append(f"skipped: {error}")
            continue
        return update, tuple(skipped)
    raise CorruptError(f"no checkpoint of {folder.path} can be read ({skipped[0]}); train again")


def load_weights(network: Model, config: Config, folder: RunFolder, update: int) -> Position:
    """Load the weights of one update: their averages if averaging had begun."""
    path = folder.checkpoint(update)
    tensors, position = read_checkpoint(path, config.network)
    load_module("network", network, tensors, path)
    # Optimizers number parameters in the order of their groups, whatever the learning rate.
    ordered = [parameter for group in network.parameter_groups(1.0) for parameter in group["params"]]
    for number, parameter in enumerate(ordered):
        average = tensors.get(f"optimizer.{number}.ax")
        if average is not None:  # only asgd has averages, from its first update on
            parameter.data.copy_(average)
    return position


def unreadable(config: Config, folder: RunFolder, updates: list[int]) -> dict[int, str]:
    """The updates without a readable checkpoint, and why."""
    found = {}
    for update in updates:
        try:
            read_checkpoint(folder.checkpoint(update), config.network)
        except CorruptError as error:
            found[update] = str(error)
    return found


def load_initial_run(network: Model, objectives: Mapping[str, Objective], config: Config) -> None:
    """Load the best weights of the run `init.run` into a network of the same cell and sizes.

    Objectives that were part of that run, too, start from their state at the same update.
    """
    if config.init.run is None:
        raise InputError(
            "init.name is run, but init.run names no folder; give the folder of a run with --set init.run=DIR"
        )
    best = load_best(Path(config.init.run))
    if best.config.network != config.network or _shapes(best.network.state_dict()) != _shapes(network.state_dict()):
        theirs, ours = (
            f"{one.network} of hidden size {one.cell.hidden} on {one.word}" for one in (best.config, config)
        )
        raise InputError(
            f"init.run {config.init.run} is a {theirs}, whose weights do not fit a {ours}; expected the same cell, sizes "
            "and symbols"
        )
    best.folder.check_vocabulary(config.task.vocabulary)
    network.load_state_dict(best.network.state_dict())
    path = best.folder.checkpoint(best.update)
    tensors, _ = read_checkpoint(path, config.network)
    for name, objective in objectives.items():
        saved = strip_prefix(f"objective.{name}", tensors)
        if saved and _shapes(saved) != _shapes(objective.state_dict()):
            raise InputError(
                f"init.run {config.init.run} has {name} of other sizes than this configuration; expected the same settings "
                f"of {name}, or a run without it"
            )
        if saved:
            load_module(f"objective.{name}", objective, tensors, path)


def _shapes(tensors: Mapping[str, Tensor]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(tensor.shape) for name, tensor in tensors.items()}

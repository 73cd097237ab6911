"""The best network of a run, whether the run is over or not; of several seeds, of the best one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import final

import torch

from memspan.errors import CorruptError, InputError
from memspan.models.cell_model import CellModel
from memspan.models.model import Model
from memspan.tasks import Task
from memspan.training.building import unlearnt
from memspan.training.checkpoint import read_checkpoint
from memspan.training.config import Config
from memspan.training.position import Position
from memspan.training.restoring import load_best_weights
from memspan.training.run_folder import RunFolder

_ATTEMPTS = 5
"""A run that goes on may remove a checkpoint while it is looked for."""


@final
@dataclass(frozen=True)
class Best:
    """A network with the weights of a run's best validation."""

    network: Model
    config: Config
    folder: RunFolder
    update: int
    """Whose weights these are."""
    updates: int
    """That the run has done."""
    notes: tuple[str, ...]
    """What a reader should know about where they come from."""

    @property
    def task(self) -> Task:
        """What it has learnt, if the text it learnt from is still there."""
        self.folder.check_text(self.config.task)
        return self.config.task

    def around_cell(self) -> CellModel:
        """The network, where it is one around a cell, into which can be looked."""
        if not isinstance(self.network, CellModel):
            raise InputError(
                f"{self.folder.path} is a training of {self.config.network}, and only networks around one cell can be "
                "looked into; evaluate and sample it instead"
            )
        return self.network


def load_best(run: Path, *, device: torch.device | str = "cpu") -> Best:
    """The weights with the lowest validation loss that `run` has saved so far."""
    folder, notes = _best_seed(run)
    config = folder.config()
    vocabulary = folder.vocabulary()
    network = unlearnt(config, None if vocabulary is None else len(vocabulary), device=device)
    for attempt in range(_ATTEMPTS):
        position, passed = newest(folder, config)
        try:
            update, lost = load_best_weights(network, config, folder, position)
        except CorruptError:
            if attempt == _ATTEMPTS - 1:
                raise
            continue
        if lost and folder.saved()[0] != position.update and attempt < _ATTEMPTS - 1:
            continue  # it was not lost: the run has gone on and removed it
        return Best(
            network.to(device).eval(),
            config,
            folder,
            update,
            position.update,
            (*notes, *passed, *lost, *position.notes, *_of_position(position, passed)),
        )
    raise AssertionError("the last attempt returns or raises")


def newest(folder: RunFolder, config: Config) -> tuple[Position, tuple[str, ...]]:
    """Where a run stands by its newest sound checkpoint, and which ones were passed over."""
    passed: list[str] = []
    for update in folder.saved():
        try:
            _, position = read_checkpoint(folder.checkpoint(update), config.network)
        except CorruptError as error:
            passed.append(f"passed over: {error}")
            continue
        return position, tuple(passed)
    if passed:
        raise CorruptError(
            f"no checkpoint of {folder.path} can be read ({passed[0]}); memspan resume {folder.path} begins again"
        )
    raise InputError(
        f"{folder.path} has no checkpoint yet; wait for its first validation, or go on by memspan resume {folder.path}"
    )


def seed_folders(run: Path) -> list[RunFolder]:
    """The runs of several seeds in one folder, in order; empty where it is a single run or none."""
    if (run / "config.json").is_file():
        return []
    found = [path for path in run.glob("seed-*") if (path / "config.json").is_file()]
    return [RunFolder(path) for path in sorted(found, key=lambda path: (len(path.name), path.name))]


def _best_seed(run: Path) -> tuple[RunFolder, tuple[str, ...]]:
    folders = seed_folders(run)
    if not folders:
        return RunFolder(run), ()
    begun = [folder for folder in folders if folder.saved()]
    if not begun:
        raise InputError(f"{run} has no checkpoint yet; wait for the first validation of a seed")
    losses = [min(newest(folder, folder.config())[0].losses, default=float("inf")) for folder in begun]
    best = begun[losses.index(min(losses))]
    return best, (f"the best of {len(folders)} seeds by validation loss: {best.path.name}",)


def _of_position(position: Position, passed: tuple[str, ...]) -> tuple[str, ...]:
    notes = ()
    if position.stopped is None and passed:
        notes = (f"it can be read up to update {position.update:,}; memspan resume does the rest again",)
    elif position.stopped is None:
        notes = (f"the run is not over; it had done {position.update:,} updates",)
    if position.best is None:
        notes = (*notes, "it was not validated yet, so these are its latest weights")
    return notes

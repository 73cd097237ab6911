"""Updates of one network by the training loop, and by the few lines that one would write instead."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import final

from torch.optim import RMSprop

from memspan.bench.cell_speed import two_threads
from memspan.bench.timing import beside, race
from memspan.bench.train import TrainSizes
from memspan.progress import Progress, Stage
from memspan.results import Benchmark
from memspan.tasks import Copy
from memspan.training.building import build
from memspan.training.config import CellConfig, Config, TrainingConfig
from memspan.training.interrupts import Asked
from memspan.training.journal import FileJournal
from memspan.training.loop import Loop
from memspan.training.machine import Machine
from memspan.training.position import Position
from memspan.training.run_folder import RunFolder
from memspan.training.trainer import Trainer

ENDLESS = 10**9
STILL = 1e-12
"""A learning rate at which weights stay: how long a step of some cells takes depends on them."""


def update_cost(cell: str, sizes: TrainSizes) -> Benchmark:
    """Both sides in turns, from the same start on batches of the same kind; validations are not counted."""
    config = Config(
        word="copy",
        task=Copy(delay=sizes.delay),
        cell=CellConfig(name=cell, hidden=sizes.hidden),
        training=TrainingConfig(
            updates=ENDLESS,
            validate_every=ENDLESS,
            batch=sizes.batch,
            learning_rate=STILL,
            device="cpu",
        ),
    )
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.closing(FileJournal(RunFolder(Path(folder)), 0)) as journal,
        two_threads(),
    ):
        sides = looping(config, Path(folder), journal, sizes.updates), bare(config, sizes.updates)
        ours, theirs = race(*sides, sizes.rounds)
    return beside(
        f"update of {cell} in training, {sizes.hidden} units, copy over {sizes.delay}, batch {sizes.batch}",
        "the bare forward, backward and step",
        1e3 * ours / sizes.updates,
        1e3 * theirs / sizes.updates,
        "ms",
    )


def looping(config: Config, folder: Path, journal: FileJournal, updates: int) -> Callable[[], None]:
    """So many updates more, and a checkpoint."""
    trainer, asked = Trainer(config, Machine(config.training)), Asked()
    loop = Loop(trainer, RunFolder(folder), Position(), journal, asked, 0.0)

    def run() -> None:
        asked.stop = False
        loop.run(StopAfter(asked, updates))

    return run


def bare(config: Config, updates: int) -> Callable[[], None]:
    """So many updates on batches that are there already."""
    network, task, training = build(config), config.task, config.training
    optimizer = RMSprop(network.parameters(), lr=training.learning_rate, alpha=training.smoothing)
    batches = [task.batch(index, training.batch, seed=config.seed) for index in range(updates)]

    def run() -> None:
        for batch in batches:
            optimizer.zero_grad()
            task.loss(network(batch.inputs).logits, batch).backward()
            optimizer.step()

    return run


@final
class StopAfter(Progress, Stage):
    """Asks a training to stop after so many updates of this turn."""

    def __init__(self, asked: Asked, updates: int) -> None:
        self._asked, self._left = asked, updates
        self._begun = False

    def stage(self, name: str, total: float) -> Stage:
        del name, total
        return self

    def say(self, remark: str) -> None:
        pass

    def advance(self, amount: float = 1.0) -> None:
        if not self._begun:  # the first tells of the turns before
            self._begun = True
            return
        self._left -= int(amount)
        self._asked.stop = self._left <= 0

    def close(self) -> None:
        pass

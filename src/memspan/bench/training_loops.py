"""Updates of one network by the training loop, and by the few lines that one would write instead, in turns."""

from __future__ import annotations

import contextlib
import itertools
import math
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import final

from torch.optim import RMSprop

from memspan.bench.cell_speed import two_threads
from memspan.bench.timing import beside, seconds
from memspan.bench.train import TrainSizes
from memspan.models.cell_model import CellModel
from memspan.progress import Progress, Stage
from memspan.results import Benchmark
from memspan.training.run.checkpoint import Position
from memspan.training.run.config import merge
from memspan.training.run.folder import RunFolder
from memspan.training.run.journal import FileJournal
from memspan.training.run.loop import Loop, StopRequest
from memspan.training.run.machine import Machine
from memspan.training.supervised.build import build
from memspan.training.supervised.config import Config, TrainingConfig, from_json
from memspan.training.supervised.defaults import defaults
from memspan.training.supervised.learner import PREFETCH, SupervisedLearner

ENDLESS = 10**9
STILL = 1e-12
"""A learning rate at which weights stay: how long a step of some cells takes depends on them."""
BATCHES = 20
"""Of the bare updates, over and over."""
ROUND = math.lcm(PREFETCH, TrainingConfig.log_every)
"""Updates in a row after which what is done once in a few of them, drawing batches and logging, begins anew."""


def update_cost(cell: str, sizes: TrainSizes, *, validated: bool) -> Benchmark:
    """Updates of both sides in turns, so that a busy machine is as busy for both; with validations or without."""
    config = _as_by_default(cell, sizes)
    every = config.training.validate_every
    if not validated:
        config = replace(config, training=replace(config.training, validate_every=ENDLESS))
    with tempfile.TemporaryDirectory() as folder, two_threads():
        turns = in_turns(config, bare(config, build(config)), Path(folder), sizes.updates)
    whole = math.lcm(ROUND, every) if validated else ROUND
    looked = config.training.validation_batches * config.training.validation_size
    also = f", with a validation by {looked:,} sequences every {every:,}" if validated else ""
    return beside(
        f"update of {cell} in training, {sizes.hidden} units, copy over {sizes.delay}, batch {sizes.batch}{also}",
        "the bare forward, backward and step",
        1e3 * best_round(turns.ours, whole),
        1e3 * best_round(turns.theirs, whole),
        "ms",
    )


def _as_by_default(cell: str, sizes: TrainSizes) -> Config:
    """As `memspan train copy` would do it, but without an end and without an effect."""
    training = {"updates": ENDLESS, "batch": sizes.batch, "learning_rate": STILL, "device": "cpu"}
    if sizes.validate_every is not None:
        training["validate_every"] = sizes.validate_every
    here = {"task": {"delay": sizes.delay}, "cell": {"hidden": sizes.hidden}, "training": training}
    return from_json(merge(defaults("copy", cell), here), "the benchmark")


def best_round(seconds: list[float], updates: int) -> float:
    """Mean seconds of a round of `updates`, every one of which is the best of those at its place in all rounds.

    >>> best_round([2.0, 1.0] * 10 + [1.0, 2.0] * 10, 20)
    1.0
    >>> best_round([4.0, 1.0, 1.0] * 2, 3)
    2.0
    """
    size = min(updates, len(seconds))
    return sum(min(seconds[place::size]) for place in range(size)) / size


def in_turns(config: Config, other: Callable[[], object], folder: Path, updates: int) -> Turns:
    """So many updates of the loop, which writes into a folder, and before each of them the other work."""
    asked = StopRequest()
    turns = Turns(other, asked, updates)
    trainer = SupervisedLearner(config, Machine(config.training))
    with contextlib.closing(FileJournal(RunFolder(folder), 0)) as journal:
        Loop(trainer, RunFolder(folder), Position(), journal, asked, 0.0).run(turns)
    return turns


def bare(config: Config, network: CellModel) -> Callable[[], None]:
    """One update after the other, on batches that are there already."""
    task, training = config.task, config.training
    optimizer = RMSprop(network.parameters(), lr=training.learning_rate, alpha=training.smoothing)
    batches = itertools.cycle(
        [task.batch(index, training.batch, seed=config.seed) for index in range(BATCHES)]
    )

    def update() -> None:
        batch = next(batches)
        optimizer.zero_grad()
        task.loss(network(batch.inputs).logits, batch).backward()
        optimizer.step()

    return update


@final
class Turns(Progress, Stage):
    """Called by a loop after every update; does other work in between, and times both."""

    def __init__(self, other: Callable[[], object], asked: StopRequest, updates: int) -> None:
        self._other, self._asked, self._updates = other, asked, updates
        self._since = 0.0
        self.ours: list[float] = []
        """Seconds of every update of the loop."""
        self.theirs: list[float] = []
        """Seconds of the other work."""

    def stage(self, name: str, total: float, done: float = 0.0) -> Stage:
        del name, total, done
        self._turn()
        return self

    def say(self, remark: str) -> None:
        pass

    def advance(self, amount: float = 1.0) -> None:
        del amount
        self.ours.append(time.perf_counter() - self._since)
        if len(self.ours) == self._updates:
            self._asked.stop = True
        else:
            self._turn()

    def close(self) -> None:
        pass

    def _turn(self) -> None:
        self.theirs.append(seconds(self._other))
        self._since = time.perf_counter()

"""The benchmark `train`: the cost of an update in the whole training loop, next to the bare update."""

from __future__ import annotations

import contextlib
import itertools
import math
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import final

from torch.optim import RMSprop

from memspan.bench.timing import THREADS, cost_benchmark, run_all, seconds
from memspan.models.model import CellModel
from memspan.progress import SILENT, Progress, Stage
from memspan.results import Benchmark
from memspan.training.run.checkpoint import Position
from memspan.training.run.config import merge
from memspan.training.run.folder import RunFolder
from memspan.training.run.journal import FileJournal
from memspan.training.run.loop import Loop, StopRequest
from memspan.training.run.machine import Machine, torch_threads
from memspan.training.supervised.build import build
from memspan.training.supervised.config import Config, TrainingConfig, from_json
from memspan.training.supervised.defaults import defaults
from memspan.training.supervised.learner import PREFETCH, SupervisedLearner

ENDLESS = 10**9
# A learning rate that leaves the weights unchanged, because the duration of a step may depend on them.
NO_LEARNING = 1e-12
# Number of batches that the bare updates cycle through.
BATCHES = 20
# Period in updates of the periodic work of the loop, drawing batches and logging.
ROUND = math.lcm(PREFETCH, TrainingConfig.log_every)


@final
@dataclass(frozen=True, kw_only=True)
class TrainSizes:
    """Sizes of the benchmark `train`."""

    cells: tuple[str, ...] = ("rel-rnn", "minimal-rnn")
    delay: int = 100
    """Delay of the copy task."""
    hidden: int = 128
    batch: int = 10
    updates: int = 2_000
    """Updates of each side."""
    validate_every: int | None = None
    """Updates between validations and checkpoints; None: the default of `memspan train copy`."""


FULL = TrainSizes()


def train(progress: Progress = SILENT, sizes: TrainSizes = FULL) -> tuple[Benchmark, ...]:
    """Milliseconds of an update, two threads: batches, clipping, metrics and the rest next to forward, backward, step.

    Each cell is timed twice: without validations, and with them and the checkpoints that follow each.
    """
    work = (
        partial(update_cost, cell, sizes, validated=validated)
        for cell, validated in itertools.product(sizes.cells, (False, True))
    )
    return run_all("timing updates in the loop and bare", work, progress)


def update_cost(cell: str, sizes: TrainSizes, *, validated: bool) -> Benchmark:
    """Updates of both sides in turns, so that other load on the machine affects both equally."""
    config = _config(cell, sizes)
    every = config.training.validate_every
    if not validated:
        config = replace(config, training=replace(config.training, validate_every=ENDLESS))
    with tempfile.TemporaryDirectory() as folder, torch_threads(THREADS):
        times = timed_updates(config, bare_update(config, build(config)), Path(folder), sizes.updates)
    # A whole period, so that periodic work counts with its exact share.
    period = math.lcm(ROUND, every) if validated else ROUND
    sequences = config.training.validation_batches * config.training.validation_size
    suffix = f", with a validation by {sequences:,} sequences every {every:,}" if validated else ""
    return cost_benchmark(
        f"update of {cell} in training, {sizes.hidden} units, copy over {sizes.delay}, batch {sizes.batch}{suffix}",
        "the bare forward, backward and step",
        1e3 * best_round(times.ours, period),
        1e3 * best_round(times.theirs, period),
        "ms",
    )


def _config(cell: str, sizes: TrainSizes) -> Config:
    """The configuration of `memspan train copy`, without an end and without an effect on the weights."""
    training = {"updates": ENDLESS, "batch": sizes.batch, "learning_rate": NO_LEARNING, "device": "cpu"}
    if sizes.validate_every is not None:
        training["validate_every"] = sizes.validate_every
    changes = {"task": {"delay": sizes.delay}, "cell": {"hidden": sizes.hidden}, "training": training}
    return from_json(merge(defaults("copy", cell), changes), "the benchmark")


def best_round(seconds: list[float], updates: int) -> float:
    """Mean seconds over a round of `updates`, where each position counts with its best time over all rounds.

    >>> best_round([2.0, 1.0] * 10 + [1.0, 2.0] * 10, 20)
    1.0
    >>> best_round([4.0, 1.0, 1.0] * 2, 3)
    2.0
    """
    size = min(updates, len(seconds))
    return sum(min(seconds[position::size]) for position in range(size)) / size


def timed_updates(config: Config, other: Callable[[], object], folder: Path, updates: int) -> UpdateTimer:
    """Run this number of updates of the loop, which writes to `folder`, with the other work before each of them."""
    stop_request = StopRequest()
    timer = UpdateTimer(other, stop_request, updates)
    trainer = SupervisedLearner(config, Machine(config.training))
    with contextlib.closing(FileJournal(RunFolder(folder), 0)) as journal:
        Loop(trainer, RunFolder(folder), Position(), journal, stop_request, 0.0).run(timer)
    return timer


def bare_update(config: Config, network: CellModel) -> Callable[[], None]:
    """A function that performs one update after the other, on precomputed batches."""
    task, training = config.task, config.training
    optimizer = RMSprop(network.parameters(), lr=training.learning_rate, alpha=training.smoothing)
    batches = itertools.cycle([task.batch(index, training.batch, seed=config.seed) for index in range(BATCHES)])

    def update() -> None:
        batch = next(batches)
        optimizer.zero_grad()
        task.loss(network(batch.inputs).logits, batch).backward()
        optimizer.step()

    return update


@final
class UpdateTimer(Progress, Stage):
    """The progress of a loop, which calls it after every update: times the update, then times the other work."""

    def __init__(self, other: Callable[[], object], stop_request: StopRequest, updates: int) -> None:
        self._other, self._stop_request, self._updates = other, stop_request, updates
        self._start = 0.0
        self.ours: list[float] = []
        """Seconds of every update of the loop."""
        self.theirs: list[float] = []
        """Seconds of the other work."""

    def stage(self, name: str, total: float, done: float = 0.0) -> Stage:
        del name, total, done
        self._time_other()
        return self

    def say(self, remark: str) -> None:
        pass

    def advance(self, amount: float = 1.0) -> None:
        del amount
        self.ours.append(time.perf_counter() - self._start)
        if len(self.ours) == self._updates:
            self._stop_request.stop = True
        else:
            self._time_other()

    def close(self) -> None:
        pass

    def _time_other(self) -> None:
        self.theirs.append(seconds(self._other))
        self._start = time.perf_counter()

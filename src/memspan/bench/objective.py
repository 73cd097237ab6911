"""The benchmark `objective`: the cost of the BMI regularizer in an update of a language model."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import partial
from typing import Literal, final

from memspan.bench.timing import THREADS, cost_benchmark, race, run_all
from memspan.objectives import BmiConfig
from memspan.progress import SILENT, Progress
from memspan.results import Benchmark
from memspan.tasks import WordText
from memspan.training.run.config import CellConfig
from memspan.training.run.machine import Machine, torch_threads
from memspan.training.supervised.config import Config, ModelConfig, TrainingConfig
from memspan.training.supervised.learner import SupervisedLearner

# A learning rate at which both sides have the same weights throughout.
NO_LEARNING = 1e-12


@final
@dataclass(frozen=True, kw_only=True)
class ObjectiveSizes:
    """A language model as in `meanfield-table1`, with the batches and pairs of Cao and Xu 2020."""

    words: int = 10_000
    hidden: int = 228
    batch: int = 12
    steps: int = 70
    pairs: int = 12
    length: int = 40
    tied: bool = False
    dropout: float = 0.0
    rounds: int = 15


SOURCE = ObjectiveSizes()
# As `bmi-table1` at laptop scale: with its smaller softmax, the regularizer is a larger share of the update.
LAPTOP = ObjectiveSizes(words=3_000, hidden=100, batch=20, steps=35, tied=True, dropout=0.2)


def objective(
    progress: Progress = SILENT, sizes: tuple[ObjectiveSizes, ...] = (SOURCE, LAPTOP)
) -> tuple[Benchmark, ...]:
    """Milliseconds of an update, two threads, with the mutual information between segments and without."""
    phases: tuple[Literal["base", "full"], ...] = ("base", "full")
    work = (partial(update_cost, phase, size) for size in sizes for phase in phases)
    return run_all("timing updates with and without the BMI regularizer", work, progress)


def update_cost(phase: Literal["base", "full"], sizes: ObjectiveSizes) -> Benchmark:
    """The best update of each side; `full` is timed after the switch."""
    with torch_threads(THREADS):
        regularized, plain = trainer_of(phase, sizes), trainer_of("none", sizes)
        # `full` adds its second term only after the switch; for `base` this has no effect.
        regularized.switch()
        updates = itertools.count()
        ours, theirs = race(
            lambda: regularized.step(next(updates), 1.0), lambda: plain.step(next(updates), 1.0), sizes.rounds
        )
    return cost_benchmark(
        f"update with --bmi {phase}, {sizes.pairs} pairs of {sizes.length} words, LSTM of {sizes.hidden} units, "
        f"{sizes.words:,} words",
        f"the same update without, batch {sizes.batch} of {sizes.steps} words",
        1e3 * ours,
        1e3 * theirs,
        "ms",
    )


def trainer_of(phase: Literal["none", "base", "full"], sizes: ObjectiveSizes) -> SupervisedLearner:
    """A trainer before its first update."""
    config = Config(
        word="words",
        task=WordText(steps=sizes.steps, most=sizes.words).resolved(),
        cell=CellConfig(name="lstm", hidden=sizes.hidden),
        model=ModelConfig(embedding=sizes.hidden, tied=sizes.tied, dropout=sizes.dropout),
        training=TrainingConfig(batch=sizes.batch, optimizer="adam", learning_rate=NO_LEARNING, device="cpu"),
        bmi=BmiConfig(name=phase, pairs=sizes.pairs, length=sizes.length, learning_rate=NO_LEARNING),
    )
    return SupervisedLearner(config, Machine(config.training))

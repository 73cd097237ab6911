"""Updates of one language model with the information between segments as a second goal, and without, in turns."""

from __future__ import annotations

import itertools
from typing import Literal

from memspan.bench.cell_speed import two_threads
from memspan.bench.objective import ObjectiveSizes
from memspan.bench.timing import beside, race
from memspan.objectives import BmiConfig
from memspan.results import Benchmark
from memspan.tasks import WordText
from memspan.training.run.config import CellConfig
from memspan.training.run.machine import Machine
from memspan.training.supervised.config import Config, ModelConfig, TrainingConfig
from memspan.training.supervised.learner import SupervisedLearner

STILL = 1e-12
"""A learning rate at which both sides keep the same weights."""


def update_cost(phase: Literal["base", "full"], sizes: ObjectiveSizes) -> Benchmark:
    """The best update of each side; `full` is after the switch."""
    with two_threads():
        nudged, plain = trainer_of(phase, sizes), trainer_of("none", sizes)
        nudged.switch()
        updates = itertools.count()
        ours, theirs = race(
            lambda: nudged.step(next(updates), 1.0), lambda: plain.step(next(updates), 1.0), sizes.rounds
        )
    return beside(
        f"update with --bmi {phase}, {sizes.pairs} pairs of {sizes.length} words, LSTM of {sizes.hidden} units, "
        f"{sizes.words:,} words",
        f"the same update without, batch {sizes.batch} of {sizes.steps} words",
        1e3 * ours,
        1e3 * theirs,
        "ms",
    )


def trainer_of(phase: Literal["none", "base", "full"], sizes: ObjectiveSizes) -> SupervisedLearner:
    """A training that has not begun."""
    config = Config(
        word="words",
        task=WordText(steps=sizes.steps, most=sizes.words).resolved(),
        cell=CellConfig(name="lstm", hidden=sizes.hidden),
        model=ModelConfig(embedding=sizes.hidden, tied=sizes.tied, dropout=sizes.dropout),
        training=TrainingConfig(batch=sizes.batch, optimizer="adam", learning_rate=STILL, device="cpu"),
        bmi=BmiConfig(name=phase, pairs=sizes.pairs, length=sizes.length, learning_rate=STILL),
    )
    return SupervisedLearner(config, Machine(config.training))

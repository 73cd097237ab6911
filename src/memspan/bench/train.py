"""The benchmark `train`: what an update costs in the whole training loop, next to the bare update."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import final

from memspan.errors import check_models
from memspan.progress import SILENT, Progress
from memspan.results import Benchmark


@final
@dataclass(frozen=True, kw_only=True)
class TrainSizes:
    """How much work each side does."""

    cells: tuple[str, ...] = ("rel-rnn", "minimal-rnn")
    delay: int = 100
    """Of the copy task."""
    hidden: int = 128
    batch: int = 10
    updates: int = 2_000
    """Of each side."""
    validate_every: int | None = None
    """Updates, where validations and checkpoints are to count, too; None: as many as `memspan train copy` has."""


FULL = TrainSizes()


def train(progress: Progress = SILENT, sizes: TrainSizes = FULL) -> tuple[Benchmark, ...]:
    """Milliseconds of an update, two threads: batch, clipping, metrics and the rest against forward, backward, step.

    Of each cell twice: without validations, and with their share and that of the checkpoint that each ends with.
    """
    check_models("this benchmark")
    from memspan.bench.training_loops import update_cost

    done: list[Benchmark] = []
    with progress.stage("timing updates in the loop and bare", 2 * len(sizes.cells)) as stage:
        for cell, validated in itertools.product(sizes.cells, (False, True)):
            done.append(update_cost(cell, sizes, validated=validated))
            stage.advance()
    return tuple(done)

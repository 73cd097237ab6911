"""The benchmark `objective`: what a second goal adds to an update of a language model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from memspan.errors import check_models
from memspan.progress import SILENT, Progress
from memspan.results import Benchmark


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
LAPTOP = ObjectiveSizes(words=3_000, hidden=100, batch=20, steps=35, tied=True, dropout=0.2)
"""Of `bmi-table1` at laptop scale: its smaller softmax leaves less to hide the second goal behind."""


def objective(
    progress: Progress = SILENT, sizes: tuple[ObjectiveSizes, ...] = (SOURCE, LAPTOP)
) -> tuple[Benchmark, ...]:
    """Milliseconds of an update, two threads: with the information between segments, and without."""
    check_models("this benchmark")
    from memspan.bench.objective_cost import update_cost

    done: list[Benchmark] = []
    with progress.stage("timing updates with a second goal and without", 2 * len(sizes)) as stage:
        for size in sizes:
            for phase in ("base", "full"):
                done.append(update_cost(phase, size))
                stage.advance()
    return tuple(done)

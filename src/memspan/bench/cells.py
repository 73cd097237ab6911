"""The benchmark `cells`: training steps next to torch's own layers and to plain loops, and the memory they take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from memspan.errors import check_models
from memspan.progress import SILENT, Progress
from memspan.results import Benchmark


@final
@dataclass(frozen=True, kw_only=True)
class CellSizes:
    """How much work each side does."""

    steps: int = 100
    hidden: int = 128
    batch: int = 10
    large_batch: int = 64
    """The second batch of RelRNN."""
    long: int = 512
    narrow: int = 64
    narrow_batch: int = 50
    """Steps, units and batch of the minimalRNN."""
    short: int = 500
    """Steps over which a plain loop's memory is measured; RelLSTM's also at 2, 4 and 8 times as many, MemLSTM's at 4."""
    rounds: int = 5


FULL = CellSizes()


def cells(progress: Progress = SILENT, sizes: CellSizes = FULL) -> tuple[Benchmark, ...]:
    """Forward and backward of the sum of squares, two threads; memory each in a process of its own."""
    check_models("this benchmark")
    from memspan.bench.cell_memory import memory
    from memspan.bench.cell_speed import races, speed

    done: list[Benchmark] = []
    pairs = races(sizes)
    with progress.stage("timing cells next to their peers", len(pairs)) as stage:
        for pair in pairs:
            done.append(speed(pair, sizes.rounds))
            stage.advance()
    return (*done, *memory(sizes, progress))

"""The benchmark `cell-sizes`: training steps of every cell next to its peer, one size varied at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from memspan.errors import check_models
from memspan.progress import SILENT, Progress
from memspan.results import Benchmark


@final
@dataclass(frozen=True, kw_only=True)
class Variations:
    """The base, which is that of the benchmark `cells`, and what each size is besides."""

    steps: int = 100
    hidden: int = 128
    batch: int = 10
    hiddens: tuple[int, ...] = (16, 64, 256)
    batches: tuple[int, ...] = (64,)
    lengths: tuple[int, ...] = (500, 2_000)
    square: int = 500
    """The longest at which plain loops that take T^2 memory are run: 1.3 GB; at 2,000 steps it would be 21."""
    rounds: int = 3

    def sizes(self) -> list[tuple[int, int, int]]:
        """(steps, batch, hidden) of every variation."""
        return [
            *((self.steps, self.batch, hidden) for hidden in self.hiddens),
            *((self.steps, batch, self.hidden) for batch in self.batches),
            *((steps, self.batch, self.hidden) for steps in self.lengths),
        ]


FULL = Variations()


def cell_sizes(progress: Progress = SILENT, variations: Variations = FULL) -> tuple[Benchmark, ...]:
    """Forward and backward of the sum of squares, two threads."""
    check_models("this benchmark")
    from memspan.bench.cell_speed import every_cell, speed

    done: list[Benchmark] = []
    with progress.stage("timing cells at other sizes", len(variations.sizes())) as stage:
        for steps, batch, hidden in variations.sizes():
            pairs = every_cell(steps, batch, hidden, squares=steps <= variations.square)
            done += [speed(pair, variations.rounds) for pair in pairs]
            stage.advance()
    return tuple(done)

"""The benchmark `gridworld`: living and learning in a grid world, next to sb3-contrib's own recurrent policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from memspan.errors import check_rl
from memspan.progress import SILENT, Progress
from memspan.results import Benchmark


@final
@dataclass(frozen=True, kw_only=True)
class GridworldSizes:
    """How much work each side does: one update, as often as there are rounds."""

    cells: tuple[str, ...] = ("rel-lstm", "mem-lstm", "lstm")
    world: str = "DoorKey-5x5"
    worlds: int = 16
    steps: int = 128
    hidden: int = 64
    rounds: int = 5


FULL = GridworldSizes()


def gridworld(progress: Progress = SILENT, sizes: GridworldSizes = FULL) -> tuple[Benchmark, ...]:
    """Microseconds of a frame, one thread: lived through and learnt from four times."""
    check_rl("this benchmark")
    from memspan.bench.gridworld_speed import frame_cost

    done: list[Benchmark] = []
    with progress.stage("timing agents", len(sizes.cells)) as stage:
        for cell in sizes.cells:
            done.append(frame_cost(cell, sizes))
            stage.advance()
    return tuple(done)

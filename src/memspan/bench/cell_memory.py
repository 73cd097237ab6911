"""Peak memory of training steps, next to a plain loop's and next to what growth in proportion to time would be."""

from __future__ import annotations

from memspan.bench.cells import CellSizes
from memspan.bench.timing import beside
from memspan.progress import Progress
from memspan.reproductions.kerg2020.training_memory import training_costs
from memspan.results import Benchmark

LONGER = (2, 4, 8)
"""RelLSTM at so many times the steps of the first measurement."""
SQUARE = 4
"""MemLSTM at so many times the steps at which the plain loop, whose memory grows with the square, is measured."""


def memory(sizes: CellSizes, progress: Progress) -> tuple[Benchmark, ...]:
    """Megabytes above what the process held before the step."""
    with progress.stage("memory of training steps", 3) as stage:

        def megabytes(network: str, *times: int) -> dict[int, float]:
            lengths = [number * sizes.short for number in times]
            costs = training_costs(network, lengths=lengths, batch=sizes.batch, hidden=sizes.hidden)
            stage.advance()
            return {number: costs[number * sizes.short].peak / 1e6 for number in times}

        plain = megabytes("plain-mem-lstm", 1)[1]
        relevant = megabytes("rel-lstm", 1, *LONGER)
        attentive = megabytes("mem-lstm", SQUARE)[SQUARE]
    of = f"{sizes.hidden} units, batch {sizes.batch}, T = "
    loop = f"a plain MemLSTM at T = {sizes.short}"
    return (
        beside(f"training memory of RelLSTM, {of}{sizes.short}", loop, relevant[1], plain, "MB"),
        *(
            beside(
                f"training memory of RelLSTM, {of}{times * sizes.short}",
                f"twice its own at T = {times // 2 * sizes.short}",
                relevant[times],
                2 * relevant[times // 2],
                "MB",
            )
            for times in LONGER
        ),
        beside(
            f"training memory of MemLSTM, {of}{SQUARE * sizes.short}",
            f"{SQUARE**2} times {loop}",
            attentive,
            SQUARE**2 * plain,
            "MB",
        ),
    )

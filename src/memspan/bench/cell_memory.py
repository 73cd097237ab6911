"""Peak memory of training steps, next to a plain loop's and next to what growth in proportion to time would be."""

from __future__ import annotations

from memspan.bench.cells import CellSizes
from memspan.bench.timing import beside
from memspan.experiments.training_cost import training_cost
from memspan.progress import Progress
from memspan.results import Benchmark

LONGER = (2, 4, 8)
"""RelLSTM at so many times the steps of the first measurement."""
SQUARE = 4
"""MemLSTM at so many times the steps at which the plain loop, whose memory grows with the square, is measured."""


def memory(sizes: CellSizes, progress: Progress) -> tuple[Benchmark, ...]:
    """Megabytes above what the process held before the step."""
    with progress.stage("memory of training steps", 3 + len(LONGER)) as stage:

        def megabytes(network: str, steps: int) -> float:
            cost = training_cost(network, steps=steps, batch=sizes.batch, hidden=sizes.hidden)
            stage.advance()
            return cost.peak / 1e6

        plain = megabytes("plain-mem-lstm", sizes.short)
        relevant = {times: megabytes("rel-lstm", times * sizes.short) for times in (1, *LONGER)}
        attentive = megabytes("mem-lstm", SQUARE * sizes.short)
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

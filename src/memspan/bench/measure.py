"""The benchmark `measure`: counting, whole curves, workers, every lag, import."""

from __future__ import annotations

from memspan.bench.counting import counting
from memspan.bench.curves import two_workers, whole_curve
from memspan.bench.every_lag import every_lag
from memspan.bench.importing import importing
from memspan.bench.peers import check_peers, one_core
from memspan.bench.sizes import Sizes
from memspan.progress import SILENT, Progress
from memspan.results import Benchmark

FULL = Sizes()
COUNT = 9


def measure(progress: Progress = SILENT, sizes: Sizes = FULL) -> tuple[Benchmark, ...]:
    """Everything on one core, but for the two workers."""
    check_peers()
    done: list[Benchmark] = []
    with progress.stage("timing memspan next to its peers", COUNT) as stage, one_core():
        for benchmark in counting(sizes):
            done.append(benchmark)
            stage.advance()
        for work in (whole_curve, two_workers, every_lag, importing):
            done.append(work(sizes))
            stage.advance()
    return tuple(done)

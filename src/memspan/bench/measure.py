"""The benchmark `measure`: counting, whole curves, workers, every lag, import."""

from __future__ import annotations

from memspan.bench.counting import counting
from memspan.bench.curves import two_workers, whole_curves
from memspan.bench.every_lag import every_lag
from memspan.bench.importing import importing
from memspan.bench.peers import check_peers, one_core
from memspan.bench.sizes import Sizes
from memspan.progress import SILENT, Progress
from memspan.results import Benchmark

FULL = Sizes()
OTHERS = 8


def measure(progress: Progress = SILENT, sizes: Sizes = FULL) -> tuple[Benchmark, ...]:
    """Everything on one core, but for the two workers."""
    check_peers()
    done: list[Benchmark] = []
    total = OTHERS + len(sizes.curves)
    with progress.stage("timing memspan next to its peers", total) as stage, one_core():
        for benchmark in counting(sizes):
            done.append(benchmark)
            stage.advance()
        for benchmark in whole_curves(sizes):
            done.append(benchmark)
            stage.advance()
        for work in (two_workers, every_lag, importing):
            done.append(work(sizes))
            stage.advance()
    return tuple(done)

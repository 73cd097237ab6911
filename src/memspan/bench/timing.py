"""Timing of two sides in turns, runs in a separate process, and the machine they ran on."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import version
from pathlib import Path

from memspan.engines import available_cores
from memspan.errors import MemspanError
from memspan.progress import Progress
from memspan.results import Benchmark

Work = Callable[[], object]

# Threads of torch on both sides of a benchmark.
THREADS = 2


def race(ours: Work, theirs: Work, rounds: int) -> tuple[float, float]:
    """Best seconds of each side over `rounds` turns; the first round of ours may include compilation."""
    best = [float("inf"), float("inf")]
    for _ in range(rounds):
        # Alternating sides expose both to the same load of the machine.
        for side, work in enumerate((ours, theirs)):
            best[side] = min(best[side], seconds(work))
    return best[0], best[1]


def seconds(work: Work) -> float:
    """Duration of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def cost_benchmark(name: str, peer: str, ours: float, theirs: float, unit: str) -> Benchmark:
    """A benchmark of costs: the ratio, theirs over ours, is above 1 where we are better.

    >>> cost_benchmark("counting", "the plain way", 1.0, 3.0, "ns per pair").ratio
    3.0
    """
    return Benchmark(name, peer, ours, theirs, unit, theirs / ours)


def run_all(stage: str, work: Iterable[Callable[[], Benchmark]], progress: Progress) -> tuple[Benchmark, ...]:
    """Run benchmarks one after the other as a stage of the progress."""
    tasks = list(work)
    done: list[Benchmark] = []
    with progress.stage(stage, len(tasks)) as running:
        for task in tasks:
            done.append(task())
            running.advance()
    return tuple(done)


def run_process(module: str, arguments: Iterable[object], task: str, environment: Mapping[str, str]) -> str:
    """The output of `python -m module`: peak memory is a property of a whole process."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode:
        # The last line of a traceback is the error itself.
        last = (done.stderr.strip().splitlines() or [f"status {done.returncode}, perhaps out of memory"])[-1]
        raise MemspanError(f"{task} failed: {last}")
    return done.stdout


def machine() -> str:
    """Processor, cores, system and versions in one line."""
    return (
        f"{_processor()}, {available_cores()} cores, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}, numpy {version('numpy')}, numba {version('numba')}"
    )


def _processor() -> str:
    """The model name that Linux reports, otherwise that of the platform."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()

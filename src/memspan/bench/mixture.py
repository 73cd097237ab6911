"""The benchmark `mixture`: memory and time of a loss by a mixture of softmaxes, next to the plain equation."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import astuple, dataclass
from typing import final

from memspan.bench.timing import beside, race
from memspan.errors import MemspanError, check_models
from memspan.progress import SILENT, Progress
from memspan.results import Benchmark


@final
@dataclass(frozen=True)
class MixtureSizes:
    """A batch of the published AWD-LSTM with a mixture of softmaxes on the Penn Treebank: 12 times 70 words."""

    tokens: int = 840
    experts: int = 15
    words: int = 10_000
    embedding: int = 280


FULL = MixtureSizes()
ROUNDS = 3


def mixture(progress: Progress = SILENT, sizes: MixtureSizes = FULL) -> tuple[Benchmark, ...]:
    """Loss and gradients, two threads: memory of each side in a process of its own, times in turns."""
    check_models("this benchmark")
    from memspan.bench.cell_speed import two_threads
    from memspan.bench.mixture_step import steps

    with progress.stage("a loss by a mixture of softmaxes", 3) as stage:
        ours = _peak("ours", sizes) / 1e6
        stage.advance()
        theirs = _peak("plain", sizes) / 1e6
        stage.advance()
        with two_threads():
            step, plain = (steps(side, *astuple(sizes)) for side in ("ours", "plain"))
            seconds = race(step, plain, ROUNDS)
        stage.advance()
    of = f"{sizes.tokens:,} words, {sizes.experts} softmaxes over {sizes.words:,}"
    peer = f"the plain equation, {sizes.tokens:,} x {sizes.experts} x {sizes.words:,} at once"
    return (
        beside(f"peak memory of a loss, {of}", peer, ours, theirs, "MB"),
        beside(f"time of a loss, {of}", peer, *seconds, "s"),
    )


def _peak(side: str, sizes: MixtureSizes) -> float:
    from memspan.diagnostics.costs import ALLOCATOR  # loaded here: it comes with torch

    command = [sys.executable, "-m", "memspan.bench.mixture_step", side, *map(str, astuple(sizes))]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=os.environ | ALLOCATOR)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"status {done.returncode}, perhaps out of memory"])[-1]
        raise MemspanError(f"the loss ({side}) of {sizes.tokens:,} words failed: {last}")
    return float(done.stdout)

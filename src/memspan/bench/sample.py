"""The benchmark `sample`: many streams at once next to one after the other, and a cache next to reading all again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from memspan.errors import check_models
from memspan.progress import SILENT, Progress
from memspan.results import Benchmark


@final
@dataclass(frozen=True, kw_only=True)
class SampleSizes:
    """How much each side writes; both are told in seconds for `characters`."""

    characters: int = 2_000_000
    symbols: int = 50
    """Of the alphabet."""
    hidden: int = 128
    steps: int = 400
    """Of every stream side by side."""
    alone: int = 2_000
    """Symbols of one stream by itself."""
    context: int = 512
    """Symbols that the Transformer looks back at."""
    cached: int = 1_024
    """Symbols that it writes with a cache: twice past the end of its context."""
    uncached: int = 24
    """Symbols that it writes without, from as much context as the other side has, at even places of its text."""
    rounds: int = 3


FULL = SampleSizes()


def sample(progress: Progress = SILENT, sizes: SampleSizes = FULL) -> tuple[Benchmark, ...]:
    """Seconds for a text, in two threads, from what a part of it takes."""
    check_models("this benchmark")
    from memspan.bench.sampling_speed import side_by_side, with_cache

    done: list[Benchmark] = []
    with progress.stage("timing many streams and one, a cache and none", 2) as stage:
        for work in (side_by_side, with_cache):
            done.append(work(sizes))
            stage.advance()
    return tuple(done)

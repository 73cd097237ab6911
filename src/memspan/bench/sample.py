"""The benchmark `sample`: many streams at once next to one, and cached keys and values next to recomputed ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np
import torch
from torch import Tensor

from memspan import sampling
from memspan.bench.timing import THREADS, cost_benchmark, race, run_all
from memspan.cells import LSTM, Transformer
from memspan.models.model import SequenceModel
from memspan.progress import SILENT, Progress
from memspan.results import Benchmark
from memspan.training.run.machine import torch_threads

STREAMS = 256
# Streams of the Transformer on both sides: as many as `memspan sample` generates at once.
TRANSFORMER_STREAMS = 64


@final
@dataclass(frozen=True, kw_only=True)
class SampleSizes:
    """Sizes of the benchmark `sample`; both sides are reported in seconds for `characters`."""

    characters: int = 2_000_000
    symbols: int = 50
    """Size of the alphabet."""
    hidden: int = 128
    steps: int = 400
    """Symbols of each of many streams."""
    alone: int = 2_000
    """Symbols of a single stream."""
    context: int = 512
    """Context length of the Transformer."""
    cached: int = 1_024
    """Symbols generated with a cache: twice the context length."""
    uncached: int = 24
    """Symbols generated without a cache, at even positions of the text and with the context that the cache has there."""
    rounds: int = 3


FULL = SampleSizes()


def sample(progress: Progress = SILENT, sizes: SampleSizes = FULL) -> tuple[Benchmark, ...]:
    """Seconds for a text in two threads, extrapolated from a part of it."""
    work = (partial(parallel_streams, sizes), partial(cached_context, sizes))
    return run_all("timing many streams and one, with and without a cache", work, progress)


def parallel_streams(sizes: SampleSizes) -> Benchmark:
    """An LSTM that generates 256 texts at once, next to one text."""
    model = SequenceModel(LSTM(sizes.hidden, sizes.hidden), sizes.symbols)
    with torch_threads(THREADS):
        ours, theirs = race(
            lambda: generate(model, STREAMS, sizes.steps), lambda: generate(model, 1, sizes.alone), sizes.rounds
        )
    return cost_benchmark(
        f"{sizes.characters:,} characters of an LSTM, {sizes.hidden} units, {STREAMS} streams at once",
        "one stream at a time",
        ours * sizes.characters / (STREAMS * sizes.steps),
        theirs * sizes.characters / sizes.alone,
        "s",
    )


def cached_context(sizes: SampleSizes) -> Benchmark:
    """A Transformer that caches keys and values, next to one that reads the same context again for every symbol."""
    model = SequenceModel(Transformer(sizes.hidden, sizes.hidden, 2), sizes.symbols)
    lengths = context_lengths(sizes.context, sizes.cached)
    # Evenly spread positions, because the cost without a cache grows with the context.
    chosen = [lengths[place] for place in np.linspace(0, len(lengths) - 1, sizes.uncached).astype(int)]
    contexts = [torch.zeros(length, TRANSFORMER_STREAMS, dtype=torch.long) for length in chosen]
    with torch_threads(THREADS):
        ours, theirs = race(
            lambda: generate(model, TRANSFORMER_STREAMS, sizes.cached, context=sizes.context),
            lambda: [generate(model, TRANSFORMER_STREAMS, 1, first=context) for context in contexts],
            sizes.rounds,
        )
    return cost_benchmark(
        f"{sizes.characters:,} characters of a Transformer, {sizes.hidden} units, 2 layers, context {sizes.context}, "
        f"{TRANSFORMER_STREAMS} streams at once",
        "the same without a cache",
        ours * sizes.characters / (TRANSFORMER_STREAMS * sizes.cached),
        theirs * sizes.characters / (TRANSFORMER_STREAMS * sizes.uncached),
        "s",
    )


def context_lengths(context: int, symbols: int) -> list[int]:
    """The context length of each generated symbol, if half of a full context is retained.

    >>> context_lengths(4, 8)
    [1, 2, 3, 4, 2, 3, 4, 2]
    """
    lengths = [1]
    for _ in range(symbols - 1):
        lengths.append(lengths[-1] + 1 if lengths[-1] < context else max(1, context // 2))
    return lengths


def generate(
    model: SequenceModel, streams: int, length: int, *, context: int | None = None, first: int | Tensor = 0
) -> Tensor:
    """Symbols of shape (streams, length)."""
    blocks = sampling.sample(model, streams=streams, length=length, first=first, seed=0, context=context, group=streams)
    return torch.from_numpy(sampling.joined(blocks))

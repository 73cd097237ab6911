"""Texts written side by side or one after the other; from keys and values that are kept, or made again for every symbol."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from memspan.bench.cell_speed import two_threads
from memspan.bench.sample import SampleSizes
from memspan.bench.timing import beside, race
from memspan.cells import LSTM, Transformer
from memspan.models.cell_model import SequenceModel
from memspan.results import Benchmark
from memspan.sampling import joined, sample

STREAMS = 256
TEXTS = 64
"""Streams of the Transformer, on both sides: as many as `memspan sample` has side by side."""


def side_by_side(sizes: SampleSizes) -> Benchmark:
    """An LSTM that writes 256 texts at once, and one text."""
    model = _model(LSTM(sizes.hidden, sizes.hidden), sizes)

    def many() -> Tensor:
        return _written(model, STREAMS, sizes.steps)

    def one() -> Tensor:
        return _written(model, 1, sizes.alone)

    with two_threads():
        ours, theirs = race(many, one, sizes.rounds)
    return beside(
        f"{sizes.characters:,} characters of an LSTM, {sizes.hidden} units, {STREAMS} streams at once",
        "one stream at a time",
        ours * sizes.characters / (STREAMS * sizes.steps),
        theirs * sizes.characters / sizes.alone,
        "s",
    )


def with_cache(sizes: SampleSizes) -> Benchmark:
    """A Transformer that keeps keys and values, and one that reads as many symbols again for every one that it writes."""
    model = _model(Transformer(sizes.hidden, sizes.hidden, 2), sizes)
    seen = looked_at(sizes.context, sizes.cached)
    some = [seen[place] for place in np.linspace(0, len(seen) - 1, sizes.uncached).astype(int)]
    beginnings = [torch.zeros(length, TEXTS, dtype=torch.long) for length in some]

    def cached() -> Tensor:
        return _written(model, TEXTS, sizes.cached, context=sizes.context)

    def uncached() -> Tensor:
        return torch.cat([_written(model, TEXTS, 1, first=beginning) for beginning in beginnings], dim=1)

    with two_threads():
        ours, theirs = race(cached, uncached, sizes.rounds)
    return beside(
        f"{sizes.characters:,} characters of a Transformer, {sizes.hidden} units, 2 layers, context {sizes.context}, "
        f"{TEXTS} streams at once",
        "the same without a cache",
        ours * sizes.characters / (TEXTS * sizes.cached),
        theirs * sizes.characters / (TEXTS * sizes.uncached),
        "s",
    )


def looked_at(context: int, symbols: int) -> list[int]:
    """How many symbols each of so many is answered from, where half of a full context is kept.

    >>> looked_at(4, 8)
    [1, 2, 3, 4, 2, 3, 4, 2]
    """
    seen = [1]
    for _ in range(symbols - 1):
        seen.append(seen[-1] + 1 if seen[-1] < context else max(1, context // 2))
    return seen


def _model(cell: LSTM | Transformer, sizes: SampleSizes) -> SequenceModel:
    return SequenceModel(cell, sizes.symbols)


def _written(
    model: SequenceModel,
    streams: int,
    length: int,
    *,
    context: int | None = None,
    first: int | Tensor = 0,
) -> Tensor:
    blocks = sample(
        model,
        streams=streams,
        length=length,
        first=first,
        seed=0,
        context=context,
        group=streams,
    )
    return torch.from_numpy(joined(blocks))

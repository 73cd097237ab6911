"""Texts written side by side or one after the other; from keys and values that are kept, or made again for every symbol."""

from __future__ import annotations

import torch
from torch import Tensor

from memspan.bench.cell_speed import two_threads
from memspan.bench.sample import SampleSizes
from memspan.bench.timing import beside, race
from memspan.cells import LSTM, Transformer
from memspan.models.sequence_model import SequenceModel
from memspan.results import Benchmark
from memspan.sampling import joined, sample

STREAMS = 256
TEXTS = 16
"""Streams of the Transformer, on both sides."""


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
    """A Transformer that keeps keys and values, and one that reads its whole context again for every symbol."""
    model = _model(Transformer(sizes.hidden, sizes.hidden, 2), sizes)
    full = torch.zeros(sizes.context, TEXTS, dtype=torch.long)

    def cached() -> Tensor:
        return _written(model, TEXTS, sizes.cached, context=sizes.context)

    def uncached() -> Tensor:
        return _written(model, TEXTS, sizes.uncached, context=sizes.context, kept=sizes.context, first=full)

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


def _model(cell: LSTM | Transformer, sizes: SampleSizes) -> SequenceModel:
    return SequenceModel(cell, sizes.symbols)


def _written(
    model: SequenceModel,
    streams: int,
    length: int,
    *,
    context: int | None = None,
    kept: int | None = None,
    first: int | Tensor = 0,
) -> Tensor:
    blocks = sample(
        model,
        streams=streams,
        length=length,
        first=first,
        seed=0,
        context=context,
        kept=kept,
        group=streams,
    )
    return torch.from_numpy(joined(blocks))

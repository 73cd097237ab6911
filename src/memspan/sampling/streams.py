"""`sample`: what a model writes, in many streams at once, block after block."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor

from memspan.models.model import Model
from memspan.progress import SILENT, Progress
from memspan.sampling.blocks import Block
from memspan.sampling.checking import check_context, check_counts, check_seed, checked_beginning
from memspan.sampling.choosing import Choice
from memspan.sampling.reading import Reader
from memspan.sampling.writing import Writer

GROUP = 64
"""Streams that are written side by side unless told."""
STEPS = 1024
"""Steps of a block."""


def sample(
    model: Model,
    *,
    streams: int,
    length: int,
    first: int | Tensor,
    seed: int,
    choice: Choice | None = None,
    context: int | None = None,
    kept: int | None = None,
    group: int = GROUP,
    progress: Progress = SILENT,
) -> Iterator[Block]:
    """`streams` sequences of `length` symbols, each drawn from what the model answers to all before it.

        x_0 = first,    x_t ~ choice(logits after x_0 … x_{t-1}),    t = 1 … length

    `first` is read and not written: one symbol for all, one for each (streams), or a beginning of several (time, streams).
    Where a state grows with every step, as the keys and values of a Transformer do, `context` bounds how far the model
    looks back: at most `context` symbols and, once so many were read, at least `kept`; half of them unless told (`Reader`).

    `group` streams are written side by side, from the first to the last step, before those that follow; what is held is a
    block and the states of a group. Stream s has random numbers of its own, those of (seed, s): it does not depend on how
    many others there are or on how they are grouped, but for matrix products that round otherwise in another size.

    Inside, the model is in evaluation mode and has no gradients; between blocks it is as it was.
    """
    check_counts(streams=streams, length=length, group=group)
    check_seed(seed)
    check_context(context, kept, model)
    beginning = checked_beginning(first, streams, model)
    rule = choice or Choice()

    def blocks() -> Iterator[Block]:
        with progress.stage("sampling", streams * length) as stage:
            for stream in range(0, streams, group):
                reader, begun = Reader(model, context, kept), beginning[:, stream : stream + group]
                writer = Writer(model, reader, rule, begun, first=stream, seed=seed)
                for step in range(0, length, STEPS):
                    symbols = writer.write(min(STEPS, length - step))
                    stage.advance(symbols.size)
                    yield Block(stream, step, symbols)

    return blocks()

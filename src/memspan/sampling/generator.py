"""`TextGenerator`: a model together with its vocabulary and its way of starting a text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np
import torch
from torch import Tensor

from memspan.models.model import Model
from memspan.models.vocabulary import Spelling
from memspan.progress import SILENT, Progress
from memspan.sampling.decoding import Choice
from memspan.sampling.streams import GROUP, Block, sample

# Default number of texts; fewer if they would be short.
STREAMS = 256
# Default minimum length of a text, in symbols.
SHORTEST = 1_000
# Streams per group for a model with a fixed-size state: one step reads all weights once for the whole group.
_FIXED_STATE_GROUP = 256
# Maximum memory for states that grow with the text, unless a single stream needs more.
_STATE_BYTES = 1 << 30
# Separates the random numbers of first symbols from those of the streams.
_FIRST_SYMBOLS = 1


@final
@dataclass(frozen=True)
class TextGenerator:
    """A model that generates text."""

    model: Model
    spelling: Spelling
    """The text of its symbols"""
    name: str
    """Where it comes from: `run:` or `hf:` and a folder"""
    about: str
    """A description for reports"""
    first: int | None
    """The symbol read before the first generated one; None: a random symbol, if none marks the start of a text"""
    context: int | None
    """Context length in symbols; None: unlimited"""
    notes: tuple[str, ...] = ()
    """Remarks for reports"""

    def generate(
        self,
        *,
        streams: int,
        length: int,
        seed: int,
        choice: Choice | None = None,
        context: int | None = None,
        progress: Progress = SILENT,
    ) -> Iterator[Block]:
        """`streams` texts of `length` symbols, each from an empty context; `context` defaults to the own one."""
        bound = self.context if context is None else context
        first: int | Tensor | None = self.first
        if first is None:
            random = np.random.default_rng([seed, _FIRST_SYMBOLS])
            first = torch.from_numpy(random.integers(len(self.spelling), size=streams))
        return sample(
            self.model,
            streams=streams,
            length=length,
            first=first,
            seed=seed,
            choice=choice,
            context=bound,
            group=_FIXED_STATE_GROUP if bound is None else group_size(self.model, bound),
            progress=progress,
        )

    write = generate  # the name of the first edition, deprecated


def group_size(model: Model, context: int) -> int:
    """Number of streams whose states together fit in `_STATE_BYTES` after `context` symbols each."""
    return max(1, min(GROUP, _STATE_BYTES // (4 * model.state_size(context))))


def stream_sizes(length: int, streams: int | None) -> tuple[int, int]:
    """Number of texts, and the length of each, for a total of at least `length` symbols.

    >>> stream_sizes(2_000_000, None), stream_sizes(5_000, None), stream_sizes(100, 3)
    ((256, 7813), (5, 1000), (3, 34))
    """
    number = max(1, min(STREAMS, length // SHORTEST)) if streams is None else streams
    return number, -(-length // number)

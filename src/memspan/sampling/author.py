"""What writes texts: a model, what its symbols stand for, and how it begins."""

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
from memspan.sampling.blocks import Block
from memspan.sampling.choosing import Choice
from memspan.sampling.streams import GROUP, sample

STREAMS = 256
"""Texts that are written unless told; fewer where they would be short."""
SHORTEST = 1_000
"""Symbols of a text unless told that it be shorter."""
_SIDE_BY_SIDE = 256
"""Streams of a model whose state does not grow: the fastest here, as one step reads all weights once for them."""
_HELD = 1 << 30
"""Bytes of states that grow, at most, unless one stream alone has more."""
_BEGINNINGS = 1
"""Tells the random numbers of beginnings from those of the streams."""


@final
@dataclass(frozen=True)
class Author:
    """A model that writes."""

    model: Model
    spelling: Spelling
    """What its symbols stand for"""
    name: str
    """The word for it: `run:` or `hf:` and the folder it comes from"""
    about: str
    """What it is, in words"""
    first: int | None
    """What is read before the first symbol; None: one of all symbols by chance, where nothing marks a beginning"""
    context: int | None
    """How far it can look back; None: as far as its state reaches"""
    notes: tuple[str, ...] = ()
    """What a reader should know about where it comes from"""

    def write(
        self,
        *,
        streams: int,
        length: int,
        seed: int,
        choice: Choice | None = None,
        context: int | None = None,
        progress: Progress = SILENT,
    ) -> Iterator[Block]:
        """`streams` texts of `length` symbols, from an empty context; `context` is the author's own unless told."""
        bound = self.context if context is None else context
        return sample(
            self.model,
            streams=streams,
            length=length,
            first=self._beginning(streams, seed),
            seed=seed,
            choice=choice,
            context=bound,
            group=_SIDE_BY_SIDE if bound is None else side_by_side(self.model, bound),
            progress=progress,
        )

    def _beginning(self, streams: int, seed: int) -> int | Tensor:
        if self.first is not None:
            return self.first
        random = np.random.default_rng([seed, _BEGINNINGS])
        return torch.from_numpy(random.integers(len(self.spelling), size=streams))


def side_by_side(model: Model, context: int) -> int:
    """Streams whose states together stay below `_HELD` bytes when each has read `context` symbols."""
    return max(1, min(GROUP, _HELD // (4 * model.state_size(context))))


def divided(length: int, streams: int | None) -> tuple[int, int]:
    """How many texts, and how long each, so that they are `length` symbols or a few more together.

    >>> divided(2_000_000, None), divided(5_000, None), divided(100, 3)
    ((256, 7813), (5, 1000), (3, 34))
    """
    number = max(1, min(STREAMS, length // SHORTEST)) if streams is None else streams
    return number, -(-length // number)

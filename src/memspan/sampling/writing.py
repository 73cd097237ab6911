"""Streams that go on from what they wrote: read, draw, read what was drawn."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import final

import numpy as np
import torch
from torch import Tensor, nn

from memspan.models.model import Model
from memspan.sampling.choosing import Choice
from memspan.sampling.reading import Reader
from memspan.sequences.store import Symbols, narrow_dtype


@final
class Writer:
    """Streams number `first` to `first + batch - 1`, side by side, after a beginning (time, batch) that is not written."""

    def __init__(
        self, model: Model, reader: Reader, choice: Choice, beginning: Tensor, *, first: int, seed: int
    ) -> None:
        """The model is that of the reader."""
        self._model, self._reader, self._choice, self._unread = model, reader, choice, beginning
        # With a key, numbers are none that a seed with further words beside it has elsewhere.
        own = (np.random.SeedSequence(seed, spawn_key=(first + row,)) for row in range(beginning.shape[1]))
        self._random = [np.random.default_rng(sequence) for sequence in own]

    def write(self, steps: int) -> Symbols:
        """The next symbols of every stream, (batch, steps)."""
        uniform = torch.from_numpy(np.stack([stream.random(steps) for stream in self._random], axis=1))
        written, classes = [], 0
        with at_rest(self._model):
            for numbers in uniform:
                logits = self._reader(self._unread)
                self._unread = self._choice.at(logits, numbers).unsqueeze(0)
                written.append(self._unread)
                classes = logits.shape[1]
        return torch.cat(written).T.cpu().numpy().astype(narrow_dtype(classes), order="C")


@contextlib.contextmanager
def at_rest(model: nn.Module) -> Iterator[None]:
    """Inside, nothing is dropped out and no gradient kept; afterwards the model and its parts are as they were."""
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for module, training in modes:
            module.training = training

"""A model that is given symbols one after the other, and looks back as far as its state does, or a stated way."""

from __future__ import annotations

from collections import deque
from typing import final

import torch
from torch import Tensor

from memspan.models.model import Model, State


@final
class Reader:
    """z = reader(x): the logits of what follows all symbols read so far, of several streams side by side.

    One step of the model for each symbol, with its state carried on. With a `context` the model never looks back further:
    when its state is of that many symbols, it begins anew and reads the last `kept` in one call. With context 4, kept 2:

        read        a   b   c   d   e   f   g   h
        looked at   a   ab  abc abcd de def defg gh

    `kept` as large as `context` is the sliding window: every symbol is answered from the last `context`, at that many
    times the work.
    """

    def __init__(self, model: Model, context: int | None = None, kept: int | None = None) -> None:
        """`kept` is half of `context` unless told."""
        self._model, self._context = model, context
        half = 0 if context is None else max(1, context // 2)
        self._last: deque[Tensor] = deque(maxlen=half if kept is None else kept)
        self._state: State | None = None
        self._read = 0

    def __call__(self, symbols: Tensor) -> Tensor:
        """Logits (batch, classes) after `symbols` (time, batch), in the mode that the model is in."""
        self._last.extend(symbols)
        if self._context is not None and self._read + len(symbols) > self._context:
            symbols, self._state, self._read = torch.stack(tuple(self._last)), None, 0
        output = self._model(symbols, self._state, scored=1)
        self._state, self._read = output.state, self._read + len(symbols)
        return output.logits[0]

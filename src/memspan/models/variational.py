"""Dropout with persistent masks: one for all steps of a sequence, for all occurrences of a word, or for a weight matrix.

Masks are 0 with probability p and 1 / (1 - p) otherwise, which leaves expectations unchanged. They are drawn in training
only, from `generator` or, by default, from torch's random numbers.
"""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor
from torch.nn import functional

from memspan.cells.base.autograd import Probe, Resets, States
from memspan.cells.base.layer import Device, Dtype
from memspan.cells.gated.lstm import TorchLSTMLayer


def dropout_mask(shape: tuple[int, ...], p: float, like: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Independently 0 with probability p, else 1 / (1 - p)."""
    mask = torch.empty(shape, device=like.device, dtype=like.dtype)
    return mask.bernoulli_(1 - p, generator=generator).div_(1 - p)


def locked_dropout(sequence: Tensor, p: float, *, training: bool, generator: torch.Generator | None = None) -> Tensor:
    """m * x_t, one m (batch, features) for all steps of x (time, batch, features).  Gal and Ghahramani 2016."""
    if not training or p == 0:
        return sequence
    return sequence * dropout_mask((1, *sequence.shape[1:]), p, sequence, generator)


def embed(
    words: Tensor, weight: Tensor, p: float, *, training: bool, generator: torch.Generator | None = None
) -> Tensor:
    """m_w E_w: words (time, batch) as rows of E (vocabulary, features), each word dropped everywhere or nowhere.

    Gal and Ghahramani 2016. The mask is applied to the selected rows, not to the whole matrix.
    """
    rows = functional.embedding(words, weight)
    if not training or p == 0:
        return rows
    return rows * dropout_mask((len(weight), 1), p, weight, generator)[words]


@final
class WeightDropLSTMLayer(TorchLSTMLayer):
    """An LSTM that in training uses m * U as recurrent matrix, one mask for all steps and sequences of a call.

    Merity 2018 (AWD-LSTM), section 2, after the DropConnect of Wan 2013. The weights of `network` are never modified.
    """

    def __init__(
        self, input_size: int, hidden_size: int, p: float = 0.5, device: Device = None, dtype: Dtype = None
    ) -> None:
        super().__init__(input_size, hidden_size, device, dtype)
        self.p = p

    def scan(self, inputs: Tensor, state: States, resets: Resets, probe: Probe) -> tuple[Tensor, States]:
        U = None
        if self.training and self.p > 0:
            U = self.recurrent_matrix
            U = U * dropout_mask(tuple(U.shape), self.p, U)
        return self.scan_with(U, inputs, state, resets, probe)

    def scan_without_dropout(self, inputs: Tensor, state: States, resets: Resets) -> Tensor:
        return self.scan_with(None, inputs, state, resets, None)[0]

"""h_t = phi(U x_t + V s_t + b), s_t = h_{t-1} + sum_i alpha_i h_i over all past states: it attends to its past."""

from __future__ import annotations

from functools import partial
from typing import ClassVar, NamedTuple, final

import torch
from torch import Tensor

from memspan.cells.activations import activation
from memspan.cells.cell import Cell
from memspan.cells.combine import check_combine
from memspan.cells.layer import Device
from memspan.cells.memory_layer import MemoryLayer


class HiddenAndPast(NamedTuple):
    """The state of a network that attends to its past."""

    h: Tensor
    """(layers, batch, hidden)"""
    s: Tensor
    """(layers, batch, hidden): the last sum of state and context, which asks the next question"""
    memory: Tensor
    """(layers, batch, time, hidden): the past states, of the longest document in the batch"""
    length: Tensor
    """(layers, batch), int64: how many states, the last ones of the memory, are of the current document"""


@final
class MemRNNLayer(MemoryLayer):
    """h_t = phi(U x_t + V s_t + b), alpha = softmax(e), e_i = v . tanh(W_a s_{t-1} + U_a h_i)."""

    State: ClassVar[type[tuple]] = HiddenAndPast
    options: ClassVar = {"nonlinearity": "tanh", **MemoryLayer.options}

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        nonlinearity: str = "tanh",
        combine: str = "sum",
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(
            input_size, hidden_size, hidden_size, combine, activation(nonlinearity), device, dtype
        )
        self.nonlinearity = nonlinearity


@final
class MemRNN(Cell):
    """h_t = phi(U x_t + V s_t + b), s_t = h_{t-1} + sum_{i < t} alpha_i h_i.

    alpha = softmax(e), e_i = v . tanh(W_a s_{t-1} + U_a h_i), s_1 = 0: Kerg 2020, Eq. 1, 2, after Bahdanau 2014.
    `combine="mean"` takes half of the sum, as the authors' program does in its other networks (errata 13). phi is one of
    tanh, relu, identity and modrelu. The work grows with the square of time, the memory of training in proportion to it.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        batch_first: bool = False,
        dropout: float = 0.0,
        *,
        nonlinearity: str = "tanh",
        combine: str = "sum",
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        check_combine(combine)
        super().__init__(
            input_size,
            hidden_size,
            num_layers,
            batch_first,
            dropout,
            device=device,
            dtype=dtype,
            layer=partial(MemRNNLayer, nonlinearity=nonlinearity, combine=combine),
        )

"""An LSTM whose gates read s_t = h_{t-1} + sum over all past states of alpha_i h_i in place of h_{t-1}."""

from __future__ import annotations

from functools import partial
from typing import ClassVar, NamedTuple, final

import torch
from torch import Tensor

from memspan.cells.cell import Cell
from memspan.cells.combine import check_combine
from memspan.cells.layer import Device
from memspan.cells.lstm_step import lstm_candidate, lstm_gate_biases
from memspan.cells.memory_layer import MemoryLayer
from memspan.init.chrono import GateBiases


class CellAndPast(NamedTuple):
    """The state of an LSTM that attends to its past."""

    h: Tensor
    """(layers, batch, hidden)"""
    c: Tensor
    """(layers, batch, hidden)"""
    s: Tensor
    """(layers, batch, hidden): the last sum of state and context, which asks the next question"""
    memory: Tensor
    """(layers, batch, time, hidden): the past states, of the longest document in the batch"""
    length: Tensor
    """(layers, batch), int64: how many states, the last ones of the memory, are of the current document"""


@final
class MemLSTMLayer(MemoryLayer):
    """i, f, o = sigmoid(U x_t + V s_t + b), g = tanh(…), alpha = softmax(e), e_i = v . tanh(W_a s_{t-1} + U_a h_i).

    The rows of U, V and b are those of i, f, g, o, as in `torch.nn.LSTM`.
    """

    State: ClassVar[type[tuple]] = CellAndPast

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        combine: str = "sum",
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, 4 * hidden_size, combine, None, device, dtype)

    def gate_biases(self) -> GateBiases:
        return lstm_gate_biases(self.b)

    def candidate(self) -> Tensor:
        return lstm_candidate(self.V)


@final
class MemLSTM(Cell):
    """i, f, g, o from U x_t + V s_t + b; c_t = f * c_{t-1} + i * g; h_t = o * tanh(c_t); s_t = h_{t-1} + sum_i alpha_i h_i.

    The sum is over all past states, alpha = softmax(e), e_i = v . tanh(W_a s_{t-1} + U_a h_i), s_1 = 0: Kerg 2020, sections
    3 and 5, after Bahdanau 2014. `combine="mean"` takes half of the sum for s_t, as the authors' program does (errata 13).
    The work grows with the square of time, the memory of training in proportion to it.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        batch_first: bool = False,
        dropout: float = 0.0,
        *,
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
            layer=partial(MemLSTMLayer, combine=combine),
        )

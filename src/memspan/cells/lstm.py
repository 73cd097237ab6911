"""c_t = f * c_{t-1} + i * g, h_t = o * tanh(c_t): torch's own LSTM with resets and probes."""

from __future__ import annotations

from functools import partial
from typing import ClassVar, NamedTuple, final

import torch
from torch import Tensor, nn

from memspan.cells.cell import Cell
from memspan.cells.layer import Device
from memspan.cells.lstm_step import lstm_candidate, lstm_gate_biases
from memspan.cells.torch_layer import TorchLayer
from memspan.init.chrono import GateBiases


class HiddenAndMemory(NamedTuple):
    """The state of an LSTM."""

    h: Tensor
    """(layers, batch, hidden)"""
    c: Tensor
    """(layers, batch, hidden)"""


@final
class LSTMLayer(TorchLayer):
    """i, f, o = sigmoid(W x_t + U h_{t-1} + b), g = tanh(…), c_t = f * c_{t-1} + i * g, h_t = o * tanh(c_t).

    The weights are those of the `torch.nn.LSTM` that is `network`.
    """

    State: ClassVar[type[tuple]] = HiddenAndMemory
    Network = nn.LSTM
    options: ClassVar = {"one_bias": False}

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        one_bias: bool = False,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, device, dtype)
        self.one_bias = one_bias
        if one_bias:
            self.reset_parameters()

    def reset_parameters(self) -> None:
        """Uniform within 1 / sqrt(hidden), as torch has it; with `one_bias` the second bias is zero and stays so."""
        super().reset_parameters()
        if self.one_bias:
            second = self.network.all_weights[0][3]
            nn.init.zeros_(second).requires_grad_(False)

    def gate_biases(self) -> GateBiases:
        """Each gate has two, which add up."""
        return lstm_gate_biases(*self.network.all_weights[0][2:])

    def candidate(self) -> Tensor:
        return lstm_candidate(self.network.all_weights[0][1])

    def driven(self, inputs: Tensor) -> Tensor:
        W, _, b, b_more = self.network.all_weights[0]
        return nn.functional.linear(inputs, W, b + b_more)

    def step(self, driven: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        h, c = state
        i, f, g, o = torch.addmm(driven, h, self.network.all_weights[0][1].T).chunk(4, dim=1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c


@final
class LSTM(Cell):
    """c_t = f * c_{t-1} + i * g, h_t = o * tanh(c_t): `torch.nn.LSTM`, its kernels and its start, as a cell.

    Hochreiter and Schmidhuber 1997, with the forget gate of Gers 2000. A `probe` costs a plain loop over the steps.
    torch gives every gate two biases that add up; with `one_bias` only one of them is learnt.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        batch_first: bool = False,
        dropout: float = 0.0,
        *,
        one_bias: bool = False,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(
            input_size,
            hidden_size,
            num_layers,
            batch_first,
            dropout,
            device=device,
            dtype=dtype,
            layer=partial(LSTMLayer, one_bias=one_bias),
        )

"""c_t = f * c_{t-1} + i * g, h_t = o * tanh(c_t): torch's own LSTM with resets and probes."""

from __future__ import annotations

from typing import ClassVar, NamedTuple, final

import torch
from torch import Tensor, nn

from memspan.cells.cell import Cell
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
    """

    kind = LSTMLayer

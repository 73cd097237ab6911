"""s_t = h_{t-1} + sum_i alpha_i h_i over all past states, as the equations stand: a list, stacked at every step."""

from __future__ import annotations

from typing import cast, final

import torch
from torch import Tensor, nn

from memspan.cells import MemLSTM
from memspan.cells.mem_lstm import MemLSTMLayer


@final
class PlainLoop(nn.Module):
    """A `MemLSTM` of one layer with the same weights and outputs, whose steps autograd remembers.  Kerg 2020, Eq. 2.

    Step t keeps the t states that it looked at and as many hidden activations, so training memory grows with the square
    of time: what the figure of the paper shows.
    """

    def __init__(self, cell: MemLSTM) -> None:
        super().__init__()
        self.cell = cell

    def forward(self, inputs: Tensor) -> Tensor:
        """(time, batch, features) -> (time, batch, hidden)"""
        layer = cast(MemLSTMLayer, self.cell.first)
        h = c = s = inputs.new_zeros(inputs.shape[1], layer.hidden_size)
        states: list[Tensor] = []
        for x in inputs:
            if states:
                memory = torch.stack(states)
                alpha = torch.softmax(torch.tanh(s @ layer.W_a.T + memory @ layer.U_a.T) @ layer.v, 0)
                s = h + (alpha.unsqueeze(2) * memory).sum(0)
            i, f, g, o = (x @ layer.U.T + s @ layer.V.T + layer.b).chunk(4, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            states.append(h)
        return torch.stack(states)

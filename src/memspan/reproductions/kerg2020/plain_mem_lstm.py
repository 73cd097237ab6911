"""s_t = h_{t-1} + sum_i alpha_i h_i over all past states, as the equations stand: a list, stacked at every step."""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor, nn


@final
class PlainMemLSTM(nn.Module):
    """An LSTM cell on (x_t, s_t), s_t = h_{t-1} + c_t, c_t over all past states.  Kerg 2020, Eq. 2, section 5.

    Autograd remembers every step, and step t the t states that it looked at and as many hidden activations: training memory
    grows with the square of time.
    """

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.hidden_size = hidden_size
        self.cell = nn.LSTMCell(input_size, hidden_size)
        self.attention = AdditiveAttention(hidden_size)

    def forward(self, inputs: Tensor) -> Tensor:
        """(time, batch, features) -> (time, batch, hidden)"""
        h = c = s = inputs.new_zeros(inputs.shape[1], self.hidden_size)
        states: list[Tensor] = []
        for x in inputs:
            if states:
                s = h + self.attention(s, torch.stack(states))[0]
            h, c = self.cell(x, (s, c))
            states.append(h)
        return torch.stack(states)


@final
class AdditiveAttention(nn.Module):
    """c = sum_i alpha_i m_i, alpha = softmax_i v . tanh(W_a s + U_a m_i).  Bahdanau 2015."""

    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.W_a = nn.Linear(hidden_size, hidden_size, bias=False)
        self.U_a = nn.Linear(hidden_size, hidden_size, bias=False)
        self.v = nn.Linear(hidden_size, 1, bias=False)

    def forward(self, s: Tensor, memory: Tensor, missing: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """c (batch, hidden) and alpha (held, batch) from s (batch, hidden) and a memory (held, batch, hidden)."""
        e = self.v(torch.tanh(self.W_a(s) + self.U_a(memory))).squeeze(2)
        alpha = torch.softmax(e if missing is None else e.masked_fill(missing, float("-inf")), 0)
        return (alpha.unsqueeze(2) * memory).sum(0), alpha

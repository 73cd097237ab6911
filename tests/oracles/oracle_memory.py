"""s_t = h_{t-1} + sum_i alpha_i h_i, alpha = softmax(e), e_i = v . tanh(W_a s_{t-1} + U_a h_i), over all past states h_i.

Of MemRNN h_t = tanh(U x_t + V s_t + b); of MemLSTM the gates are U x_t + V s_t + b.
"""

from __future__ import annotations

from typing import Any

import torch
from oracle import Oracle
from torch import Tensor

from memspan.cells.attentive.memory import MemLSTM, MemRNN


def attended(layer: Any, s: Tensor, past: list[Tensor]) -> Tensor:
    """s_t; zero where there is no past."""
    if not past:
        return torch.zeros_like(s)
    states = torch.stack(past)
    alpha = torch.softmax(torch.tanh(layer.W_a @ s + states @ layer.U_a.T) @ layer.v, dim=0)
    total = past[-1] + alpha @ states
    return total if layer.combine == "sum" else 0.5 * total


def start_rnn(layer: Any) -> tuple[Tensor, list[Tensor]]:
    return torch.zeros(layer.hidden_size, dtype=layer.V.dtype), []


def step_rnn(layer: Any, x: Tensor, state: Any) -> tuple[Tensor, Any]:
    s, past = state
    s = attended(layer, s, past)
    h = torch.tanh(layer.U @ x + layer.V @ s + layer.b)
    return h, (s, [*past, h])


def start_lstm(layer: Any) -> tuple[Tensor, Tensor, list[Tensor]]:
    zero = torch.zeros(layer.hidden_size, dtype=layer.V.dtype)
    return zero, zero, []


def step_lstm(layer: Any, x: Tensor, state: Any) -> tuple[Tensor, Any]:
    s, c, past = state
    s = attended(layer, s, past)
    i, f, g, o = (layer.U @ x + layer.V @ s + layer.b).chunk(4)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    h = torch.sigmoid(o) * torch.tanh(c)
    return h, (s, c, [*past, h])


MEM_RNN = Oracle(make=MemRNN, start=start_rnn, step=step_rnn)
MEM_LSTM = Oracle(make=MemLSTM, start=start_lstm, step=step_lstm)

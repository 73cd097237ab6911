"""i, f, o = sigmoid(W x_t + U h_{t-1} + b), g = tanh(W x_t + U h_{t-1} + b), c_t = f c_{t-1} + i g, h_t = o tanh(c_t)"""

from __future__ import annotations

from typing import Any

import torch
from oracle import Oracle
from torch import Tensor

from memspan.cells.gated.lstm import LSTM


def start(layer: Any) -> tuple[Tensor, Tensor]:
    zeros = torch.zeros(layer.hidden_size, dtype=layer.network.weight_hh_l0.dtype)
    return zeros, zeros


def step(layer: Any, x: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    h, c = state
    W_i, W_f, W_g, W_o = layer.network.weight_ih_l0.chunk(4)
    U_i, U_f, U_g, U_o = layer.network.weight_hh_l0.chunk(4)
    b_i, b_f, b_g, b_o = (layer.network.bias_ih_l0 + layer.network.bias_hh_l0).chunk(4)
    i = torch.sigmoid(W_i @ x + U_i @ h + b_i)
    f = torch.sigmoid(W_f @ x + U_f @ h + b_f)
    g = torch.tanh(W_g @ x + U_g @ h + b_g)
    o = torch.sigmoid(W_o @ x + U_o @ h + b_o)
    c = f * c + i * g
    h = o * torch.tanh(c)
    return h, (h, c)


LSTM_ORACLE = Oracle(make=LSTM, start=start, step=step)

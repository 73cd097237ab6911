"""r, z = sigmoid(W x_t + U h_{t-1} + b), n = tanh(W_n x_t + b_n + r (U_n h_{t-1} + c_n)), h_t = (1 - z) n + z h_{t-1}"""

from __future__ import annotations

from typing import Any

import torch
from oracle import Oracle
from torch import Tensor

from memspan.cells.gated.gru import GRU


def start(layer: Any) -> Tensor:
    return torch.zeros(layer.hidden_size, dtype=layer.network.weight_hh_l0.dtype)


def step(layer: Any, x: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
    W_r, W_z, W_n = layer.network.weight_ih_l0.chunk(3)
    U_r, U_z, U_n = layer.network.weight_hh_l0.chunk(3)
    b_r, b_z, b_n = layer.network.bias_ih_l0.chunk(3)
    c_r, c_z, c_n = layer.network.bias_hh_l0.chunk(3)
    r = torch.sigmoid(W_r @ x + b_r + U_r @ h + c_r)
    z = torch.sigmoid(W_z @ x + b_z + U_z @ h + c_z)
    n = torch.tanh(W_n @ x + b_n + r * (U_n @ h + c_n))
    h = (1 - z) * n + z * h
    return h, h


GRU_ORACLE = Oracle(make=GRU, start=start, step=step)

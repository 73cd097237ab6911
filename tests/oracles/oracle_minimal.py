"""z = tanh(W_x x_t), u = sigmoid(W h_{t-1} + V z + b), h_t = u h_{t-1} + (1 - u) z.  Chen 2018, Eq. 5 and footnote 2."""

from __future__ import annotations

from typing import Any

import torch
from oracle import Oracle
from torch import Tensor

from memspan.cells.gated.minimal import MinimalRNN


def start(layer: Any) -> Tensor:
    return torch.zeros(layer.hidden_size, dtype=layer.W.dtype)


def step(layer: Any, x: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
    z = torch.tanh(layer.W_x @ x)
    u = torch.sigmoid(layer.W @ h + layer.V @ z + layer.b)
    h = u * h + (1 - u) * z
    return h, h


MINIMAL = Oracle(make=MinimalRNN, start=start, step=step)

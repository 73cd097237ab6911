"""h_t = phi(U x_t + V h_{t-1} + b)"""

from __future__ import annotations

from typing import Any

import torch
from oracle import Oracle
from torch import Tensor

from memspan.cells import VanillaRNN


def start(layer: Any) -> Tensor:
    return torch.zeros(layer.hidden_size, dtype=layer.V.dtype)


def step(layer: Any, x: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
    h = torch.tanh(layer.U @ x + layer.V @ h + layer.b)
    return h, h


VANILLA = Oracle(make=VanillaRNN, start=start, step=step)

"""c_t = f * c_{t-1} + i * g, h_t = o * tanh(c_t), gates U x_t + V h_{t-1} + b."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from oracle import Oracle
from torch import Tensor

from memspan.cells.gated.detach import DetachLSTM


def start(layer: Any) -> tuple[Tensor, Tensor]:
    zero = torch.zeros(layer.hidden_size, dtype=layer.V.dtype)
    return zero, zero


def step(layer: Any, x: Tensor, state: Any) -> tuple[Tensor, Any]:
    h, c = state
    i, f, g, o = (layer.U @ x + layer.V @ h + layer.b).chunk(4)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    h = torch.sigmoid(o) * torch.tanh(c)
    return h, (h, c)


DETACH = Oracle(make=partial(DetachLSTM, p=0.0), start=start, step=step)

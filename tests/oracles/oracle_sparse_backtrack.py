"""hat h_t, c_t = LSTM(x_t, h_{t-1}, c_{t-1}); h_t = hat h_t + sum_i alpha_i m_i over the best of every k-th state."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from oracle import Oracle
from torch import Tensor

from memspan.cells.attentive.sparse_backtrack import SparseBacktrackLSTM


def start(layer: Any) -> tuple[Tensor, Tensor, list[Tensor], int]:
    zero = torch.zeros(layer.hidden_size, dtype=layer.V.dtype)
    return zero, zero, [], 0


def weights(scores: Tensor, top: int) -> Tensor:
    """A softmax of up to `top` scores; of more, how far each is above the best but `top`, made to sum to one."""
    if len(scores) <= top:
        return torch.softmax(scores, dim=0)
    above = torch.relu(scores - scores.sort(descending=True).values[top])
    return above / (above.sum() + 1e-7)


def step(layer: Any, x: Tensor, state: Any) -> tuple[Tensor, Any]:
    h, c, stored, done = state
    if layer.truncate is not None and done > 0 and done % layer.truncate == 0:
        h, c = h.detach(), c.detach()
    i, f, g, o = (layer.U @ x + layer.V @ h + layer.b).chunk(4)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    h = torch.sigmoid(o) * torch.tanh(c)
    if stored:
        states = torch.stack(stored)
        scores = torch.tanh(layer.W_a @ h + states @ layer.U_a.T) @ layer.v
        h = h + weights(scores, layer.top) @ states
    done += 1
    return h, (h, c, [*stored, h] if done % layer.every == 0 else stored, done)


SPARSE_BACKTRACK = Oracle(
    make=partial(SparseBacktrackLSTM, every=1, top=2, truncate=4),
    start=start,
    step=step,
    differentiable=False,
    truncated=True,
)

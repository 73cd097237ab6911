"""h_t = modrelu(U x_t + exp(A) h_{t-1}), A skew-symmetric, by torch's own exponential."""

from __future__ import annotations

from typing import Any

import torch
from oracle import Oracle
from oracle_orthogonal import modrelu, spread
from torch import Tensor

from memspan.cells.plain.exp import ExpRNN


def make(input_size: int, hidden_size: int, **options: Any) -> ExpRNN:
    return spread(ExpRNN(input_size, hidden_size, **options))


def start(layer: Any) -> Tensor:
    return torch.zeros(layer.hidden_size, dtype=layer.U.dtype)


def step(layer: Any, x: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
    below = layer.parametrizations.V.original.tril(-1)
    V = torch.matrix_exp(below - below.T)
    h = modrelu(layer.U @ x + V @ h, layer.m)
    return h, h


EXP = Oracle(make=make, start=start, step=step)

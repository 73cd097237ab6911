"""h_t = modrelu(U x_t + V h_{t-1} + b), modrelu(z) = z (|z| + m) / |z| where |z| + m > 0, else 0."""

from __future__ import annotations

from typing import Any, TypeVar

import torch
from oracle import Oracle
from torch import Tensor

from memspan.cells.base.cell import Cell
from memspan.cells.plain.orthogonal import OrthogonalRNN

AnyCell = TypeVar("AnyCell", bound=Cell)


@torch.no_grad()
def spread(cell: AnyCell) -> AnyCell:
    """With biases of modrelu of either sign, so large that it silences some units."""
    for layer in cell.layers:
        torch.nn.init.uniform_(layer.get_parameter("m"), -0.5, 0.5)
    return cell


def make(input_size: int, hidden_size: int, **options: Any) -> OrthogonalRNN:
    return spread(OrthogonalRNN(input_size, hidden_size, **options))


def start(layer: Any) -> Tensor:
    return torch.zeros(layer.hidden_size, dtype=layer.V.dtype)


def modrelu(z: Tensor, m: Tensor) -> Tensor:
    size = z.abs()
    return torch.where(size + m > 0, z * (size + m) / size, torch.zeros_like(z))


def step(layer: Any, x: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
    h = modrelu(layer.U @ x + layer.V @ h + layer.b, layer.m)
    return h, h


ORTHOGONAL = Oracle(make=make, start=start, step=step)

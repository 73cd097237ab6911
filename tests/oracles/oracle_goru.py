"""r, g = sigmoid(U x_t + W h_{t-1} + b); c = modrelu(r (O h_{t-1}) + U_c x_t); h_t = g h_{t-1} + (1 - g) c.  Jing 2019."""

from __future__ import annotations

from typing import Any

import torch
from oracle import Oracle
from oracle_orthogonal import modrelu, spread
from torch import Tensor

from memspan.cells.gated.goru import GORU


@torch.no_grad()
def make(input_size: int, hidden_size: int, **options: Any) -> GORU:
    """With weights of the size that training gives them; they start at 0.01."""
    cell = spread(GORU(input_size, hidden_size, **options))
    for layer in cell.layers:
        layer.get_parameter("U").mul_(100)
        layer.get_parameter("W").mul_(100)
    return cell


def start(layer: Any) -> Tensor:
    return torch.zeros(layer.hidden_size, dtype=layer.W.dtype)


def turn(angles: Tensor, h: Tensor) -> Tensor:
    """Plane by plane: layer k turns coordinates i and i + 2^k, in ascending order of i."""
    for k, row in enumerate(angles):
        turned = list(h)
        lower = [i for i in range(len(h)) if not i & 2**k]
        for angle, i in zip(row, lower, strict=True):
            j = i + 2**k
            turned[i] = torch.cos(angle) * h[i] - torch.sin(angle) * h[j]
            turned[j] = torch.sin(angle) * h[i] + torch.cos(angle) * h[j]
        h = torch.stack(turned)
    return h


def step(layer: Any, x: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
    U_r, U_g, U_c = layer.U.chunk(3)
    W_r, W_g = layer.W.chunk(2)
    b_r, b_g = layer.b.chunk(2)
    r = torch.sigmoid(U_r @ x + W_r @ h + b_r)
    g = torch.sigmoid(U_g @ x + W_g @ h + b_g)
    O_h = turn(layer.angles, h) if layer.rotation == "layers" else layer.O @ h
    h = g * h + (1 - g) * modrelu(r * O_h + U_c @ x, layer.m)
    return h, h


GORU_ORACLE = Oracle(make=make, start=start, step=step)

"""Oracles of recurrent networks without gates."""

from __future__ import annotations

from typing import Any, TypeVar

import torch
from oracle import Oracle, zeros
from torch import Tensor

from memspan.cells import ExpRNN, OrthogonalRNN, VanillaRNN
from memspan.cells.base.cell import Cell

AnyCell = TypeVar("AnyCell", bound=Cell)


def vanilla_step(layer: Any, x: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
    """h_t = tanh(U x_t + V h_{t-1} + b)"""
    h = torch.tanh(layer.U @ x + layer.V @ h + layer.b)
    return h, h


@torch.no_grad()
def spread(cell: AnyCell) -> AnyCell:
    """With biases of modrelu of either sign, so large that it silences some units."""
    for layer in cell.layers:
        torch.nn.init.uniform_(layer.get_parameter("m"), -0.5, 0.5)
    return cell


def modrelu(z: Tensor, m: Tensor) -> Tensor:
    """z (|z| + m) / |z| where |z| + m > 0, else 0"""
    size = z.abs()
    return torch.where(size + m > 0, z * (size + m) / size, torch.zeros_like(z))


def make_orthogonal(input_size: int, hidden_size: int, **options: Any) -> OrthogonalRNN:
    return spread(OrthogonalRNN(input_size, hidden_size, **options))


def orthogonal_step(layer: Any, x: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
    """h_t = modrelu(U x_t + V h_{t-1} + b)"""
    h = modrelu(layer.U @ x + layer.V @ h + layer.b, layer.m)
    return h, h


def make_exp(input_size: int, hidden_size: int, **options: Any) -> ExpRNN:
    return spread(ExpRNN(input_size, hidden_size, **options))


def exp_step(layer: Any, x: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
    """h_t = modrelu(U x_t + exp(A) h_{t-1}), A skew-symmetric, by torch's own exponential."""
    below = layer.parametrizations.V.original.tril(-1)
    V = torch.matrix_exp(below - below.T)
    h = modrelu(layer.U @ x + V @ h, layer.m)
    return h, h


VANILLA = Oracle(make=VanillaRNN, start=zeros, step=vanilla_step)
ORTHOGONAL = Oracle(make=make_orthogonal, start=zeros, step=orthogonal_step)
EXP = Oracle(make=make_exp, start=zeros, step=exp_step)

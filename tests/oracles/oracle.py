"""What an oracle is, and what several oracles share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import torch
from torch import Tensor

from memspan.cells.base.cell import Cell


@final
@dataclass(frozen=True)
class Oracle:
    """step(layer, x_t, state) -> (h_t, state) for one sequence: vectors without batch and time; the state is anything.

    The state must contain the very tensor h_t that is returned, so that the gradient with respect to it is the total one.
    """

    make: Callable[..., Cell]
    """make(input_size, hidden_size, num_layers=…, batch_first=…, dtype=…) with options that show every part of the cell."""
    start: Callable[[Any], Any]
    step: Callable[[Any, Tensor, Any], tuple[Tensor, Any]]
    differentiable: bool = True
    """Whether gradients are those of the output; some cells cut or thin them on purpose."""
    truncated: bool = False
    """Whether gradients stop somewhere along time."""


def zeros(layer: Any) -> Tensor:
    """A state of zeros (hidden,)."""
    return torch.zeros(layer.hidden_size, dtype=next(layer.parameters()).dtype)


def two_zeros(layer: Any) -> tuple[Tensor, Tensor]:
    """h and c of an LSTM before the first step."""
    return zeros(layer), zeros(layer)


def lstm(gates: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
    """c_t = f c_{t-1} + i g, h_t = o tanh(c_t), from the arguments of i, f, g, o."""
    i, f, g, o = gates.chunk(4)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c

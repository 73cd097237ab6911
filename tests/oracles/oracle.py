"""What an oracle is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

from torch import Tensor

from memspan.cells.base.cell import Cell


@final
@dataclass(frozen=True)
class Oracle:
    """step(layer, x_t, state) -> (h_t, state) for one sequence: vectors, no batch, no time; the state is anything.

    What follows must use the very tensor h_t that is returned, so that the gradient with respect to it is the total one.
    """

    make: Callable[..., Cell]
    """make(input_size, hidden_size, num_layers=…, batch_first=…, dtype=…) with options that show every part of the cell."""
    start: Callable[[Any], Any]
    step: Callable[[Any, Tensor, Any], tuple[Tensor, Any]]
    differentiable: bool = True
    """Whether gradients are those of the output; some cells cut or thin them on purpose."""
    truncated: bool = False
    """Whether gradients stop somewhere along time."""

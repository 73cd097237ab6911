"""Resets for kernels that know of none: the steps between two resets are a sequence of their own."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import torch
from torch import Tensor

States = tuple[Tensor, ...]


def in_segments(
    kernel: Callable[[Tensor, States], tuple[Tensor, States]],
    inputs: Tensor,
    state: States,
    resets: Tensor | None,
) -> tuple[Tensor, States]:
    """The kernel's outputs (time, batch, hidden) and last state; a new call begins only where some sequence is reset."""
    if resets is None:
        return kernel(inputs, state)
    begins = resets.any(dim=1).nonzero().flatten().tolist()
    parts = []
    for begin, end in pairwise(sorted({0, *begins, len(inputs)})):
        part, state = kernel(inputs[begin:end], cleared(state, resets[begin]))
        parts.append(part)
    return torch.cat(parts), state


def cleared(state: States, reset: Tensor) -> States:
    """Zero where `reset` (batch) is true; by choice and not by a product, which would keep what is not a number."""
    return tuple(tensor.masked_fill(reset.unsqueeze(-1), 0) for tensor in state)

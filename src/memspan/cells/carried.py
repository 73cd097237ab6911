"""What the steps of a scan found, for backward passes that handle all steps at once."""

from __future__ import annotations

import torch
from torch import Tensor


def found(first: Tensor, left: Tensor, resets: Tensor | None) -> Tensor:
    """(time, batch, …): what was given to the first step, then what all but the last left; zero after a reset."""
    before = torch.cat([first.unsqueeze(0), left[:-1]])
    return before if resets is None else before.masked_fill_(resets.unsqueeze(-1), 0)


def weight_gradient(inner: Tensor, before: Tensor, tied: bool = True) -> Tensor:
    """dL/dW of W h_{t-1}: the sum over steps and batch of inner before^T or, untied, one such sum for each step."""
    if tied:
        return inner.flatten(0, 1).T @ before.flatten(0, 1)
    return inner.mT @ before

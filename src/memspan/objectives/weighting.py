"""Importance weights of segments that were drawn from a proposal.  Cao and Xu 2020, section 3.2.3."""

from __future__ import annotations

import torch
from torch import Tensor

from memspan.errors import InputError


@torch.no_grad()
def importance_weights(
    near: Tensor, following: Tensor, log_proposal: Tensor, temperature: float = 1.0
) -> Tensor:
    """w_i proportional to exp((D(X_i, Y_i) - D(X_i, Y*_i)) / beta) / G(Y_i), over the whole batch; their sum is one.

    Eq. 14 to 16, from scores of sampled and of true followers, (batch,) each. No gradient comes back through them.

    >>> importance_weights(torch.zeros(2), torch.zeros(2), torch.log(torch.tensor([0.2, 0.6])))
    tensor([0.7500, 0.2500])
    """
    if not 0 < temperature < float("inf"):
        raise InputError(f"the temperature is {temperature}; expected a finite number above 0")
    return ((near - following) / temperature - log_proposal).softmax(dim=0)


def effective_size(weights: Tensor) -> float:
    """1 / sum w^2: as many samples of equal weight would tell as much.

    >>> effective_size(torch.tensor([0.5, 0.5, 0.0]))
    2.0
    """
    return 1 / float(weights.square().sum())

"""Segments nearby, learnt as continuations, each by its importance weight (IW-RAML).  Cao and Xu 2020, section 3.2.3."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from memspan.errors import InputError
from memspan.objectives.reading import Reader, log_likelihoods
from memspan.objectives.segments import Padded


def raml_loss(
    model: Reader,
    first: Padded,
    near: Padded,
    scores: Tensor,
    following_scores: Tensor,
    log_proposal: NDArray[np.float64],
    temperature: float = 1.0,
) -> tuple[Tensor, Tensor]:
    """-sum_i w_i log Q(Y_i | X_i) / |Y_i|, and the weights w.  Eq. 16.

    `scores` are D(X, Y), `following_scores` D(X, Y*), `log_proposal` is log G(Y), each (batch,).
    """
    weights = importance_weights(
        scores, following_scores, torch.from_numpy(log_proposal).to(scores), temperature
    )
    return -(weights * log_likelihoods(model, first, near)).sum(), weights


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

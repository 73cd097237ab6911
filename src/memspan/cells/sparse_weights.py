"""Weights for the few sources that score highest, zero for all others.  Ke 2018, Algorithm 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from memspan.cells.additive_attention import Softmax, Weighing

SMALL = 1e-7
"""Added to the sum that weights are divided by: all are zero where more than `top` scores share the highest value."""


@final
@dataclass(frozen=True)
class TopWeights(Weighing):
    """alpha_i = r_i / sum_j r_j, r_i = max(e_i - threshold, 0), the threshold being the (top + 1)-th largest score.

    So `top` sources have a weight, and it grows from zero. While there are no more than `top` sources, all have the weights
    of a softmax. The gradient goes through the threshold too.
    """

    top: int

    def weights(self, scores: Tensor, valid: Tensor) -> Tensor:
        dense = Softmax().weights(scores, valid)
        if len(scores) <= self.top:
            return dense
        above, _, sums = self._above(scores, valid)
        return torch.where(self._sparse(valid), above / sums, dense)

    def gradient(self, scores: Tensor, valid: Tensor, weights: Tensor, outer: Tensor) -> Tensor:
        dense = Softmax().gradient(scores, valid, weights, outer)
        if len(scores) <= self.top:
            return dense
        above, last, sums = self._above(scores, valid)
        of_above = (outer - (outer * weights).sum(dim=0)) / sums * (above > 0)
        sparse = of_above.scatter_add(0, last, -of_above.sum(dim=0, keepdim=True))
        return torch.where(self._sparse(valid), sparse, dense)

    def _sparse(self, valid: Tensor) -> Tensor:
        """(batch): where there are more sources than may have a weight."""
        return valid.sum(dim=0) > self.top

    def _above(self, scores: Tensor, valid: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """r, the place of the threshold (1, batch), and what r is divided by."""
        highest = scores.masked_fill(~valid, -torch.inf).topk(self.top + 1, dim=0)
        above = (scores - highest.values[-1]).clamp_min(0).masked_fill(~valid, 0)
        return above, highest.indices[-1:], above.sum(dim=0) + SMALL

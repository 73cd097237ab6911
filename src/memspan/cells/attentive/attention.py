"""Additive attention to stored states, and its gradient, without storing any tanh.  Bahdanau 2014.

The context of a query q is sum_i alpha_i m_i with alpha from scores e_i = v . tanh(W_a q + U_a m_i). Since
tanh z = 2 / (1 + exp(-2 z)) - 1, a constant added to all scores changes no weight, and the exponential of a sum is a
product, the scores can be computed as 2 v . 1 / (1 + k_i l) with the key k_i = exp(-2 U_a m_i) and the lock
l = exp(-2 W_a q): one exponential for each state and each query instead of one for each pair.

Sources come first in all tensors: states and keys are (source, batch, hidden), scores and weights (source, batch).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import final

import torch
from torch import Tensor

from memspan.errors import InputError, suggestion

Places = int | slice | tuple[Tensor, Tensor]
"""An index of stored states: one, a range, or one for each sequence."""

# s_t = factor (h_{t-1} + context): the sum in the paper, the mean in the published program.  Kerg 2020, errata 13.
COMBINE_FACTORS = {"mean": 0.5, "sum": 1.0}


def check_combine(combine: str) -> None:
    """Raise unless `combine` names a way to combine the last state with the context."""
    if combine not in COMBINE_FACTORS:
        raise InputError(f"unknown combine {combine!r}; {suggestion(combine, COMBINE_FACTORS)}")


def steps_since_reset(count: Tensor, steps: int, resets: Tensor | None) -> Tensor:
    """(time, batch): the position of every step in its sequence, of which `count` (batch) steps preceded this call."""
    now = torch.arange(steps, device=count.device).unsqueeze(1)
    if resets is None:
        return now + count
    begin = torch.where(resets, now, -count).cummax(dim=0).values
    return now - begin


class Normalization(ABC):
    """Turns scores into weights. A constant added to all scores of a sequence has no effect."""

    @abstractmethod
    def weights(self, scores: Tensor, valid: Tensor) -> Tensor:
        """Weights (source, batch), zero where a source is not `valid`."""

    @abstractmethod
    def gradient(self, scores: Tensor, valid: Tensor, weights: Tensor, outer: Tensor) -> Tensor:
        """dL/dscores from `outer`, dL/dweights."""


@final
class Softmax(Normalization):
    """alpha_i = exp(e_i) / sum_j exp(e_j) over the valid sources; all zero if there are none."""

    def weights(self, scores: Tensor, valid: Tensor) -> Tensor:
        return scores.masked_fill(~valid, -torch.inf).softmax(dim=0).masked_fill_(~valid, 0)

    def gradient(self, scores: Tensor, valid: Tensor, weights: Tensor, outer: Tensor) -> Tensor:  # noqa: ARG002
        return weights * (outer - (weights * outer).sum(dim=0))


@final
class AttentionMemory:
    """Contexts of successive queries, while states are stored in between."""

    def __init__(self, W_a: Tensor, U_a: Tensor, v: Tensor, memory: Tensor, normalization: Normalization) -> None:
        self.W, self.U, self.v, self.normalization = (-2 * W_a).T, (-2 * U_a).T, 2 * v, normalization
        self.memory, self.keys, self.buffer = memory, torch.empty_like(memory), torch.empty_like(memory)

    def compute_keys(self, places: Places) -> None:
        """Compute the keys of the states stored there."""
        self.keys[places] = _exponential(self.memory[places] @ self.U)

    def store(self, places: Places, states: Tensor) -> None:
        """Store states and their keys."""
        self.memory[places] = states
        self.compute_keys(places)

    def forget(self, reset: Tensor, places: slice) -> None:
        """Clear what is stored where `reset` (batch) is true."""
        # A weight of zero does not suffice: 0 times NaN is NaN.
        self.memory[places].masked_fill_(reset.unsqueeze(-1), 0)
        self.keys[places].masked_fill_(reset.unsqueeze(-1), 0)

    def context(self, query: Tensor, places: slice, valid: Tensor) -> Tensor:
        """sum_i alpha_i m_i (batch, hidden) over the stored states that are `valid` (source, batch)."""
        scores, _ = _scores(self.keys[places], _exponential(query @ self.W), self.v, self.buffer)
        return _weighted_sum(self.normalization.weights(scores, valid), self.memory[places])


@final
class AttentionMemoryGradient:
    """Gradients of such contexts, the last one first, accumulated step by step.

    The sums `of_keys` and `of_queries` lack their common factor 4 v; `_scaled` applies it.
    """

    def __init__(
        self, W_a: Tensor, U_a: Tensor, v: Tensor, memory: Tensor, queries: Tensor, normalization: Normalization
    ) -> None:
        self.W_a, self.U_a, self.memory, self.queries = W_a, U_a, memory, queries
        self.normalization, self.doubled, self.factor = normalization, 2 * v, 4 * v
        self.keys, self.locks = _exponential(memory @ (-2 * U_a).T), _exponential(queries @ (-2 * W_a).T)
        self.of_keys, self.of_queries = torch.zeros_like(memory), torch.empty_like(queries)
        self.of_v = torch.zeros_like(v)
        self.buffer, self.slopes = torch.empty_like(memory), torch.empty_like(memory)

    def context(self, t: int, places: slice, valid: Tensor, outer: Tensor, of_memory: Tensor) -> Tensor:
        """dL/dquery of step t from `outer`, dL/dcontext; adds the share of the states in the sum to `of_memory`."""
        scores, gates = _scores(self.keys[places], self.locks[t], self.doubled, self.buffer)
        weights = self.normalization.weights(scores, valid)
        slopes = self.slopes[: len(gates)]
        of_weights = torch.mul(self.memory[places], outer, out=slopes).sum(dim=-1)
        of_scores = self.normalization.gradient(scores, valid, weights, of_weights)
        of_memory[places].addcmul_(weights.unsqueeze(-1), outer)
        torch.addcmul(gates, gates, gates, value=-1, out=slopes)
        self.of_keys[places].addcmul_(slopes, of_scores.unsqueeze(-1))
        self.of_v += (of_scores.view(1, -1) @ gates.flatten(0, 1)).squeeze(0)
        self.of_queries[t] = _weighted_sum(of_scores, slopes)
        return self._scaled(self.of_queries[t]) @ self.W_a

    def by_keys(self, places: Places) -> Tensor:
        """The part of dL/dm of these states that comes through their keys."""
        return self._scaled(self.of_keys[places]) @ self.U_a

    def of_weights(self) -> tuple[Tensor, Tensor, Tensor]:
        """dL/dW_a, dL/dU_a, dL/dv."""
        W_a = self._scaled(self.of_queries).flatten(0, 1).T @ self.queries.flatten(0, 1)
        U_a = self._scaled(self.of_keys).flatten(0, 1).T @ self.memory.flatten(0, 1)
        return W_a, U_a, 2 * self.of_v

    def _scaled(self, sums: Tensor) -> Tensor:
        """The gradient with respect to W_a q or U_a m from its accumulated sum."""
        return sums * self.factor


def _exponential(products: Tensor) -> Tensor:
    """exp(-2 W m) in place, from -2 W m: the key of a state or the lock of a query."""
    # Clamped to the range of the type. In single precision this treats W m beyond 40 as 40, where tanh is 1 to the last
    # digit unless the other term cancels it.
    bound = 0.9 * math.log(torch.finfo(products.dtype).max)
    return products.clamp_(-bound, bound).exp_()


def _scores(keys: Tensor, lock: Tensor, v: Tensor, buffer: Tensor) -> tuple[Tensor, Tensor]:
    """Scores and 1 / (1 + key lock), the latter in the first part of `buffer`; `v` is doubled."""
    gates = torch.mul(keys, lock, out=buffer[: len(keys)]).add_(1).reciprocal_()
    return gates @ v, gates


def _weighted_sum(weights: Tensor, states: Tensor) -> Tensor:
    """sum_i weights_i m_i, (batch, hidden)."""
    return torch.bmm(weights.T.contiguous().unsqueeze(1), states.transpose(0, 1)).squeeze(1)

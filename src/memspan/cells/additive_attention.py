"""sum_i alpha_i m_i with alpha from e_i = v . tanh(W_a q + U_a m_i), and its gradient, without keeping any tanh.

Bahdanau 2014. tanh z = 2 / (1 + exp(-2 z)) - 1, a constant added to all scores changes no weight, and the exponential of a
sum is a product. So the scores are 2 v . 1 / (1 + k_i l) with the key k_i = exp(-2 U_a m_i) and the lock l = exp(-2 W_a q):
an exponential for each state and each query, but none for each pair of them. Sources come first in all tensors: states and
keys are (source, batch, hidden), scores and weights (source, batch).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import final

import torch
from torch import Tensor

Places = int | slice | tuple[Tensor, Tensor]
"""Of a memory: one, a range, or for each sequence its own."""


class Weighing(ABC):
    """Weights of the sources from their scores. A constant added to all scores of a sequence changes nothing."""

    @abstractmethod
    def weights(self, scores: Tensor, valid: Tensor) -> Tensor:
        """(source, batch), zero where a source is not `valid`."""

    @abstractmethod
    def gradient(self, scores: Tensor, valid: Tensor, weights: Tensor, outer: Tensor) -> Tensor:
        """dL/dscores from `outer`, dL/dweights."""


@final
class Softmax(Weighing):
    """alpha_i = exp(e_i) / sum_j exp(e_j) over the valid sources; all zero where there is none."""

    def weights(self, scores: Tensor, valid: Tensor) -> Tensor:
        return scores.masked_fill(~valid, -torch.inf).softmax(dim=0).masked_fill_(~valid, 0)

    def gradient(self, scores: Tensor, valid: Tensor, weights: Tensor, outer: Tensor) -> Tensor:  # noqa: ARG002
        return weights * (outer - (weights * outer).sum(dim=0))


def exponential(products: Tensor) -> Tensor:
    """exp of -2 W m, in place: the key of a state or the lock of a query.

    Kept within the range of numbers. In single precision W m counts as 40 where it is more: its tanh is 1 to the last digit,
    unless another term of that size takes it away again.
    """
    bound = 0.9 * math.log(torch.finfo(products.dtype).max)
    return products.clamp_(-bound, bound).exp_()


@final
class Reading:
    """The contexts of queries that come one after the other, while states are stored."""

    def __init__(self, W_a: Tensor, U_a: Tensor, v: Tensor, memory: Tensor, weighing: Weighing) -> None:
        self.W, self.U, self.v, self.weighing = (-2 * W_a).T, (-2 * U_a).T, 2 * v, weighing
        self.memory, self.keys, self.room = memory, torch.empty_like(memory), torch.empty_like(memory)

    def compute_keys(self, places: Places) -> None:
        """The keys of what the memory holds there."""
        self.keys[places] = exponential(self.memory[places] @ self.U)

    def store(self, places: Places, states: Tensor) -> None:
        """The states, and their keys."""
        self.memory[places] = states
        self.compute_keys(places)

    def forget(self, reset: Tensor, places: slice) -> None:
        """Zero where `reset` (batch) is true, so that what is not a number is forgotten too: zero times it would not be."""
        self.memory[places].masked_fill_(reset.unsqueeze(-1), 0)
        self.keys[places].masked_fill_(reset.unsqueeze(-1), 0)

    def context(self, query: Tensor, places: slice, valid: Tensor) -> Tensor:
        """sum_i alpha_i m_i (batch, hidden) over the places of the memory that are `valid` (source, batch)."""
        scores, _ = scored(self.keys[places], exponential(query @ self.W), self.v, self.room)
        return weighted_sum(self.weighing.weights(scores, valid), self.memory[places])


@final
class ReadingGradient:
    """The gradients of such contexts, the last one first, summed up step by step.

    `of_keys` and `of_queries` lack the factor 4 v that they have in common; `scaled` puts it on what has been summed.
    """

    def __init__(
        self, W_a: Tensor, U_a: Tensor, v: Tensor, memory: Tensor, queries: Tensor, weighing: Weighing
    ) -> None:
        self.W_a, self.U_a, self.memory, self.queries = W_a, U_a, memory, queries
        self.weighing, self.doubled, self.factor = weighing, 2 * v, 4 * v
        self.keys, self.locks = exponential(memory @ (-2 * U_a).T), exponential(queries @ (-2 * W_a).T)
        self.of_keys, self.of_queries = torch.zeros_like(memory), torch.empty_like(queries)
        self.of_v = torch.zeros_like(v)
        self.room, self.slopes = torch.empty_like(memory), torch.empty_like(memory)

    def context(self, t: int, places: slice, valid: Tensor, outer: Tensor, of_memory: Tensor) -> Tensor:
        """dL/dquery of step t from `outer`, dL/dcontext; what the states get by the sum is added to `of_memory`."""
        scores, gates = scored(self.keys[places], self.locks[t], self.doubled, self.room)
        weights = self.weighing.weights(scores, valid)
        slopes = self.slopes[: len(gates)]
        of_weights = torch.mul(self.memory[places], outer, out=slopes).sum(dim=-1)
        of_scores = self.weighing.gradient(scores, valid, weights, of_weights)
        of_memory[places].addcmul_(weights.unsqueeze(-1), outer)
        torch.addcmul(gates, gates, gates, value=-1, out=slopes)
        self.of_keys[places].addcmul_(slopes, of_scores.unsqueeze(-1))
        self.of_v += (of_scores.view(1, -1) @ gates.flatten(0, 1)).squeeze(0)
        self.of_queries[t] = weighted_sum(of_scores, slopes)
        return self.scaled(self.of_queries[t]) @ self.W_a

    def by_keys(self, places: Places) -> Tensor:
        """dL/dm of the states there as far as it came by their keys."""
        return self.scaled(self.of_keys[places]) @ self.U_a

    def of_weights(self) -> tuple[Tensor, Tensor, Tensor]:
        """dL/dW_a, dL/dU_a, dL/dv."""
        W_a = self.scaled(self.of_queries).flatten(0, 1).T @ self.queries.flatten(0, 1)
        U_a = self.scaled(self.of_keys).flatten(0, 1).T @ self.memory.flatten(0, 1)
        return W_a, U_a, 2 * self.of_v

    def scaled(self, sums: Tensor) -> Tensor:
        """The gradient with respect to W_a q or U_a m that belongs to such a sum."""
        return sums * self.factor


def scored(keys: Tensor, lock: Tensor, v: Tensor, room: Tensor) -> tuple[Tensor, Tensor]:
    """Scores and 1 / (1 + key lock), the latter in the first part of `room`; `v` is doubled."""
    gates = torch.mul(keys, lock, out=room[: len(keys)]).add_(1).reciprocal_()
    return gates @ v, gates


def weighted_sum(weights: Tensor, states: Tensor) -> Tensor:
    """sum_i weights_i m_i, (batch, hidden)."""
    return torch.bmm(weights.T.contiguous().unsqueeze(1), states.transpose(0, 1)).squeeze(1)

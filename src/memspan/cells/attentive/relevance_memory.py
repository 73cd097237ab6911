"""The screened memory of RelRNN and RelLSTM, and the tensors of a scan over it.

States are numbered by their row in a pool (row, batch, hidden): row 0 is empty (zeros), then come the states carried over
from an earlier call (rho relevant ones, nu recent ones), h_0, and h_1 … h_T of this call. A sequence has nu + rho slots.
Each holds the row of a state or 0, and a score: the attention that the state has received in the short-term buffer, or
-inf for an empty slot. The slot of h_t is t mod nu, so that h_t replaces the state that leaves the buffer.
Kerg 2020, section 4 and Algorithm 1, with errata 12: the state that is promoted is the one that leaves, h_{t-nu}.

The compiled kernels take constants from this file, so it must import nothing else of memspan: see `relevance_kernels`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple, final

import torch
from torch import Tensor

# The score of an empty slot: below every other, so that empty slots are filled first.
EMPTY = float("-inf")


@final
@dataclass(frozen=True)
class Screening:
    """Which past states are stored: the last nu, and of those before them the rho that received most attention."""

    short_term: int
    """nu"""
    relevant: int
    """rho"""

    @property
    def held(self) -> int:
        """Number of slots of a sequence: the short-term buffer, then the relevant set."""
        return self.short_term + self.relevant

    @property
    def first(self) -> int:
        """The row of h_1; the row before holds h_0."""
        return self.held + 2

    def carried_rows(self, recent_scores: Tensor, relevant_scores: Tensor) -> tuple[Tensor, Tensor]:
        """Slots (int32) and scores, both (batch, held), of a state from an earlier call."""
        scores = torch.cat([recent_scores, relevant_scores], 1).detach()
        numbers = torch.arange(1, self.held + 1, device=scores.device, dtype=torch.int32)
        rows = torch.cat([numbers[self.relevant :], numbers[: self.relevant]])
        return torch.where(scores == EMPTY, 0, rows), scores

    def split(self, of_slots: Tensor, steps: int) -> tuple[Tensor, Tensor]:
        """The part of the short-term buffer, oldest first, and that of the relevant set, after `steps` steps."""
        recent, relevant = of_slots[:, : self.short_term], of_slots[:, self.short_term :]
        return recent.roll(-(steps % self.short_term), 1), relevant

    def forget(self, reset: Tensor, slots: Tensor, scores: Tensor) -> None:
        """Empty all slots of the sequences (batch, 1) that are reset."""
        slots.masked_fill_(reset, 0)
        scores.masked_fill_(reset, EMPTY)

    def store(self, step: int, weights: Tensor, slots: Tensor, scores: Tensor) -> None:
        """Store h of `step`, whose attention `weights` (batch, held) are added to the scores first.

        The state that leaves the buffer replaces the least relevant one (the first of several) if its score is strictly
        greater; an empty slot is below any score.
        """
        scores[:, : self.short_term] += weights[:, : self.short_term]
        place = step % self.short_term
        if self.relevant:
            leaving, score = slots[:, place], scores[:, place]
            least, where = scores[:, self.short_term :].min(1)
            where = (where + self.short_term).unsqueeze(1)
            promoted = score > least
            scores.scatter_(1, where, torch.where(promoted, score, least).unsqueeze(1))
            previous = slots.gather(1, where).squeeze(1)
            slots.scatter_(1, where, torch.where(promoted, leaving, previous).unsqueeze(1))
        slots[:, place] = self.first + step
        scores[:, place] = 0


class CoreKind(IntEnum):
    """How h follows from z: phi(z), or the gates of an LSTM."""

    TANH = 0
    RELU = 1
    IDENTITY = 2
    MODRELU = 3
    GATED = 4


class Core(ABC):
    """From z_t = U x_t + V s_t + b to h_t, and the gradient of z_t from that of h_t.

    `extra` is what the core needs in addition to z: a bias (hidden,), or c_0 (batch, hidden) of an LSTM.
    """

    kind: CoreKind

    @abstractmethod
    def workspace(self, steps: int, like: Tensor, extra: Tensor | None) -> Tensor:
        """A tensor for what `backward` needs in addition to h; `like` is (batch, hidden)."""

    @abstractmethod
    def final(self, workspace: Tensor) -> Tensor | None:
        """The `extra` of the next call, if it changes."""

    @abstractmethod
    def forward(self, t: int, z: Tensor, h: Tensor, trace: RelevanceTrace) -> None:
        """Write h (batch, hidden) of a step, without the probe."""

    @abstractmethod
    def backward(self, t: int, dh: Tensor, dz: Tensor, trace: RelevanceTrace, dextra: Tensor | None) -> Tensor | None:
        """Write dz; return the gradient of `extra` accumulated so far."""


class RelevanceWeights(NamedTuple):
    """The weights that act on s and on the memory."""

    V: Tensor
    """(gates x hidden, hidden)"""
    W_a: Tensor
    U_a: Tensor
    v: Tensor


@final
@dataclass(frozen=True, eq=False)
class RelevancePlan:
    """The arguments of a scan that have no gradient."""

    screening: Screening
    core: Core
    slots: Tensor
    """(batch, held): rows of the pool, or 0, before the first step."""
    scores: Tensor
    """(batch, held)"""
    mixing: Tensor
    """(time, batch): the factor of h + context; 1 if the memory is empty, else 1 or 1/2."""
    resets: Tensor | None
    """(time, batch)"""


@final
@dataclass(frozen=True, eq=False)
class RelevanceTrace:
    """What a scan over T steps writes and its backward pass reads."""

    plan: RelevancePlan
    pool: Tensor
    """States (rows, batch, hidden)."""
    keys: Tensor
    """U_a times the states, in the shape of the pool."""
    mixed: Tensor
    """s_0 … s_T (1 + time, batch, hidden)"""
    rows: Tensor
    """The rows in the slots when a step attended to them: (time, batch, held), int32."""
    alpha: Tensor
    """The attention weights (time, batch, held); 0 for an empty slot."""
    workspace: Tensor
    """That of the core."""
    extra: Tensor | None
    probe: Tensor | None
    """(time, batch, hidden)"""

    def value(self, t: int) -> Tensor:
        """h of a step (batch, hidden) without the probe."""
        h = self.pool[self.plan.screening.first + t]
        return h if self.probe is None else h - self.probe[t]

    def reset(self, t: int) -> Tensor | None:
        """(batch, 1)"""
        return None if self.plan.resets is None else self.plan.resets[t].unsqueeze(1)


@final
@dataclass(frozen=True, eq=False)
class RelevanceGradients:
    """Gradients to which the steps, last to first, are added."""

    pool: Tensor
    keys: Tensor
    products: Tensor
    """Of V s_t and, after it, W_a s_t, t = 0 … T: (1 + time, batch, (gates + 1) x hidden)."""
    v: Tensor
    """(batch, hidden): one share for each sequence."""

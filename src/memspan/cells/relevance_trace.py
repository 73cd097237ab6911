"""What a scan over a screened memory reads, keeps and hands back: shared by the steps in torch and the compiled ones."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple, final

from torch import Tensor

from memspan.cells.relevance_memory import Screening


class CoreKind(IntEnum):
    """How h follows from z: phi(z), or the gates of an LSTM."""

    TANH = 0
    RELU = 1
    IDENTITY = 2
    MODRELU = 3
    GATED = 4


class Core(ABC):
    """From z_t = U x_t + V s_t + b to h_t, and the gradient of z_t from that of h_t.

    `extra` is what the core has besides z: a bias (hidden,), or the memory c_0 (batch, hidden) of an LSTM.
    """

    kind: CoreKind

    @abstractmethod
    def room(self, steps: int, like: Tensor, extra: Tensor | None) -> Tensor:
        """A tensor to keep what `back` needs besides h; `like` is (batch, hidden)."""

    @abstractmethod
    def end(self, room: Tensor) -> Tensor | None:
        """What replaces `extra` when a sequence goes on, if anything does."""

    @abstractmethod
    def step(self, t: int, z: Tensor, h: Tensor, trace: Trace) -> None:
        """Writes h (batch, hidden) of a step, without the probe."""

    @abstractmethod
    def back(self, t: int, dh: Tensor, dz: Tensor, trace: Trace, dextra: Tensor | None) -> Tensor | None:
        """Writes dz; gives the gradient of `extra` as far as it is known after this step."""


class Weights(NamedTuple):
    """What acts on s and on the memory."""

    V: Tensor
    """(several x hidden, hidden)"""
    W_a: Tensor
    U_a: Tensor
    v: Tensor


@final
@dataclass(frozen=True, eq=False)
class Plan:
    """What a scan needs to know besides numbers that have gradients."""

    screening: Screening
    core: Core
    slots: Tensor
    """(batch, held): rows of the pool, or 0, before the first step."""
    scores: Tensor
    """(batch, held)"""
    mixing: Tensor
    """(time, batch): the factor of h + c; 1 where there is nothing to look at, else 1 or 1/2."""
    resets: Tensor | None
    """(time, batch)"""


@final
@dataclass(frozen=True, eq=False)
class Trace:
    """The tensors of a scan over T steps; see `relevance_memory` for the rows of the pool."""

    plan: Plan
    pool: Tensor
    """States (rows, batch, hidden)."""
    keys: Tensor
    """U_a of the states, in the shape of the pool."""
    mixed: Tensor
    """s_0 … s_T (1 + time, batch, hidden)"""
    rows: Tensor
    """What each slot held when a step looked: (time, batch, held), int32."""
    alpha: Tensor
    """The attention (time, batch, held); 0 for an empty slot."""
    room: Tensor
    """The core's."""
    extra: Tensor | None
    probe: Tensor | None
    """(time, batch, hidden)"""

    def value(self, t: int) -> Tensor:
        """h of a step (batch, hidden) as the core gave it, without the probe."""
        h = self.pool[self.plan.screening.first + t]
        return h if self.probe is None else h - self.probe[t]

    def reset(self, t: int) -> Tensor | None:
        """(batch, 1)"""
        return None if self.plan.resets is None else self.plan.resets[t].unsqueeze(1)


@final
@dataclass(frozen=True, eq=False)
class Gradients:
    """Gradients that the steps, last to first, add to."""

    pool: Tensor
    keys: Tensor
    products: Tensor
    """Of V s_t and, behind it, W_a s_t, t = 0 … T: (1 + time, batch, several x hidden)."""
    v: Tensor
    """(batch, hidden): one share for each sequence."""

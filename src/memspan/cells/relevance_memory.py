"""Which past states a step may look at: the last nu, and of those before them the rho that were looked at most.

States are numbered by their row in a pool (row, batch, hidden): row 0 is nothing (zeros), then come the states remembered
from before (rho relevant ones, nu recent ones), h_0, and h_1 … h_T of this call. A sequence holds nu + rho slots, each the
row of a state or 0, and a score for each: the attention that the state has received in the short-term buffer, or -inf
where the slot is empty. The slot of h_t is t mod nu, so that the state that leaves the buffer is where h_t goes.
Kerg 2020, section 4 and Algorithm 1, with errata 12: the state that is promoted is the one that leaves, h_{t-nu}.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

EMPTY = float("-inf")
"""The score of a slot that holds nothing: below every other, so that empty slots are the first to be filled."""


@final
@dataclass(frozen=True)
class Screening:
    """nu and rho."""

    short_term: int
    relevant: int

    @property
    def held(self) -> int:
        """Slots of a sequence: the short-term buffer's first, then those of the relevant set."""
        return self.short_term + self.relevant

    @property
    def first(self) -> int:
        """The row of h_1; h_0 lies in the row before."""
        return self.held + 2

    def carried_rows(self, recent_scores: Tensor, relevant_scores: Tensor) -> tuple[Tensor, Tensor]:
        """Slots (int32) and scores, both (batch, held), of a state that was carried over."""
        scores = torch.cat([recent_scores, relevant_scores], 1).detach()
        numbers = torch.arange(1, self.held + 1, device=scores.device, dtype=torch.int32)
        rows = torch.cat([numbers[self.relevant :], numbers[: self.relevant]])
        return torch.where(scores == EMPTY, 0, rows), scores

    def oldest_first(self, of_slots: Tensor, steps: int) -> tuple[Tensor, Tensor]:
        """What belongs to the short-term buffer, oldest first, and to the relevant set, after so many steps."""
        recent, relevant = of_slots[:, : self.short_term], of_slots[:, self.short_term :]
        return recent.roll(-(steps % self.short_term), 1), relevant

    def forget(self, reset: Tensor, slots: Tensor, scores: Tensor) -> None:
        """Empty all slots of the sequences (batch, 1) that begin anew."""
        slots.masked_fill_(reset, 0)
        scores.masked_fill_(reset, EMPTY)

    def store(self, step: int, weights: Tensor, slots: Tensor, scores: Tensor) -> None:
        """After step `step` looked back with `weights` (batch, held): count them, promote what leaves, make place for h.

        The state that leaves takes the place of the least relevant (the first of several) if its score is strictly
        greater; an empty slot is less than any.
        """
        scores[:, : self.short_term] += weights[:, : self.short_term]
        place = step % self.short_term
        if self.relevant:
            leaving, score = slots[:, place], scores[:, place]
            least, where = scores[:, self.short_term :].min(1)
            where = (where + self.short_term).unsqueeze(1)
            promoted = score > least
            scores.scatter_(1, where, torch.where(promoted, score, least).unsqueeze(1))
            kept = slots.gather(1, where).squeeze(1)
            slots.scatter_(1, where, torch.where(promoted, leaving, kept).unsqueeze(1))
        slots[:, place] = self.first + step
        scores[:, place] = 0

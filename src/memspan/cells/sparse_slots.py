"""Every k-th state of each document is stored: in which slot, and which slots a step sees.

Resets come at different steps in different sequences, so each sequence counts for itself; within a call nothing is
overwritten, as the backward pass looks at everything again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from memspan.cells.windows import steps_since_reset


@final
@dataclass(frozen=True)
class Slots:
    """Where the steps of a call store and what they see, (time, batch) each; a document's states lie side by side."""

    begin: Tensor
    """The slot of the first state that the step sees"""
    end: Tensor
    """One beyond the slot of the last one"""
    write: Tensor
    """The slot that the step stores its state in; `size` where it stores none"""
    size: int
    """Slots in use after the last step; one more is for what is not stored"""
    low: list[int]
    high: list[int]
    """The slots of each step that any sequence sees are from `low` to before `high`"""
    stores: list[bool]
    """Whether any sequence stores at a step"""
    renewed: list[bool]
    """Whether any sequence is reset before a step"""
    position: Tensor
    """The place of the step in its document"""

    @staticmethod
    def plan(step: Tensor, given: int, steps: int, every: int, resets: Tensor | None) -> Slots:
        """For sequences of which `step` (batch) steps came before, with `given` slots in the memory that is carried."""
        position = steps_since_reset(step, steps, resets)
        stored = (position + 1) % every == 0
        after = step // every + stored.cumsum(dim=0)
        end = after - stored.to(after.dtype)
        begin = end - position // every
        size = max(given, int(after.max()))
        return Slots(
            begin=begin,
            end=end,
            write=torch.where(stored, end, size),
            size=size,
            low=begin.amin(dim=1).tolist(),
            high=end.amax(dim=1).tolist(),
            stores=stored.any(dim=1).tolist(),
            renewed=[False] * steps if resets is None else resets.any(dim=1).tolist(),
            position=position,
        )

    def seen(self, t: int) -> tuple[slice, Tensor]:
        """The slots that step t looks at, and (source, batch) whether they are of its document."""
        numbers = torch.arange(self.low[t], self.high[t], device=self.begin.device).unsqueeze(1)
        return slice(self.low[t], self.high[t]), (numbers >= self.begin[t]) & (numbers < self.end[t])

    def written(self, t: int) -> tuple[Tensor, Tensor]:
        """The index of what step t stores."""
        return self.write[t], torch.arange(self.write.shape[1], device=self.write.device)

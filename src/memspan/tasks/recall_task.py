"""What all tasks share in which ten symbols are shown, and asked for after a marker."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from memspan.tasks.task import Batch, Split, Task, random_of

BLANK = 0
RECALLED = 10
"""Symbols to be remembered."""
KINDS = 8
"""Kinds of them, 1 to 8."""
MARKER = 9


@dataclass(frozen=True, kw_only=True)
class RecallTask(Task):
    """Ten symbols somewhere in the first delay + 9 steps, a marker, then ten steps at which they are asked for.

    The marker stands at step delay + 9, counted from 0; the length is delay + 20. The loss counts all steps, blanks being
    right until the marker has passed; the accuracy counts the ten that are recalled.
    """

    delay: int = 100
    """Steps that the symbols have to be kept for, or are scattered over, less about ten."""

    @property
    def length(self) -> int:
        """Steps of a sequence."""
        return self.delay + 2 * RECALLED

    @property
    def symbols(self) -> int:
        return KINDS + 2

    @property
    def features(self) -> int:
        return self.symbols

    @property
    def classes(self) -> int:
        return KINDS + 1

    @property
    def chance(self) -> float:
        return 1 / KINDS

    @property
    def baseline(self) -> float:
        """10 ln 8 / (delay + 20): blanks until the marker, then a guess among eight."""
        return RECALLED * math.log(KINDS) / self.length

    def batch(
        self,
        index: int,
        size: int,
        *,
        seed: int,
        split: Split = "train",
        device: torch.device | str = "cpu",
    ) -> Batch:
        random = random_of(seed, split, index)
        shown = random.integers(1, KINDS + 1, (RECALLED, size))
        inputs = np.full((self.length, size), BLANK)
        inputs[self.places(size, random), np.arange(size)] = shown
        inputs[-RECALLED - 1] = MARKER
        targets = np.full_like(inputs, BLANK)
        targets[-RECALLED:] = shown
        return Batch(
            torch.from_numpy(inputs).to(device),
            torch.from_numpy(targets).to(device),
            torch.ones(targets.shape, device=device),
        )

    @abstractmethod
    def places(self, size: int, random: np.random.Generator) -> NDArray[np.int64]:
        """(10, size): the steps at which the symbols of each sequence stand, in order."""

    def measures(self, logits: Tensor, batch: Batch) -> dict[str, float]:
        right = logits[-RECALLED:].argmax(2) == batch.targets[-RECALLED:]
        weights = batch.weights[-RECALLED:]
        return {"accuracy": float((right * weights).sum() / weights.sum())}

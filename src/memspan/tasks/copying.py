"""Symbols at the start, to be written down after a delay."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np
import torch
from torch import Tensor

from memspan.tasks.task import Batch, Split, Task, check_count, random_of

BLANK = 0
RECALLED = 10
"""Symbols to be remembered."""
KINDS = 8
"""Kinds of them, 1 to 8."""
MARKER = 9


@final
@dataclass(frozen=True, kw_only=True)
class Copy(Task):
    """Ten symbols, a delay, a marker, then the ten symbols again.  Hochreiter and Schmidhuber 1997; Kerg 2020, section 5.1.

        inputs   3 1 4 1 5 2 6 5 3 5 . . . (delay - 1 blanks) . . . # . . . . . . . . . .
        targets  . . . . . . . . . . . . .                    . . . . 3 1 4 1 5 2 6 5 3 5

    The marker stands at step delay + 9, counted from 0; the length is delay + 20. The loss counts all steps,
    the accuracy the ten that are recalled.

    >>> Copy(delay=3).batch(0, 1, seed=0).inputs[9:, 0].tolist()[1:]
    [0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    """

    delay: int = 100
    """Steps between a symbol and its recall, less ten."""

    def __post_init__(self) -> None:
        check_count("copy", "delay", self.delay)

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
        shown = random_of(seed, split, index).integers(1, KINDS + 1, (RECALLED, size))
        inputs = np.full((self.length, size), BLANK, dtype=np.int64)
        inputs[:RECALLED] = shown
        inputs[-RECALLED - 1] = MARKER
        return recall_batch(inputs, shown, device)

    def measures(self, logits: Tensor, batch: Batch) -> dict[str, float]:
        return recall_measures(logits, batch)


def recall_batch(inputs: np.ndarray, shown: np.ndarray, device: torch.device | str) -> Batch:
    """Blanks are to be written until the marker has passed, then what was shown."""
    targets = np.full_like(inputs, BLANK)
    targets[-len(shown) :] = shown
    return Batch(
        torch.from_numpy(inputs).to(device),
        torch.from_numpy(targets).to(device),
        torch.ones(targets.shape, device=device),
    )


def recall_measures(logits: Tensor, batch: Batch) -> dict[str, float]:
    """`accuracy`: the share of the recalled symbols that are right."""
    right = logits[-RECALLED:].argmax(2) == batch.targets[-RECALLED:]
    weights = batch.weights[-RECALLED:]
    return {"accuracy": float((right * weights).sum() / weights.sum())}

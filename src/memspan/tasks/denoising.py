"""Symbols scattered among blanks, to be written down at the end."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np
import torch
from torch import Tensor

from memspan.tasks.copying import BLANK, KINDS, MARKER, RECALLED, recall_batch, recall_measures
from memspan.tasks.task import Batch, Split, Task, check_count, random_of


@final
@dataclass(frozen=True, kw_only=True)
class Denoise(Task):
    """Ten symbols at random places, a marker, then the ten symbols.  Jing 2019; Kerg 2020, section 5.1.

        inputs   . 3 . . 1 4 . 1 . (delay + 9 steps, ten of them symbols) . 5 . # . . . . . . . . . .
        targets  . . . . . . . . .                                        . . . . 3 1 4 1 5 2 6 5 3 5

    The places are drawn without replacement and keep the symbols' order; the marker stands at step delay + 9, counted
    from 0; the length is delay + 20. The loss counts all steps, the accuracy the ten that are recalled. Symbols are
    numbered as in `Copy`, marker 9, which leaves out the number that Kerg's program never uses (its marker is 10).

    >>> Denoise(delay=1).batch(0, 1, seed=0).inputs[10:, 0].tolist()
    [9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    """

    delay: int = 100
    """Steps over which the symbols are scattered, less nine."""

    def __post_init__(self) -> None:
        check_count("denoise", "delay", self.delay)

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
        # Of independent uniform numbers, where the ten smallest stand is a subset like any other.
        draws = random.random((size, self.delay + RECALLED - 1))
        places = np.sort(np.argpartition(draws, RECALLED - 1, axis=1)[:, :RECALLED], axis=1).T
        inputs = np.full((self.length, size), BLANK, dtype=np.int64)
        np.put_along_axis(inputs, places, shown, axis=0)
        inputs[-RECALLED - 1] = MARKER
        return recall_batch(inputs, shown, device)

    def measures(self, logits: Tensor, batch: Batch) -> dict[str, float]:
        return recall_measures(logits, batch)

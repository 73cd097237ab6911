"""Symbols scattered among blanks, to be written down at the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.tasks.recall_task import RECALLED, RecallTask
from memspan.tasks.task import check_count


@final
@dataclass(frozen=True, kw_only=True)
class Denoise(RecallTask):
    """Ten symbols at random places, a marker, then the ten symbols.  Jing 2019; Kerg 2020, section 5.1.

        inputs   . 3 . . 1 4 . 1 . (delay + 9 steps, ten of them symbols) . 5 . # . . . . . . . . . .
        targets  . . . . . . . . .                                        . . . . 3 1 4 1 5 2 6 5 3 5

    The places are drawn without replacement and keep the symbols' order; the marker stands at step delay + 9, counted
    from 0; the length is delay + 20. The loss counts all steps, the accuracy the ten that are recalled. Symbols are
    numbered as in `Copy`, marker 9, which leaves out the number that Kerg's program never uses (its marker is 10).

    >>> Denoise(delay=1).batch(0, 1, seed=0).inputs[10:, 0].tolist()
    [9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    """

    def __post_init__(self) -> None:
        check_count("denoise", "delay", self.delay)

    def places(self, size: int, random: np.random.Generator) -> NDArray[np.int64]:
        # Of independent uniform numbers, where the ten smallest stand is a subset like any other.
        draws = random.random((size, self.delay + RECALLED - 1))
        return np.sort(np.argpartition(draws, RECALLED - 1, axis=1)[:, :RECALLED], axis=1).T

"""Symbols at the start, to be written down after a delay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.tasks.recall_task import RECALLED, RecallTask
from memspan.tasks.task import check_count


@final
@dataclass(frozen=True, kw_only=True)
class Copy(RecallTask):
    """Ten symbols, a delay, a marker, then the ten symbols again.  Hochreiter and Schmidhuber 1997; Kerg 2020, section 5.1.

        inputs   3 1 4 1 5 2 6 5 3 5 . . . (delay - 1 blanks) . . . # . . . . . . . . . .
        targets  . . . . . . . . . . . . .                    . . . . 3 1 4 1 5 2 6 5 3 5

    The marker stands at step delay + 9, counted from 0; the length is delay + 20. The loss counts all steps,
    the accuracy the ten that are recalled.

    >>> Copy(delay=3).batch(0, 1, seed=0).inputs[9:, 0].tolist()[1:]
    [0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    """

    def __post_init__(self) -> None:
        check_count("copy", "delay", self.delay)

    def places(self, size: int, random: np.random.Generator) -> NDArray[np.int64]:
        del random  # always the first ten steps
        return np.broadcast_to(np.arange(RECALLED)[:, None], (RECALLED, size))

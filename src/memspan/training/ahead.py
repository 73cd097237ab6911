"""Batches drawn several at a time."""

from __future__ import annotations

from typing import final

import torch

from memspan.tasks import Batch, Task

AHEAD = 8
"""Batches drawn at once. Alone, a small one costs five times as much: an update empties the caches of what draws."""


@final
class Ahead:
    """The training batches of a task, each a function of its index alone, so that drawing ahead changes nothing."""

    def __init__(self, task: Task, size: int, *, seed: int, device: torch.device) -> None:
        self._task, self._size, self._seed, self._device = task, size, seed, device
        self._drawn: dict[int, Batch] = {}

    def batch(self, index: int) -> Batch:
        """Number `index`, and with it the next few unless they are there."""
        if index not in self._drawn:
            self._drawn = {
                number: self._task.batch(number, self._size, seed=self._seed, device=self._device)
                for number in range(index, index + AHEAD)
            }
        return self._drawn[index]

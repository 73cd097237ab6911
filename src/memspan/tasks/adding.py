"""Two numbers among many, to be added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
import torch
from torch import Tensor

from memspan.tasks.task import Batch, Split, Task, check_count, random_of

CLOSE = 0.04
"""An answer nearer than this to the sum counts as right, as in Hochreiter and Schmidhuber."""


@final
@dataclass(frozen=True, kw_only=True)
class Adding(Task):
    """The sum of the two numbers that are marked, one in each half.  Hochreiter and Schmidhuber 1997, section 5.4.

        values   0.61 0.12 0.93 0.47 … (length of them) … 0.25 0.58 0.06 0.81
        marks       0    1    0    0 …                  …    0    1    0    0
        target                                                         0.12 + 0.58

    Values are uniform from 0 to 1. The loss is the squared error of the answer at the last step, the accuracy the
    share of answers within 0.04. The answer 1 to everything has loss 1/6 and accuracy 1 - 0.96^2 = 0.0784. Where the
    second mark is at the last step, once in length / 2, that value needs no memory, which gains 1/12.

    >>> tuple(Adding(length=100).batch(0, 20, seed=0).inputs.shape)
    (100, 20, 2)
    """

    length: int = 100
    """Steps of a sequence."""

    def __post_init__(self) -> None:
        check_count("adding", "length", self.length, least=2)

    @property
    def symbols(self) -> None:
        return None

    @property
    def features(self) -> int:
        return 2

    @property
    def classes(self) -> int:
        return 1

    @property
    def chance(self) -> float:
        """1 - (1 - 0.04)^2: how often the sum of two uniform numbers is within 0.04 of 1."""
        return 1 - (1 - CLOSE) ** 2

    @property
    def baseline(self) -> float:
        """1/6, the variance of the sum, less 1/12, that of one number, where it is read last; a squared error, not nats."""
        return 1 / 6 - 1 / (12 * (self.length - self.length // 2))

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
        inputs = np.zeros((self.length, size, 2), np.float32)
        inputs[:, :, 0] = random.random((self.length, size), np.float32)
        half, each = self.length // 2, np.arange(size)
        first, second = random.integers(0, half, size), random.integers(half, self.length, size)
        inputs[first, each, 1] = inputs[second, each, 1] = 1
        sums = inputs[first, each, 0] + inputs[second, each, 0]
        return Batch(
            torch.from_numpy(inputs).to(device),
            torch.from_numpy(sums[None]).to(device),
            torch.ones((1, size), device=device),
        )

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """Mean squared error, weighted. `logits` are the answers (1, batch, 1)."""
        errors = (logits[:, :, 0] - batch.targets) ** 2
        return (errors * batch.weights).sum() / batch.weights.sum()

    def measures(self, logits: Tensor, batch: Batch) -> dict[str, float]:
        """`accuracy`: the share of answers within 0.04 of the sum."""
        right = ((logits[:, :, 0] - batch.targets).abs() < CLOSE).to(batch.weights.dtype)
        return {"accuracy": float((right * batch.weights).sum() / batch.weights.sum())}

"""What all tasks share in which a digit must be told at the last step."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray

from memspan.tasks.images import DIGITS, IMAGES, found, load, mnist_files
from memspan.tasks.passes import batches_of, passed
from memspan.tasks.task import Batch, Split, Task, random_of


@dataclass(frozen=True, kw_only=True)
class DigitTask(Task):
    """An image turned into a sequence; which of ten digits it shows is asked at the last step only.

    Training goes through the images in passes, each in an order of its own; validation and test go through theirs
    in order, and the last batch of such a pass is filled up with sequences of weight 0.
    """

    data: str = "auto"
    """`mnist`: 50,000 + 10,000 + 10,000 images of 784 pixels. `digits`: 1,197 + 300 + 300 of 64, from scikit-learn.
    `auto`: MNIST where its files are, else the others."""

    @property
    def symbols(self) -> None:
        return None

    @property
    def classes(self) -> int:
        return DIGITS

    @property
    def chance(self) -> float:
        return 1 / DIGITS

    @property
    def baseline(self) -> float:
        """ln 10: a guess among ten digits, almost equally frequent."""
        return math.log(DIGITS)

    @property
    def pixels(self) -> int:
        """Of one image."""
        return IMAGES[found(self.data)].pixels

    def resolved(self) -> Self:
        name = found(self.data)
        if name == "mnist":
            mnist_files()  # a missing file is told before anything else is done
        return replace(self, data=name)

    def batches(self, split: Split, size: int) -> int:
        return batches_of(IMAGES[found(self.data)].sizes, size, split)

    def batch(
        self,
        index: int,
        size: int,
        *,
        seed: int,
        split: Split = "train",
        device: torch.device | str = "cpu",
    ) -> Batch:
        name = found(self.data)
        images = load(name, split)
        members, weights = passed(IMAGES[name].sizes, index, size, seed=seed, split=split)
        pixels = images.pixels[members].astype(np.float32)
        pixels /= IMAGES[name].brightest
        return Batch(
            torch.from_numpy(self.shown(pixels, random_of(seed, split, index))).to(device),
            torch.from_numpy(images.digits[members][None]).to(device),
            torch.from_numpy(weights[None]).to(device),
        )

    @abstractmethod
    def shown(self, pixels: NDArray[np.float32], random: np.random.Generator) -> NDArray[np.float32]:
        """Sequences (time, batch, features) from images (batch, pixels) of values 0 to 1."""

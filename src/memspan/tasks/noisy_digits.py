"""A digit, then noise, then the question which it was."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np
import torch
from numpy.typing import NDArray

from memspan.tasks.digit_task import DigitTask
from memspan.tasks.images import check_images
from memspan.tasks.task import check_count, check_positive


@final
@dataclass(frozen=True, kw_only=True)
class NoisyDigits(DigitTask):
    """A whole image at once, then steps of noise, then the digit.  Chen 2018, section 4.1.

        inputs   [image] [noise] [noise] … (delay of them) … [noise]
        target                                                  7

    Images and noise have one variance R, `input_variance`, as the mean-field theory assumes: each image is shifted and
    scaled to mean 0 and mean square R over its pixels; noise is N(0, R), independent in every pixel and at every step, and
    drawn anew for every batch. The paper does not tell its R here. The noise says nothing about the digit, so what can
    be answered without memory is a guess: loss ln 10, accuracy 1/10.

    >>> task = NoisyDigits(delay=5, data="digits")
    >>> tuple(task.batch(0, 20, seed=0).inputs.shape)
    (6, 20, 64)
    """

    delay: int = 100
    """Steps of noise."""
    input_variance: float = 1.0
    """R, of the image's pixels and of the noise."""

    def __post_init__(self) -> None:
        check_images("noisy-digits", self.data)
        check_count("noisy-digits", "delay", self.delay)
        check_positive("noisy-digits", "input_variance", self.input_variance)

    @property
    def length(self) -> int:
        """Steps of a sequence."""
        return self.delay + 1

    @property
    def features(self) -> int:
        return self.pixels

    def shown(self, pixels: NDArray[np.float32], random: np.random.Generator) -> NDArray[np.float32]:
        deviation = math.sqrt(self.input_variance)
        sequences = np.empty((self.length, *pixels.shape), np.float32)
        centred = pixels - pixels.mean(1, keepdims=True)
        sequences[0] = centred * (deviation / np.sqrt((centred**2).mean(1, keepdims=True)))
        # Millions of numbers in a batch, which torch draws twice as fast as numpy.
        generator = torch.Generator().manual_seed(int(random.integers(1 << 63)))
        torch.from_numpy(sequences[1:]).normal_(0.0, deviation, generator=generator)
        return sequences

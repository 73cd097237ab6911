"""Digits read pixel after pixel, line after line or in a fixed disorder."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.tasks.digit_task import DigitTask
from memspan.tasks.images import AUTO, IMAGES, brightness, check_images, found
from memspan.tasks.task import check_count


@final
@dataclass(frozen=True, kw_only=True)
class SequentialDigits(DigitTask):
    """An image, a few pixels a step, line after line; then the digit.  Le 2015; Chen 2018, section 4.2.

        inputs   [pixels 0-3] [pixels 4-7] … (steps of them) … [pixels 780-783]      with steps=196
        target                                                        7

    Pixels are from 0, black, to 1. Without memory only the last pixels are known: MNIST's corner is always black, so
    that the loss is ln 10 and the accuracy 1/10; the last pixel of the 8 by 8 digits is worth 0.09 nats.

    >>> SequentialDigits(data="digits", steps=16).features
    4
    """

    steps: int | None = None
    """How many steps an image is read in; divides its pixels (784 or 196 of MNIST, 64 or 16 of `digits`). None: one
    for each pixel."""
    standardized: bool = False
    """Whether pixels are shifted and scaled to mean 0 and variance 1 over the training images, instead of 0 to 1."""

    def __post_init__(self) -> None:
        check_images("digits", self.data)
        check_steps("digits", self.steps, self.data)

    @property
    def length(self) -> int:
        """Steps of a sequence."""
        return self.steps or self.pixels

    @property
    def features(self) -> int:
        return self.pixels // self.length

    def shown(self, pixels: NDArray[np.float32], random: np.random.Generator) -> NDArray[np.float32]:
        del random  # nothing is left to chance
        return in_steps(scaled(pixels, self.data) if self.standardized else pixels, self.length)


@final
@dataclass(frozen=True, kw_only=True)
class PermutedDigits(DigitTask):
    """An image, a few pixels a step, in one disorder for all images; then the digit.  Le 2015; Kerg 2020, section 5.2.

        inputs   [pixel p(0)] [pixel p(1)] … (steps of them) … [pixel p(783)]      with steps=784, p a permutation
        target                                                        7

    Pixels are from 0, black, to 1. Neighbours end up far from each other, so that a longer memory is needed than
    line after line. A guess has loss ln 10 and accuracy 1/10; knowing the pixel of the last step only, which may lie
    anywhere in the image, gains little (0.11 nats of MNIST with the default permutation).

    >>> PermutedDigits(data="digits").features
    1
    """

    steps: int | None = None
    """How many steps an image is read in; divides its pixels. None: one for each pixel."""
    standardized: bool = False
    """Whether pixels are shifted and scaled to mean 0 and variance 1 over the training images, instead of 0 to 1."""
    permutation_seed: int = 100
    """p is numpy's RandomState(permutation_seed).permutation(pixels); 100 gives Kerg's."""

    def __post_init__(self) -> None:
        check_images("permuted-digits", self.data)
        check_steps("permuted-digits", self.steps, self.data)
        check_count("permuted-digits", "permutation_seed", self.permutation_seed, least=0)

    @property
    def length(self) -> int:
        """Steps of a sequence."""
        return self.steps or self.pixels

    @property
    def features(self) -> int:
        return self.pixels // self.length

    def shown(self, pixels: NDArray[np.float32], random: np.random.Generator) -> NDArray[np.float32]:
        del random  # nothing is left to chance
        given = scaled(pixels, self.data) if self.standardized else pixels
        return in_steps(given[:, permutation(pixels.shape[1], self.permutation_seed)], self.length)


def scaled(pixels: NDArray[np.float32], data: str) -> NDArray[np.float32]:
    """Pixels of 0 to 1, of mean 0 and variance 1 over the training images."""
    mean, deviation = brightness(found(data))
    return (pixels - np.float32(mean)) / np.float32(deviation)


def in_steps(pixels: NDArray[np.float32], steps: int) -> NDArray[np.float32]:
    """(batch, pixels) as (steps, batch, pixels / steps)."""
    return np.ascontiguousarray(pixels.reshape(len(pixels), steps, -1).swapaxes(0, 1))


@lru_cache(maxsize=4)
def permutation(pixels: int, seed: int) -> NDArray[np.int64]:
    """The order in which pixels are read; not to be written to."""
    order = np.random.RandomState(seed).permutation(pixels)
    order.setflags(write=False)
    return order


def check_steps(task: str, steps: int | None, data: str) -> None:
    """Refuse a number of steps that does not divide the pixels of an image."""
    if steps is None:
        return
    check_count(task, "steps", steps)
    name = found(data)
    pixels = IMAGES[name].pixels
    if pixels % steps:
        divisors = ", ".join(str(number) for number in range(1, pixels + 1) if pixels % number == 0)
        mnist = data == AUTO and name != "mnist" and IMAGES["mnist"].pixels % steps == 0
        advice = "; for MNIST, which is not on this machine, run `memspan data get mnist`" if mnist else ""
        raise InputError(
            f"{task}: steps is {steps}; expected a divisor of the {pixels} pixels of data={name}: {divisors}{advice}"
        )

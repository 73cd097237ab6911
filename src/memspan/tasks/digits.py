"""Tasks on images of handwritten digits: after a delay of noise, pixel by pixel, and in a fixed random order.

The images are MNIST's if its files are present, else the 8 by 8 digits that come with scikit-learn.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Self, final

import numpy as np
import torch
from numpy.typing import NDArray

from memspan import data
from memspan.data.files import read_idx
from memspan.errors import InputError, MissingExtraError, suggestion
from memspan.tasks.catalog import CATALOG
from memspan.tasks.task import (
    ADAM,
    SPLITS,
    Batch,
    Device,
    Settings,
    Split,
    Task,
    batch_random,
    batches_per_epoch,
    check_split,
    epoch_batch,
)

# Number of classes.
DIGITS = 10
# Whichever images are on this machine, MNIST first.
AUTO = "auto"


@dataclass(frozen=True, kw_only=True)
class DigitTask(Task):
    """An image turned into a sequence, classified at the last step.

    Each training epoch reads the images in its own order; validation and test read theirs in order, with sequences of
    weight 0 as padding in the last batch.
    """

    data: str = AUTO
    """`mnist`: 50,000 + 10,000 + 10,000 images of 784 pixels. `digits`: 1,197 + 300 + 300 of 64, from scikit-learn.
    `auto`: MNIST if its files are present, else `digits`."""

    def __post_init__(self) -> None:
        if self.data != AUTO and self.data not in IMAGE_SETS:
            names = [AUTO, *IMAGE_SETS]
            raise InputError(f"{self.facts.word}: data is {self.data!r}; {suggestion(str(self.data), names)}")

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
        """ln 10: a guess among ten almost equally frequent digits."""
        return math.log(DIGITS)

    @property
    def pixels(self) -> int:
        """Pixels of one image."""
        return IMAGE_SETS[image_set(self.data)].pixels

    def resolved(self) -> Self:
        name = image_set(self.data)
        if name == "mnist":
            mnist_files()  # report a missing file before training starts
        return replace(self, data=name)

    def batches(self, split: Split, size: int) -> int:
        return batches_per_epoch(IMAGE_SETS[image_set(self.data)].sizes, size, split)

    def batch(self, index: int, size: int, *, seed: int, split: Split = "train", device: Device = "cpu") -> Batch:
        name = image_set(self.data)
        images = load_images(name, split)
        members, weights = epoch_batch(IMAGE_SETS[name].sizes, index, size, seed=seed, split=split)
        pixels = images.pixels[members].astype(np.float32)
        # In place, because a batch of MNIST images is large and copied once more by `sequences`.
        pixels /= IMAGE_SETS[name].white
        inputs = self.sequences(pixels, batch_random(seed, split, index))
        return Batch.from_numpy(inputs, images.digits[members][None], weights[None], device=device)

    @abstractmethod
    def sequences(self, pixels: NDArray[np.float32], random: np.random.Generator) -> NDArray[np.float32]:
        """Sequences (time, batch, features) from images (batch, pixels) with values 0 to 1."""


@final
@dataclass(frozen=True, kw_only=True)
class NoisyDigits(DigitTask):
    """A whole image in one step, then noise, then the digit.  Chen 2018, section 4.1.

        inputs   [image] [noise] [noise] … (delay of them) … [noise]
        target                                                  7

    Images and noise have the same variance R, `input_variance`, as the mean-field theory assumes: each image is
    shifted and scaled to mean 0 and mean square R over its pixels; the noise is N(0, R), independent for every pixel
    and step, and drawn anew for every batch. The paper does not state its R. The noise is independent of the digit, so
    a memoryless answer is a guess: loss ln 10, accuracy 1/10.

    >>> task = NoisyDigits(delay=5, data="digits")
    >>> tuple(task.batch(0, 20, seed=0).inputs.shape)
    (6, 20, 64)
    """

    facts = CATALOG["noisy-digits"]
    training_defaults: ClassVar[Settings] = {
        "cell": {"hidden": 300},
        "training": ADAM | {"batch": 100, "updates": 5_000, "validate_every": 100},
    }

    delay: int = 100
    """Steps of noise."""
    input_variance: float = 1.0
    """R, of the pixels of an image and of the noise."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_count("delay")
        self.check_positive("input_variance")

    @property
    def length(self) -> int:
        """Steps of a sequence."""
        return self.delay + 1

    @property
    def features(self) -> int:
        return self.pixels

    def sequences(self, pixels: NDArray[np.float32], random: np.random.Generator) -> NDArray[np.float32]:
        deviation = math.sqrt(self.input_variance)
        sequences = np.empty((self.length, *pixels.shape), np.float32)
        centered = pixels - pixels.mean(1, keepdims=True)
        sequences[0] = centered * (deviation / np.sqrt((centered**2).mean(1, keepdims=True)))
        # A batch has millions of normal numbers, which torch draws twice as fast as numpy.
        generator = torch.Generator().manual_seed(int(random.integers(1 << 63)))
        torch.from_numpy(sequences[1:]).normal_(0.0, deviation, generator=generator)
        return sequences


@dataclass(frozen=True, kw_only=True)
class PixelTask(DigitTask):
    """An image read a few pixels per step, row by row unless `ordered` says otherwise."""

    # Kerg 2020, Table 8, with a larger learning rate and fewer updates.
    training_defaults: ClassVar[Settings] = {
        "cell": {"hidden": 100},
        "training": ADAM
        | {"batch": 100, "updates": 10_000}
        | {"validate_every": 200, "patience": 20, "validation_batches": 100},
    }

    steps: int | None = None
    """Steps in which an image is read; divides its pixels (784 or 196 for MNIST, 64 or 16 for `digits`). None: one for
    each pixel."""
    standardized: bool = False
    """Whether pixels are scaled to mean 0 and variance 1 over the training images, instead of 0 to 1."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.steps is None:
            return
        self.check_count("steps")
        if self.pixels % self.steps:
            name, mnist = image_set(self.data), IMAGE_SETS["mnist"].pixels
            divisors = ", ".join(str(number) for number in range(1, self.pixels + 1) if self.pixels % number == 0)
            missing = self.data == AUTO and name != "mnist" and mnist % self.steps == 0
            advice = "; for MNIST, which is not on this machine, run `memspan data get mnist`" if missing else ""
            raise InputError(
                f"{self.facts.word}: steps is {self.steps}; expected a divisor of the "
                f"{self.pixels} pixels of data={name}: {divisors}{advice}"
            )

    @property
    def length(self) -> int:
        """Steps of a sequence."""
        return self.steps or self.pixels

    @property
    def required_memory(self) -> int:
        return self.length

    @property
    def features(self) -> int:
        return self.pixels // self.length

    def sequences(self, pixels: NDArray[np.float32], random: np.random.Generator) -> NDArray[np.float32]:
        del random  # nothing is random
        if self.standardized:
            mean, deviation = pixel_moments(image_set(self.data))
            pixels = (pixels - np.float32(mean)) / np.float32(deviation)
        steps = self.ordered(pixels).reshape(len(pixels), self.length, -1)
        # Time first and contiguous, as cells read it.
        return np.ascontiguousarray(steps.swapaxes(0, 1))

    def ordered(self, pixels: NDArray[np.float32]) -> NDArray[np.float32]:
        """Images (batch, pixels) in the order in which they are read."""
        return pixels


@final
@dataclass(frozen=True, kw_only=True)
class SequentialDigits(PixelTask):
    """An image, a few pixels per step, row by row; then the digit.  Le 2015; Chen 2018, section 4.2.

        inputs   [pixels 0-3] [pixels 4-7] … (steps of them) … [pixels 780-783]      with steps=196
        target                                                        7

    Pixels range from 0, black, to 1. A memoryless model sees only the last pixels: the corner of an MNIST image is
    always black, so its loss is ln 10 and its accuracy 1/10; the last pixel of the 8 by 8 digits is worth 0.09 nats.

    >>> SequentialDigits(data="digits", steps=16).features
    4
    """

    facts = CATALOG["digits"]


@final
@dataclass(frozen=True, kw_only=True)
class PermutedDigits(PixelTask):
    """An image, a few pixels per step, in one random order for all images; then the digit.  Le 2015; Kerg 2020, 5.2.

        inputs   [pixel p(0)] [pixel p(1)] … (steps of them) … [pixel p(783)]      with steps=784, p a permutation
        target                                                        7

    Pixels range from 0, black, to 1. Neighboring pixels are read far apart, so a longer memory is needed than row by
    row. A guess has loss ln 10 and accuracy 1/10; knowing only the pixel of the last step, which can lie anywhere in
    the image, gains little (0.11 nats for MNIST with the default permutation).

    >>> PermutedDigits(data="digits").features
    1
    """

    facts = CATALOG["permuted-digits"]

    permutation_seed: int = 100
    """p is numpy's RandomState(permutation_seed).permutation(pixels); 100 gives Kerg's."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_count("permutation_seed", least=0)

    def ordered(self, pixels: NDArray[np.float32]) -> NDArray[np.float32]:
        return pixels[:, _permutation(pixels.shape[1], self.permutation_seed)]


@lru_cache(maxsize=4)
def _permutation(pixels: int, seed: int) -> NDArray[np.int64]:
    """The order in which pixels are read; read-only."""
    order = np.random.RandomState(seed).permutation(pixels)
    order.setflags(write=False)
    return order


class Images(NamedTuple):
    """The images of one split and the digits they show."""

    pixels: NDArray[np.uint8]
    """(images, pixels), row by row"""
    digits: NDArray[np.int64]
    """(images,): 0 to 9"""


@final
@dataclass(frozen=True, kw_only=True)
class ImageSet:
    """The dimensions of a set of images, known before any file is read."""

    pixels: int
    """Pixels of one image."""
    white: int
    """Value of a white pixel; black is 0."""
    sizes: Mapping[Split, int]
    """Images of each split; the splits are consecutive."""


# The values of `data` other than `auto`.
IMAGE_SETS: Mapping[str, ImageSet] = MappingProxyType(
    {
        "mnist": ImageSet(pixels=784, white=255, sizes={"train": 50_000, "valid": 10_000, "test": 10_000}),
        "digits": ImageSet(pixels=64, white=16, sizes={"train": 1_197, "valid": 300, "test": 300}),
    }
)


def image_set(name: str) -> str:
    """The name of the images on this machine for `auto`; other names unchanged."""
    if name != AUTO:
        return name
    return "mnist" if data.find("mnist") is not None else "digits"


def load_images(name: str, split: Split) -> Images:
    """The images of one split; files are read once."""
    check_split(split)
    everything = _mnist(mnist_files()) if name == "mnist" else _bundled()
    sizes = IMAGE_SETS[name].sizes
    start = sum(sizes[earlier] for earlier in SPLITS[: SPLITS.index(split)])
    part = slice(start, start + sizes[split])
    return Images(everything.pixels[part], everything.digits[part])


@lru_cache(maxsize=2)
def pixel_moments(name: str) -> tuple[float, float]:
    """Mean and standard deviation of the pixels of all training images, with black 0 and white 1."""
    pixels = load_images(name, "train").pixels
    return float(pixels.mean()) / IMAGE_SETS[name].white, float(pixels.std()) / IMAGE_SETS[name].white


def mnist_files() -> tuple[Path, ...]:
    """The four files of MNIST; raises for the first that is missing."""
    return tuple(data.locate("mnist", file.name) for file in data.CATALOG["mnist"].files)


@lru_cache(maxsize=1)
def _mnist(files: tuple[Path, ...]) -> Images:
    """MNIST's 60,000 training images, of which the last 10,000 are for validation, and its 10,000 test images."""
    images, digits, test_images, test_digits = files
    pixels = [read_idx(images, (60_000, 28, 28)), read_idx(test_images, (10_000, 28, 28))]
    labels = np.concatenate([read_idx(digits, (60_000,)), read_idx(test_digits, (10_000,))])
    if labels.max() >= DIGITS:
        raise InputError(f"{digits} or {test_digits} has the label {labels.max()}; expected 0 to 9; replace the file")
    return Images(np.concatenate(pixels).reshape(-1, 784), labels.astype(np.int64))


@lru_cache(maxsize=1)
def _bundled() -> Images:
    """scikit-learn's 1,797 digits in a fixed random order; originally, digits by the same person are adjacent."""
    try:
        from sklearn.datasets import load_digits  # imported here because it takes a second
    except ImportError as error:
        raise MissingExtraError("the bundled set of digits", "scikit-learn", "models") from error
    bundled: Any = load_digits()
    order = np.random.RandomState(0).permutation(len(bundled.target))
    return Images(bundled.data[order].astype(np.uint8), bundled.target[order].astype(np.int64))

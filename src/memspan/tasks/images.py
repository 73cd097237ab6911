"""Handwritten digits: MNIST where its files are, else the 8 by 8 digits that come with scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from memspan.data import CATALOG, find, locate
from memspan.data.files import read_idx
from memspan.errors import InputError, MissingExtraError, suggestion
from memspan.tasks.task import SPLITS, Split, check_split

DIGITS = 10
"""Kinds of images."""
AUTO = "auto"
"""Whichever is on this machine, MNIST first."""


class Images(NamedTuple):
    """Images of one split and the digits they show."""

    pixels: NDArray[np.uint8]
    """(images, pixels), line after line"""
    digits: NDArray[np.int64]
    """(images,): 0 to 9"""


@final
@dataclass(frozen=True, kw_only=True)
class ImageSource:
    """What is known of a set of images before any file is read."""

    pixels: int
    """Of one image."""
    brightest: int
    """The value of a white pixel; a black one is 0."""
    sizes: Mapping[Split, int]
    """Images of each split, which follow each other in the set."""


IMAGES: Mapping[str, ImageSource] = MappingProxyType(
    {
        "mnist": ImageSource(
            pixels=784, brightest=255, sizes={"train": 50_000, "valid": 10_000, "test": 10_000}
        ),
        "digits": ImageSource(pixels=64, brightest=16, sizes={"train": 1_197, "valid": 300, "test": 300}),
    }
)
"""The words for where digits come from, besides `auto`."""


def check_images(task: str, data: str) -> None:
    """Refuse a word that is none of `auto`, `mnist`, `digits`."""
    if data != AUTO and data not in IMAGES:
        raise InputError(f"{task}: data is {data!r}; {suggestion(str(data), [AUTO, *IMAGES])}")


def found(data: str) -> str:
    """`auto` as the name of what is on this machine; other names as they are."""
    if data != AUTO:
        return data
    return "mnist" if find("mnist") is not None else "digits"


def load(name: str, split: Split) -> Images:
    """The images of one split; read once, and afterwards at hand."""
    check_split(split)
    everything = _mnist(mnist_files()) if name == "mnist" else _bundled()
    sizes = IMAGES[name].sizes
    start = sum(sizes[earlier] for earlier in SPLITS[: SPLITS.index(split)])
    part = slice(start, start + sizes[split])
    return Images(everything.pixels[part], everything.digits[part])


@lru_cache(maxsize=2)
def brightness(name: str) -> tuple[float, float]:
    """Mean and standard deviation of the pixels of all training images, black 0 and white 1."""
    pixels = load(name, "train").pixels
    return float(pixels.mean()) / IMAGES[name].brightest, float(pixels.std()) / IMAGES[name].brightest


def mnist_files() -> tuple[Path, ...]:
    """The four files of MNIST; the first that is missing is told, with where it was looked for."""
    return tuple(locate("mnist", file.name) for file in CATALOG["mnist"].files)


@lru_cache(maxsize=1)
def _mnist(files: tuple[Path, ...]) -> Images:
    """60,000 images for training, of which the last 10,000 are for validation, and 10,000 for testing."""
    images, digits, test_images, test_digits = files
    pixels = [read_idx(images, (60_000, 28, 28)), read_idx(test_images, (10_000, 28, 28))]
    shown = np.concatenate([read_idx(digits, (60_000,)), read_idx(test_digits, (10_000,))])
    if shown.max() >= DIGITS:
        raise InputError(
            f"{digits} or {test_digits} has the label {shown.max()}; expected 0 to 9; replace the file"
        )
    return Images(np.concatenate(pixels).reshape(-1, 784), shown.astype(np.int64))


@lru_cache(maxsize=1)
def _bundled() -> Images:
    """scikit-learn's 1,797 digits in a fixed order of their own: as they come, a person's digits follow each other."""
    try:
        from sklearn.datasets import load_digits  # loaded here: it takes a second
    except ImportError as error:
        raise MissingExtraError("the bundled set of digits", "scikit-learn", "models") from error
    bundled: Any = load_digits()
    order = np.random.RandomState(0).permutation(len(bundled.target))
    return Images(bundled.data[order].astype(np.uint8), bundled.target[order].astype(np.int64))

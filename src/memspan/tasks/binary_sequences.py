"""Binary sequences whose past tells of the next symbol at every distance."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import final

import numpy as np
import torch
from numpy.typing import NDArray

from memspan.models.vocabulary import Vocabulary
from memspan.sequences.sources import PowerLawBinary
from memspan.tasks.passes import batches_of, passed
from memspan.tasks.task import SPLITS, Batch, Split, Task, check_count, check_positive, random_of

HELD_OUT = 2_000
"""Sequences for validation, as in the paper, and as many for testing."""


@final
@dataclass(frozen=True, kw_only=True)
class BinarySequences(Task):
    """The next symbol, where I(x_t; x_{t+d}) = amplitude d^-exponent at every distance.  Shen 2019, section 4.2.1.

        inputs   0 1 1 0 1 1 1 … 0 0    symbols 0 to length - 2
        targets  1 1 0 1 1 1 0 … 0 1    symbols 1 to length - 1

    A fixed set of sequences is gone through in passes, as in the paper: 10,000 to train on and 2,000 to validate, with
    I(d) = 0.1 d^-0.4 nats. All steps count. Both symbols are equally frequent, so a guess is right half of the time and
    costs ln 2; knowing the last symbol only, which takes no memory, costs ln 2 - amplitude.

    >>> task = BinarySequences(length=64, sequences=100)
    >>> tuple(task.batch(0, 20, seed=0).inputs.shape)
    (63, 20)
    """

    amplitude: float = 0.1
    """Information between neighbours, in nats."""
    exponent: float = 0.4
    length: int = 512
    """Symbols of a sequence; the first is not predicted."""
    sequences: int = 10_000
    """How many there are to train on; besides these 2,000 for validation and 2,000 for testing."""
    data_seed: int = 0
    """Of the sequences; the seed of a training only tells their order."""

    def __post_init__(self) -> None:
        check_count("binary", "length", self.length, least=2)
        check_count("binary", "sequences", self.sequences)
        check_count("binary", "data_seed", self.data_seed, least=0)
        check_positive("binary", "amplitude", self.amplitude)
        check_positive("binary", "exponent", self.exponent)
        PowerLawBinary(self.amplitude, self.exponent)  # refuses what no sequence can have

    @property
    def symbols(self) -> int:
        return 2

    @property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary("characters", ("0", "1"))

    @property
    def features(self) -> int:
        return self.symbols

    @property
    def classes(self) -> int:
        return 2

    @property
    def chance(self) -> float:
        return 1 / 2

    @property
    def baseline(self) -> float:
        """ln 2 - amplitude: the entropy of a symbol when the one before it is known."""
        return math.log(2) - self.amplitude

    @property
    def sizes(self) -> Mapping[Split, int]:
        """Sequences of each split."""
        return MappingProxyType({"train": self.sequences, "valid": HELD_OUT, "test": HELD_OUT})

    def batches(self, split: Split, size: int) -> int:
        return batches_of(self.sizes, size, split)

    def batch(
        self,
        index: int,
        size: int,
        *,
        seed: int,
        split: Split = "train",
        device: torch.device | str = "cpu",
    ) -> Batch:
        members, weights = passed(self.sizes, index, size, seed=seed, split=split)
        symbols = torch.from_numpy(drawn(self, split)[members].T.astype(np.int64)).to(device)
        return Batch(
            symbols[:-1],
            symbols[1:],
            torch.from_numpy(weights).to(device).expand(self.length - 1, size),
        )


@lru_cache(maxsize=len(SPLITS))
def drawn(task: BinarySequences, split: Split) -> NDArray[np.uint8]:
    """All sequences of a split (sequences, length); drawn once, and not to be written to."""
    number = task.sizes[split]
    source = PowerLawBinary(task.amplitude, task.exponent)
    sample = source.sample(number, task.length, seed=random_of(task.data_seed, split, 0))
    return sample.store.read(0, number * task.length).reshape(number, task.length)

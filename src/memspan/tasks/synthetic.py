"""Tasks on generated sequences: copy, denoise, adding and binary sequences with long-range dependence."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import ClassVar, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from memspan.models.vocabulary import Vocabulary
from memspan.sequences.sources import PowerLawBinary
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
    epoch_batch,
)

BLANK = 0
# Number of symbols to recall.
RECALLED = 10
# Number of different symbols, 1 to 8.
KINDS = 8
MARKER = 9


@dataclass(frozen=True, kw_only=True)
class RecallTask(Task):
    """Ten symbols within the first delay + 9 steps, a marker, then ten steps at which they are recalled.

    The marker is at step delay + 9, counted from 0; the length is delay + 20. The loss counts all steps, with blanks
    as targets up to the marker; the accuracy counts the ten recalled symbols.
    """

    recalled: ClassVar[int] = RECALLED

    # Kerg 2020, Tables 6 and 7, with the learning rate of erratum 13 and a cosine schedule: at a constant rate a
    # network that recalls 99 % can lose all of it within a few updates. Validations are small, so they cost a few
    # percent of the time, and frequent, because accuracy fluctuates strongly while the network learns.
    training_defaults: ClassVar[Settings] = {
        "cell": {"hidden": 128},
        "training": {"batch": 10, "updates": 14_000, "learning_rate": 1e-3, "schedule": "cosine"}
        | {"optimizer": "rmsprop", "clip_norm": 1.0}
        | {"validate_every": 250, "validation_batches": 2, "stop_accuracy": 0.9995},
    }

    delay: int = 100
    """Steps from the symbols to their recall, less about ten; for denoise, the steps over which they are scattered."""

    def __post_init__(self) -> None:
        self.check_count("delay")

    @property
    def length(self) -> int:
        """Steps of a sequence."""
        return self.delay + 2 * RECALLED

    @property
    def symbols(self) -> int:
        return KINDS + 2

    @property
    def classes(self) -> int:
        return KINDS + 1

    @property
    def chance(self) -> float:
        return 1 / KINDS

    @property
    def baseline(self) -> float:
        """10 ln 8 / (delay + 20): blanks up to the marker, then a guess among eight symbols."""
        return RECALLED * math.log(KINDS) / self.length

    def batch(self, index: int, size: int, *, seed: int, split: Split = "train", device: Device = "cpu") -> Batch:
        random = batch_random(seed, split, index)
        # Symbols are drawn before positions; the order of draws determines the random stream.
        symbols = random.integers(1, KINDS + 1, (RECALLED, size))
        inputs = np.full((self.length, size), BLANK)
        inputs[self.positions(size, random), np.arange(size)] = symbols
        inputs[-RECALLED - 1] = MARKER
        targets = np.full_like(inputs, BLANK)
        targets[-RECALLED:] = symbols
        return Batch.from_numpy(inputs, targets, device=device)

    @abstractmethod
    def positions(self, size: int, random: np.random.Generator) -> NDArray[np.int64]:
        """(10, size): the steps at which the symbols of each sequence appear, in order."""

    def measures(self, logits: Tensor, batch: Batch) -> dict[str, float]:
        correct = logits[-RECALLED:].argmax(2) == batch.targets[-RECALLED:]
        weights = batch.weights[-RECALLED:]
        return {"accuracy": float((correct * weights).sum() / weights.sum())}


@final
@dataclass(frozen=True, kw_only=True)
class Copy(RecallTask):
    """Ten symbols, a delay, a marker, then the ten symbols again.  Hochreiter and Schmidhuber 1997; Kerg 2020, 5.1.

        inputs   3 1 4 1 5 2 6 5 3 5 . . . (delay - 1 blanks) . . . # . . . . . . . . . .
        targets  . . . . . . . . . . . . .                    . . . . 3 1 4 1 5 2 6 5 3 5

    The marker is at step delay + 9, counted from 0; the length is delay + 20. The loss counts all steps, the accuracy
    the ten recalled symbols.

    >>> Copy(delay=3).batch(0, 1, seed=0).inputs[9:, 0].tolist()[1:]
    [0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    """

    facts = CATALOG["copy"]

    def positions(self, size: int, random: np.random.Generator) -> NDArray[np.int64]:
        del random  # always the first ten steps
        return np.broadcast_to(np.arange(RECALLED)[:, None], (RECALLED, size))


@final
@dataclass(frozen=True, kw_only=True)
class Denoise(RecallTask):
    """Ten symbols at random places, a marker, then the ten symbols.  Jing 2019; Kerg 2020, 5.1.

        inputs   . 3 . . 1 4 . 1 . (delay + 9 steps, ten of them symbols) . 5 . # . . . . . . . . . .
        targets  . . . . . . . . .                                        . . . . 3 1 4 1 5 2 6 5 3 5

    Places are drawn without replacement and keep the order of the symbols; the marker is at step delay + 9, counted
    from 0; the length is delay + 20. The loss counts all steps, the accuracy the ten recalled symbols. Symbols are
    numbered as in `Copy` with marker 9, which skips the number that Kerg's program never uses (its marker is 10).

    >>> Denoise(delay=1).batch(0, 1, seed=0).inputs[10:, 0].tolist()
    [9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    """

    facts = CATALOG["denoise"]

    def positions(self, size: int, random: np.random.Generator) -> NDArray[np.int64]:
        # The positions of the ten smallest of independent uniform numbers are a uniformly distributed subset.
        draws = random.random((size, self.delay + RECALLED - 1))
        return np.sort(np.argpartition(draws, RECALLED - 1, axis=1)[:, :RECALLED], axis=1).T


# An answer within this distance of the sum counts as correct, as in Hochreiter and Schmidhuber 1997.
CLOSE = 0.04


@final
@dataclass(frozen=True, kw_only=True)
class Adding(Task):
    """The sum of two marked numbers, one in each half.  Hochreiter and Schmidhuber 1997, section 5.4.

        values   0.61 0.12 0.93 0.47 … (length of them) … 0.25 0.58 0.06 0.81
        marks       0    1    0    0 …                  …    0    1    0    0
        target                                                         0.12 + 0.58

    Values are uniform on [0, 1). The loss is the squared error of the answer at the last step, the accuracy the share
    of answers within 0.04. Always answering 1 has loss 1/6 and accuracy 1 - 0.96^2 = 0.0784. If the second mark is at
    the last step, with probability 2 / length, that value requires no memory, which lowers the error by 1/12.

    >>> tuple(Adding(length=100).batch(0, 20, seed=0).inputs.shape)
    (100, 20, 2)
    """

    facts = CATALOG["adding"]
    training_defaults: ClassVar[Settings] = {
        "cell": {"hidden": 128},
        "training": ADAM | {"batch": 50, "updates": 10_000, "stop_accuracy": 0.99},
    }

    length: int = 100
    """Steps of a sequence."""

    def __post_init__(self) -> None:
        self.check_count("length", least=2)

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
        """1 - (1 - 0.04)^2: probability that the sum of two uniform numbers is within 0.04 of 1."""
        return 1 - (1 - CLOSE) ** 2

    @property
    def baseline(self) -> float:
        """1/6, the variance of the sum, minus 1/12, that of one number, if it is read last; a squared error."""
        return 1 / 6 - 1 / (12 * (self.length - self.length // 2))

    def batch(self, index: int, size: int, *, seed: int, split: Split = "train", device: Device = "cpu") -> Batch:
        random = batch_random(seed, split, index)
        inputs = np.zeros((self.length, size, 2), np.float32)
        inputs[:, :, 0] = random.random((self.length, size), np.float32)
        # One mark in each half, so the gap between them varies from 1 to length - 1.
        half, each = self.length // 2, np.arange(size)
        first, second = random.integers(0, half, size), random.integers(half, self.length, size)
        inputs[first, each, 1] = inputs[second, each, 1] = 1
        sums = inputs[first, each, 0] + inputs[second, each, 0]
        return Batch.from_numpy(inputs, sums[None], device=device)

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """Weighted mean squared error. `logits` are the answers (1, batch, 1)."""
        errors = (logits[:, :, 0] - batch.targets) ** 2
        return (errors * batch.weights).sum() / batch.weights.sum()

    def measures(self, logits: Tensor, batch: Batch) -> dict[str, float]:
        """`accuracy`: the share of answers within 0.04 of the sum."""
        correct = ((logits[:, :, 0] - batch.targets).abs() < CLOSE).to(batch.weights.dtype)
        return {"accuracy": float((correct * batch.weights).sum() / batch.weights.sum())}


# Sequences for validation, as in the paper, and the same number for testing.
HELD_OUT = 2_000


@final
@dataclass(frozen=True, kw_only=True)
class BinarySequences(Task):
    """Prediction of the next symbol if I(x_t; x_{t+d}) = amplitude d^-exponent at every lag.  Shen 2019, 4.2.1.

        inputs   0 1 1 0 1 1 1 … 0 0    symbols 0 to length - 2
        targets  1 1 0 1 1 1 0 … 0 1    symbols 1 to length - 1

    A fixed set of sequences is read in epochs, as in the paper: 10,000 for training and 2,000 for validation, with
    I(d) = 0.1 d^-0.4 nats. All steps count. Both symbols are equally frequent, so a guess is correct half of the time
    and costs ln 2; knowing only the previous symbol, which requires no memory, costs ln 2 - amplitude.

    >>> task = BinarySequences(length=64, sequences=100)
    >>> tuple(task.batch(0, 20, seed=0).inputs.shape)
    (63, 20)
    """

    facts = CATALOG["binary"]
    training_defaults: ClassVar[Settings] = {
        "cell": {"hidden": 32},
        "training": {"batch": 32, "updates": 10_000, "learning_rate": 1e-3, "validate_every": 250, "patience": 10}
        | {"optimizer": "rmsprop", "smoothing": 0.9, "clip_norm": 0.25},
    }

    amplitude: float = 0.1
    """Mutual information of adjacent symbols, in nats."""
    exponent: float = 0.4
    length: int = 512
    """Symbols of a sequence; the first is not predicted."""
    sequences: int = 10_000
    """Size of the training set; validation and test have 2,000 sequences each."""
    data_seed: int = 0
    """Seed of the sequences; the seed of a training run only determines their order."""

    def __post_init__(self) -> None:
        self.check_count("length", least=2)
        self.check_count("sequences")
        self.check_count("data_seed", least=0)
        self.check_positive("amplitude")
        self.check_positive("exponent")
        PowerLawBinary(self.amplitude, self.exponent)  # rejects a law that no binary sequence can have

    @property
    def symbols(self) -> int:
        return 2

    @property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary("characters", ("0", "1"))

    @property
    def classes(self) -> int:
        return 2

    @property
    def chance(self) -> float:
        return 1 / 2

    @property
    def baseline(self) -> float:
        """ln 2 - amplitude: the entropy of a symbol given the previous one."""
        return math.log(2) - self.amplitude

    @property
    def sizes(self) -> Mapping[Split, int]:
        """Number of sequences of each split."""
        return MappingProxyType({"train": self.sequences, "valid": HELD_OUT, "test": HELD_OUT})

    def batches(self, split: Split, size: int) -> int:
        return batches_per_epoch(self.sizes, size, split)

    def batch(self, index: int, size: int, *, seed: int, split: Split = "train", device: Device = "cpu") -> Batch:
        members, weights = epoch_batch(self.sizes, index, size, seed=seed, split=split)
        # The data are stored as bytes; embeddings need int64.
        symbols = torch.from_numpy(binary_data(self, split)[members].T.astype(np.int64)).to(device)
        weight = torch.from_numpy(weights).to(device)
        return Batch(symbols[:-1], symbols[1:], weight.expand(self.length - 1, size))


@lru_cache(maxsize=len(SPLITS))
def binary_data(task: BinarySequences, split: Split) -> NDArray[np.uint8]:
    """All sequences of a split, (sequences, length); drawn once, read-only."""
    number = task.sizes[split]
    source = PowerLawBinary(task.amplitude, task.exponent)
    sample = source.sample(number, task.length, seed=batch_random(task.data_seed, split, 0))
    return sample.store.read(0, number * task.length).reshape(number, task.length)

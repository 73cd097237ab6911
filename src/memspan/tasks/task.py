"""What must be remembered: batches as pure functions of an index, the loss, and how well it was remembered."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Literal, NamedTuple, Self

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from memspan.errors import InputError
from memspan.models.vocabulary import Vocabulary

Split = Literal["train", "valid", "test"]
SPLITS: tuple[Split, ...] = ("train", "valid", "test")


class Batch(NamedTuple):
    """Sequences side by side and what is to be answered at their last `scored` steps."""

    inputs: Tensor
    """(time, batch) int64: symbols; or (time, batch, features) float32"""
    targets: Tensor
    """(scored, batch): the right classes, int64, of the last `scored` steps; of a regression the right numbers, float32"""
    weights: Tensor
    """(scored, batch) float32: how much each counts in the loss"""
    resets: Tensor | None = None
    """(time, batch) bool: before which steps a sequence begins anew; None: before none but its first"""

    def columns(self, part: slice) -> Batch:
        """Some of the sequences: what one of several processes works on."""
        return Batch(*(None if tensor is None else tensor[:, part] for tensor in self))  # type: ignore[arg-type]


class Task(ABC):
    """A problem that cannot be solved without memory. A frozen dataclass, whose fields are its options.

    `batch` gives the same sequences for the same arguments, so that where a training stands is one integer. The splits
    have no sequence in common, or, where sequences are drawn at random, are drawn independently.
    """

    @property
    def symbolic(self) -> bool:
        """Whether it is symbols that are read, which can be told without the data."""
        return self.symbols is not None

    @property
    def vocabulary(self) -> Vocabulary | None:
        """What its symbols stand for, where a network that has learnt them can write texts."""
        return None

    @property
    def carried(self) -> bool:
        """Whether batch i + 1 goes on where batch i ended, so that the state is carried over."""
        return False

    @property
    @abstractmethod
    def symbols(self) -> int | None:
        """Kinds of input symbols; None where inputs are features."""

    @property
    @abstractmethod
    def features(self) -> int:
        """Width of the network's input: that of a one-hot code where inputs are symbols."""

    @property
    @abstractmethod
    def classes(self) -> int:
        """Outputs of the network."""

    @property
    @abstractmethod
    def chance(self) -> float:
        """The accuracy of guessing among what may be recalled."""

    @property
    @abstractmethod
    def baseline(self) -> float:
        """The loss, in nats, of the best answers that can be given without memory."""

    @abstractmethod
    def batch(
        self,
        index: int,
        size: int,
        *,
        seed: int,
        split: Split = "train",
        device: torch.device | str = "cpu",
    ) -> Batch:
        """Batch number `index` of `size` sequences."""

    def batches(self, split: Split, size: int) -> int | None:
        """Batches of `size` in one pass through a split; None where sequences are drawn without end.

        The weighted batches 0 to `batches` - 1 of `valid` and `test` count every sequence once.
        """
        del split, size
        return None

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of a result should know about the data."""
        return ()

    def resolved(self) -> Self:
        """The same task, with nothing left open that depends on the machine, such as which data there are."""
        return self

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """Mean cross-entropy in nats, weighted. `logits` are (scored, batch, classes)."""
        losses = functional.cross_entropy(logits.flatten(0, 1), batch.targets.flatten(), reduction="none")
        weights = batch.weights.flatten()
        return (losses * weights).sum() / weights.sum()

    def measures(self, logits: Tensor, batch: Batch) -> dict[str, float]:
        """How well it was remembered; `accuracy` is among them, or else what the task is judged by."""
        right = (logits.argmax(2) == batch.targets).to(batch.weights.dtype)
        return {"accuracy": float((right * batch.weights).sum() / batch.weights.sum())}


def random_of(seed: int, split: Split, index: int) -> np.random.Generator:
    """The random numbers of one batch, and of no other."""
    check_split(split)
    return np.random.default_rng([seed, SPLITS.index(split), index])


def check_split(split: str) -> None:
    """Refuse a word that is none of `train`, `valid`, `test`."""
    if split not in SPLITS:
        raise InputError(f"there is no split {split!r}; choose one of {', '.join(SPLITS)}")


def check_count(task: str, name: str, value: int, least: int = 1) -> None:
    """An option of a task that must be a whole number."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{task}: {name} is {value!r}; expected a whole number of {least} or more")


def check_positive(task: str, name: str, value: float) -> None:
    """An option of a task that must be a number above 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise InputError(f"{task}: {name} is {value!r}; expected a finite number above 0")

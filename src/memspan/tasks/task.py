"""The `Task` interface, and how batches are drawn from a finite data set.

Every batch is a pure function of its index, the seed and the split, so the position of a training run is one integer.
"""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, ClassVar, Literal, NamedTuple, Self, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from memspan.errors import InputError
from memspan.models.vocabulary import Vocabulary
from memspan.tasks.catalog import USER_DEFINED, TaskFacts

Split = Literal["train", "valid", "test"]
SPLITS: tuple[Split, ...] = ("train", "valid", "test")
Device = torch.device | str
Settings = Mapping[str, Mapping[str, Any]]
"""Sections of a training configuration."""
# Training settings that several tasks share.
ADAM: dict[str, Any] = {"optimizer": "adam", "learning_rate": 1e-3, "clip_norm": 1.0}


class Batch(NamedTuple):
    """A batch of sequences and the targets of their last `scored` steps."""

    inputs: Tensor
    """(time, batch) int64: symbols; or (time, batch, features) float32"""
    targets: Tensor
    """(scored, batch): the target classes, int64, of the last `scored` steps; for regression the target values,
    float32"""
    weights: Tensor
    """(scored, batch) float32: weight of each target in the loss"""
    resets: Tensor | None = None
    """(time, batch) bool: where the state is reset before the step; None: only before the first step"""

    @classmethod
    def from_numpy(
        cls,
        inputs: NDArray[Any],
        targets: NDArray[Any],
        weights: NDArray[np.float32] | None = None,
        resets: NDArray[np.bool_] | None = None,
        *,
        device: Device = "cpu",
    ) -> Batch:
        """Arrays as tensors on a device; weights default to 1."""

        def tensor(array: NDArray[Any]) -> Tensor:
            return torch.from_numpy(array).to(device)

        weights = np.ones(targets.shape, np.float32) if weights is None else weights
        return cls(tensor(inputs), tensor(targets), tensor(weights), None if resets is None else tensor(resets))

    def columns(self, part: slice) -> Batch:
        """A subset of the sequences, for example the share of one process."""
        return Batch(*(None if tensor is None else tensor[:, part] for tensor in self))  # type: ignore[arg-type]


class Task(ABC):
    """A problem that requires memory. Subclasses are frozen dataclasses whose fields are the task's options.

    `batch` returns the same sequences for the same arguments. The splits share no sequence or, where sequences are
    drawn at random, are drawn independently.
    """

    facts: ClassVar[TaskFacts] = USER_DEFINED
    """Name, description and units."""
    recalled: ClassVar[int] = 1
    """Number of answers at the end of a sequence that require memory. Diagnostics use the loss of these only, as in
    Kerg 2020, Fig. 2: earlier answers add gradients of their own to the states they are read from."""
    training_defaults: ClassVar[Settings] = {}
    """Settings of a training run that differ from the general defaults."""

    @classmethod
    def delay_option(cls) -> str | None:
        """The option that sets how far back the model must remember: `delay`, else `length`; None without either."""
        options = getattr(cls, "__dataclass_fields__", {})
        return next((name for name in ("delay", "length") if name in options), None)

    @property
    def delay_value(self) -> int | None:
        """The value of that option."""
        option = self.delay_option()
        return None if option is None else getattr(self, option)

    @property
    def required_memory(self) -> int | None:
        """How many steps back the answers depend on the input; None if unknown, as for natural text."""
        return self.delay_value

    @property
    def window(self) -> int | None:
        """Steps of a training sequence, where the task sets them."""
        return self.required_memory

    def with_delay(self, steps: int) -> Self:
        """The same task with another delay."""
        option = self.delay_option()
        if option is None:
            raise InputError(
                f"--delay {steps}: the task {self.facts.word} has no delay, its data determine the length of a "
                "sequence; omit --delay"
            )
        return dataclasses.replace(cast(Any, self), **{option: steps})

    @property
    def symbolic(self) -> bool:
        """Whether the inputs are symbols; known without loading the data."""
        return self.symbols is not None

    @property
    def vocabulary(self) -> Vocabulary | None:
        """The text of each symbol, if a trained model can generate text."""
        return None

    @property
    def stateful(self) -> bool:
        """Whether batch i + 1 continues batch i, so that the recurrent state is passed on."""
        return False

    @property
    @abstractmethod
    def symbols(self) -> int | None:
        """Number of input symbols; None if the inputs are features."""

    @property
    def features(self) -> int:
        """Input width of the network: that of a one-hot code if the inputs are symbols."""
        assert self.symbols is not None, f"{type(self).__name__} reads features and must define their number"
        return self.symbols

    @property
    @abstractmethod
    def classes(self) -> int:
        """Output width of the network."""

    @property
    @abstractmethod
    def chance(self) -> float:
        """Accuracy of guessing."""

    @property
    @abstractmethod
    def baseline(self) -> float:
        """Loss of the best memoryless answers, in nats."""

    @abstractmethod
    def batch(self, index: int, size: int, *, seed: int, split: Split = "train", device: Device = "cpu") -> Batch:
        """Batch number `index` of `size` sequences."""

    def batches(self, split: Split, size: int) -> int | None:
        """Number of batches in one epoch of a split; None if sequences are drawn without end.

        The weighted batches 0 to `batches` - 1 of `valid` and `test` count every sequence once.
        """
        del split, size
        return None

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks about the data that belong in a report."""
        return ()

    def resolved(self) -> Self:
        """The same task with every machine-dependent option, such as `data="auto"`, replaced by its value."""
        return self

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """Weighted mean cross-entropy in nats. `logits` are (scored, batch, classes)."""
        losses = functional.cross_entropy(logits.flatten(0, 1), batch.targets.flatten(), reduction="none")
        weights = batch.weights.flatten()
        return (losses * weights).sum() / weights.sum()

    def measures(self, logits: Tensor, batch: Batch) -> dict[str, float]:
        """Metrics besides the loss: `accuracy`, or nothing where the loss itself is the metric."""
        correct = (logits.argmax(2) == batch.targets).to(batch.weights.dtype)
        return {"accuracy": float((correct * batch.weights).sum() / batch.weights.sum())}

    def check_count(self, option: str, least: int = 1) -> None:
        """Reject an option that is not an integer of at least `least`."""
        value = getattr(self, option)
        # JSON and the command line can pass true or 2.5; bool is a subclass of int.
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise InputError(f"{self.facts.word}: {option} is {value!r}; expected a whole number of {least} or more")

    def check_positive(self, option: str) -> None:
        """Reject an option that is not a positive number."""
        value = getattr(self, option)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
            raise InputError(f"{self.facts.word}: {option} is {value!r}; expected a finite number above 0")


def check_split(split: str) -> None:
    """Reject an unknown split."""
    if split not in SPLITS:
        raise InputError(f"there is no split {split!r}; choose one of {', '.join(SPLITS)}")


def batch_random(seed: int, split: Split, index: int) -> np.random.Generator:
    """The random number generator of one batch."""
    check_split(split)
    return np.random.default_rng([seed, SPLITS.index(split), index])


def batches_per_epoch(sizes: Mapping[Split, int], size: int, split: Split) -> int:
    """Number of batches in one epoch.

    >>> sizes = {"train": 5, "test": 5}
    >>> batches_per_epoch(sizes, 3, "train"), batches_per_epoch(sizes, 3, "test")
    (1, 2)
    """
    check_split(split)
    total = sizes[split]
    if size < 1 or (split == "train" and size > total):
        raise InputError(f"a batch of {size:,} sequences; expected 1 to {total:,}, the size of the training set")
    # Training drops an incomplete last batch; evaluation must count every sequence.
    return total // size if split == "train" else -(-total // size)


class EpochBatch(NamedTuple):
    """The members of a data set that form one batch."""

    members: NDArray[np.int64]
    """(batch,): indices from 0"""
    weights: NDArray[np.float32]
    """(batch,): 1, or 0 for padding in the last batch of an epoch"""


def epoch_batch(sizes: Mapping[Split, int], index: int, size: int, *, seed: int, split: Split) -> EpochBatch:
    """Batch number `index` of endless epochs through a split of `sizes[split]` members.

    Each training epoch has its own order and drops the remainder that does not fill a batch. Other splits are read in
    order; their last batch is padded from the start of the set with weight 0, so the weighted batches of one epoch
    count every member exactly once.

    >>> epoch_batch({"test": 5}, 1, 3, seed=0, split="test")
    EpochBatch(members=array([3, 4, 0]), weights=array([1., 1., 0.], dtype=float32))
    """
    epoch, position = divmod(index, batches_per_epoch(sizes, size, split))
    total = sizes[split]
    if split == "train":
        members = _epoch_order(total, seed, epoch)[position * size : (position + 1) * size]
        return EpochBatch(members, np.ones(size, np.float32))
    # Padding keeps all batches the same shape.
    places = np.arange(position * size, (position + 1) * size)
    return EpochBatch(places % total, (places < total).astype(np.float32))


@lru_cache(maxsize=4)
def _epoch_order(total: int, seed: int, epoch: int) -> NDArray[np.int64]:
    """The order of a training epoch; read-only."""
    # Batches use stream numbers 0 to 2, one per split; 3 keeps this stream apart from all of them.
    order = np.random.default_rng([seed, len(SPLITS), epoch]).permutation(total)
    order.setflags(write=False)
    return order

"""The test sequences that a network is diagnosed on, and losses of their last answers."""

from __future__ import annotations

import copy

import numpy as np
import torch
from torch import Tensor

from memspan.errors import InputError
from memspan.models.model import CellModel
from memspan.tasks import Batch, Task


def diagnostic_batch(network: CellModel, task: Task, sequences: int, seed: int) -> Batch:
    """Sequences of the test split, with the precision and on the device of the network.

    Padding of a last batch and windows that extend beyond the end of a text are left out.
    """
    if sequences < 1:
        raise InputError(f"{sequences} sequences; expected 1 or more, such as 20")
    weight = network.head.weight
    batch = task.batch(0, sequences, seed=seed, split="test", device=weight.device)
    # A text may end within a window; such a sequence would be shorter than the others.
    counted = (batch.weights > 0).all(0)
    if not counted.any():
        raise InputError(
            f"the test text is shorter than one window of {len(batch.inputs):,} symbols; use a smaller --delay"
        )
    inputs, targets = (
        part.to(weight.dtype) if part.is_floating_point() else part for part in (batch.inputs, batch.targets)
    )
    return Batch(inputs[:, counted], targets[:, counted], batch.weights[:, counted].to(weight.dtype))


def with_changed_targets(batch: Batch, answers: int, seed: int) -> Batch:
    """The same sequences with each of the last `answers` targets replaced by a different one that occurs in the batch.

    Everything that a network recalls correctly then counts as wrong.
    """
    kinds, which = batch.targets[-answers:].unique(return_inverse=True)
    if len(kinds) < 2:
        raise InputError("all targets of these sequences are equal, so none can be changed; use more --sequences")
    # An offset of at least 1 among the occurring targets never gives the original one.
    offset = np.random.default_rng(seed).integers(1, len(kinds), tuple(which.shape))
    targets = batch.targets.clone()
    targets[-answers:] = kinds[(which + torch.from_numpy(offset).to(which.device)) % len(kinds)]
    return batch._replace(targets=targets)


def last_answers(batch: Batch, answers: int) -> Batch:
    """The same sequences with only the last `answers` targets, all of weight 1."""
    weights = torch.ones_like(batch.weights[-answers:])
    return Batch(batch.inputs, batch.targets[-answers:], weights)


def summed_loss(logits: Tensor, batch: Batch, task: Task, answers: int | None) -> Tensor:
    """The sum over sequences of each one's loss: a weighted mean over its last `answers` answers, all if None.

    A sum, so that the gradient of one sequence does not depend on the number of others.
    """
    part = batch if answers is None else last_answers(batch, answers)
    logits = logits[len(logits) - len(part.targets) :]
    weights = part.weights / part.weights.sum(0)
    return task.loss(logits, part._replace(weights=weights)) * weights.shape[1]


def double_precision(network: CellModel) -> CellModel:
    """A copy in double precision if the device supports it: gradients may fall below the smallest float32, 1e-45."""
    if network.head.weight.device.type == "mps":
        return network
    return copy.deepcopy(network).double()

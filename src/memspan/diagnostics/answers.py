"""The sequences that a network is diagnosed on, and which of its answers take memory."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from memspan.errors import InputError
from memspan.models.cell_model import CellModel
from memspan.tasks import Batch, Task
from memspan.tasks.recall_task import RECALLED, RecallTask


def recalled_answers(task: Task) -> int:
    """How many of the last answers are judged: the ten recalled symbols of copy and denoise, else the last answer.

    Kerg 2020 draws Fig. 2, left, for the loss of the last ten outputs. Answers before would hide how far gradients come:
    each adds a gradient of its own to the state that it was read from.
    """
    return RECALLED if isinstance(task, RecallTask) else 1


def drawn(network: CellModel, task: Task, sequences: int, seed: int) -> Batch:
    """Sequences of the test split, in the precision and on the device of the network; fillers of a last batch and windows
    that a text ends in are left out."""
    if sequences < 1:
        raise InputError(f"{sequences} sequences; expected 1 or more, such as 20")
    weight = network.head.weight
    batch = task.batch(0, sequences, seed=seed, split="test", device=weight.device)
    counted = (batch.weights > 0).all(0)
    if not counted.any():
        raise InputError(
            f"the test text is shorter than one window of {len(batch.inputs):,} symbols; give a smaller --delay"
        )
    inputs, targets = (
        part.to(weight.dtype) if part.is_floating_point() else part for part in (batch.inputs, batch.targets)
    )
    return Batch(inputs[:, counted], targets[:, counted], batch.weights[:, counted].to(weight.dtype))


def with_others_wanted(batch: Batch, answers: int, seed: int) -> Batch:
    """The same sequences, where each of the last `answers` answers ought to be another one, of those that occur.

    What a network has learnt to recall is then wrong, every time.
    """
    kinds, which = batch.targets[-answers:].unique(return_inverse=True)
    if len(kinds) < 2:
        raise InputError(
            "all answers of these sequences are the same, so that no other can be wanted; give more --sequences"
        )
    farther = np.random.default_rng(seed).integers(1, len(kinds), tuple(which.shape))
    targets = batch.targets.clone()
    targets[-answers:] = kinds[(which + torch.from_numpy(farther).to(which.device)) % len(kinds)]
    return batch._replace(targets=targets)


def own_losses(network_logits: Tensor, batch: Batch, task: Task, answers: int | None) -> Tensor:
    """The sum over sequences of each one's own loss: a weighted mean over its last `answers` answers, all if None.

    Every sequence counts alike, so that its gradient does not depend on how many others there are.
    """
    part = batch if answers is None else last_answers(batch, answers)
    logits = network_logits[len(network_logits) - len(part.targets) :]
    weights = part.weights / part.weights.sum(0)
    return task.loss(logits, part._replace(weights=weights)) * weights.shape[1]


def last_answers(batch: Batch, answers: int) -> Batch:
    """The same sequences, judged by their last `answers` answers, of which each counts alike."""
    weights = torch.ones_like(batch.weights[-answers:])
    return Batch(batch.inputs, batch.targets[-answers:], weights)


@contextlib.contextmanager
def at_rest(network: CellModel) -> Iterator[None]:
    """Inside, nothing is dropped out; afterwards the network is as it was."""
    was_training = network.training
    network.eval()
    try:
        yield
    finally:
        network.train(was_training)


def in_double(network: CellModel) -> CellModel:
    """A copy in double precision where the device has it: gradients that fall by 1e-45 and more are still numbers."""
    if network.head.weight.device.type == "mps":
        return network
    return copy.deepcopy(network).double()

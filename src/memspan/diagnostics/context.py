"""Context loss: the loss of the answers as a function of the context length."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from memspan.cells.base.layer import TiedOrUntiedLayer
from memspan.diagnostics.batches import diagnostic_batch, last_answers
from memspan.models.model import CellModel
from memspan.progress import SILENT, Progress
from memspan.results import ContextLoss
from memspan.sampling.streams import evaluation_mode
from memspan.tasks import Batch, Task

# Context lengths per factor of two.
PER_DOUBLING = 2


def has_context(network: CellModel) -> bool:
    """Whether the network can start at any step. With untied weights it can start only at the first."""
    return not any(isinstance(layer, TiedOrUntiedLayer) and layer.steps for layer in network.cell.stack)


def context_loss(
    network: CellModel, task: Task, *, sequences: int = 20, seed: int = 0, progress: Progress = SILENT
) -> ContextLoss:
    """Mean loss of the recalled answers when the network starts with an empty state k steps before the first of them.

    The loss stops falling at the context length that the network uses.
    """
    batch = diagnostic_batch(network, task, sequences, seed)
    answers = task.recalled
    before = len(batch.inputs) - answers
    contexts = context_lengths(before)
    scored = last_answers(batch, answers)
    losses = []
    with progress.stage("contexts", len(contexts)) as stage, evaluation_mode(network):
        for context in contexts:
            logits = network(batch.inputs[before - context :], scored=answers).logits
            losses.append(_sequence_losses(logits, scored, task))
            stage.advance()
    return summarize_contexts(contexts, torch.stack(losses), answers)


def summarize_contexts(contexts: np.ndarray, losses: Tensor, answers: int) -> ContextLoss:
    """Means and standard errors of losses (contexts, sequences)."""
    table = losses.double().cpu().numpy()
    count = table.shape[1]
    spread = table.std(1, ddof=1) if count > 1 else np.full(len(table), np.nan)
    return ContextLoss(answers, count, contexts, table.mean(1), spread / np.sqrt(count))


def context_lengths(steps: int) -> np.ndarray:
    """0, 1, then in factors of the square root of 2 up to `steps`.

    >>> context_lengths(30).tolist()
    [0, 1, 2, 3, 4, 6, 8, 11, 16, 23, 30]
    """
    number = max(1, int(PER_DOUBLING * np.log2(max(steps, 1))))
    grown = np.round(2 ** (np.arange(number + 1) / PER_DOUBLING)).astype(np.int64)
    return np.unique([0, *grown[grown < steps], steps]).astype(np.int64)


def _sequence_losses(logits: Tensor, batch: Batch, task: Task) -> Tensor:
    """The loss of every sequence (batch,)."""
    # The loss of a task is a mean over a batch, so each sequence is a batch of its own.
    columns = [slice(b, b + 1) for b in range(batch.targets.shape[1])]
    return torch.stack([task.loss(logits[:, column], batch.columns(column)) for column in columns])

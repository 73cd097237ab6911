"""The loss of the answers when only the last k steps before them were read."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from memspan.cells.base.layer import TiedOrUntiedLayer
from memspan.diagnostics.answers import at_rest, drawn, last_answers, recalled_answers
from memspan.models.cell_model import CellModel
from memspan.progress import SILENT, Progress
from memspan.results import ContextLoss
from memspan.tasks import Batch, Task

PER_DOUBLING = 2


def has_context(network: CellModel) -> bool:
    """Whether the network can begin anywhere: with fresh weights at every step it can begin at the first one only."""
    return not any(isinstance(layer, TiedOrUntiedLayer) and layer.steps for layer in network.cell.stack)


def context_loss(
    network: CellModel, task: Task, *, sequences: int = 20, seed: int = 0, progress: Progress = SILENT
) -> ContextLoss:
    """Mean loss of the recalled answers, begun k steps before the first of them with an empty state.

    How far back a network uses its past: further steps no longer lower the loss.
    """
    batch = drawn(network, task, sequences, seed)
    answers = recalled_answers(task)
    before = len(batch.inputs) - answers
    contexts = contexts_of(before)
    judged = last_answers(batch, answers)
    losses = []
    with progress.stage("contexts", len(contexts)) as stage, at_rest(network), torch.no_grad():
        for context in contexts:
            logits = network(batch.inputs[before - context :], scored=answers).logits
            losses.append(_each(logits, judged, task))
            stage.advance()
    return by_context(contexts, torch.stack(losses), answers)


def by_context(contexts: np.ndarray, losses: Tensor, answers: int) -> ContextLoss:
    """Losses (contexts, sequences) as means and standard errors."""
    table = losses.double().cpu().numpy()
    count = table.shape[1]
    spread = table.std(1, ddof=1) if count > 1 else np.full(len(table), np.nan)
    return ContextLoss(answers, count, contexts, table.mean(1), spread / np.sqrt(count))


def contexts_of(steps: int) -> np.ndarray:
    """0, 1, and then by the square root of 2 up to all the steps that there are.

    >>> contexts_of(30).tolist()
    [0, 1, 2, 3, 4, 6, 8, 11, 16, 23, 30]
    """
    number = max(1, int(PER_DOUBLING * np.log2(max(steps, 1))))
    grown = np.round(2 ** (np.arange(number + 1) / PER_DOUBLING)).astype(np.int64)
    return np.unique([0, *grown[grown < steps], steps]).astype(np.int64)


def _each(logits: Tensor, batch: Batch, task: Task) -> Tensor:
    """The loss of every sequence by itself (batch,)."""
    each = [slice(b, b + 1) for b in range(batch.targets.shape[1])]
    return torch.stack([task.loss(logits[:, one], batch.columns(one)) for one in each])

"""Gradient norms ||dL/dh_t||: how much of the loss gradient reaches past states."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import torch
from torch import Tensor

from memspan.diagnostics.batches import diagnostic_batch, double_precision, summed_loss, with_changed_targets
from memspan.errors import InputError, suggestion
from memspan.models.model import CellModel
from memspan.progress import SILENT, Progress
from memspan.results import GradientNorms
from memspan.sampling.streams import evaluation_mode
from memspan.tasks import Batch, Task

Loss = Literal["recalled", "whole", "changed"]
# Hidden values (time x sequences x hidden) differentiated at once.
MAX_STATES = 4_000_000
_QUANTILES = (0.1, 0.9)


def gradient_norms(
    network: CellModel,
    task: Task,
    *,
    sequences: int = 20,
    loss: Loss = "recalled",
    seed: int = 0,
    double: bool = True,
    progress: Progress = SILENT,
) -> GradientNorms:
    """||dL/dh_t|| of the last layer, t = 1 … T, averaged over test sequences, each with its own loss L.

    Kerg 2020, Fig. 2, left. The gradient is the total one, through every path from h_t to the loss. `loss` counts the
    recalled answers, the whole sequence, or, with `changed`, the recalled answers against different targets: a network
    that recalls nearly everything has a gradient in few sequences only, and changed targets give it one in all.
    Dropout is off. Single precision (`double=False`) takes a third of the time, but gradients below 1e-38 are lost.
    """
    if loss not in get_args(Loss):
        raise InputError(f"there is no loss {loss!r}; {suggestion(loss, get_args(Loss))}")
    exact = double_precision(network) if double else network
    batch = diagnostic_batch(exact, task, sequences, seed)
    answers = None if loss == "whole" else task.recalled
    if loss == "changed":
        batch = with_changed_targets(batch, task.recalled, seed)
    steps, count = batch.inputs.shape[:2]
    together = max(1, MAX_STATES // (steps * exact.cell.hidden_size))
    norms = []
    with progress.stage("gradients", count) as stage, evaluation_mode(exact, gradients=True):
        for begin in range(0, count, together):
            part = batch.columns(slice(begin, begin + together))
            norms.append(_total_gradients(exact, task, part, answers).norm(dim=2))
            stage.advance(part.inputs.shape[1])
    scored = len(batch.targets) if answers is None else answers
    return summarize_norms(torch.cat(norms, 1), loss=loss, answers=scored)


def summarize_norms(norms: Tensor, *, loss: Loss, answers: int, of: str = "h") -> GradientNorms:
    """Statistics of norms (time, sequences) by the number of steps before the last."""
    # Index 0 is the last step, so the index is the number of steps back.
    backward = norms.flip(0).double().cpu().numpy()
    low, high = np.quantile(backward, _QUANTILES, axis=1)
    return GradientNorms(
        loss=loss,
        answers=answers,
        sequences=backward.shape[1],
        distances=np.arange(len(backward)),
        mean=backward.mean(1),
        low=low,
        high=high,
        rms=np.sqrt(np.square(backward).mean(1)),
        of=of,
    )


def _total_gradients(network: CellModel, task: Task, batch: Batch, answers: int | None) -> Tensor:
    """dL_b/dh_t (time, batch, hidden), L_b the loss of sequence b: the gradient of a zero probe added to every h_t."""
    like = network.head.weight
    # The probe enters the recurrence itself, so its gradient covers every later step.
    shape = (*batch.inputs.shape[:2], network.cell.hidden_size)
    probe = torch.zeros(shape, device=like.device, dtype=like.dtype, requires_grad=True)
    logits = network(batch.inputs, probe=probe, scored=len(batch.targets)).logits
    return torch.autograd.grad(summed_loss(logits, batch, task, answers), probe)[0]

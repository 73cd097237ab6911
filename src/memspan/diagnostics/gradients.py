"""||dL/dh_t||: how much of the loss's gradient arrives at a state of long ago."""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch
from torch import Tensor

from memspan.diagnostics.answers import (
    at_rest,
    drawn,
    in_double,
    own_losses,
    recalled_answers,
    with_others_wanted,
)
from memspan.errors import InputError, suggestion
from memspan.models.cell_model import CellModel
from memspan.progress import SILENT, Progress
from memspan.results import GradientNorms
from memspan.tasks import Batch, Task

Loss = Literal["recalled", "whole", "changed"]
LOSSES: tuple[Loss, ...] = ("recalled", "whole", "changed")
TOGETHER = 4_000_000
"""Numbers of hidden states (time x sequences x hidden) that are differentiated at once."""
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
    """||dL/dh_t|| of the last layer, t = 1 … T, as a mean over test sequences, each with a loss L of its own.

    Kerg 2020, Fig. 2, left. The gradient is the total one, through every path from h_t to the loss; `loss` is that of the
    answers that are recalled, or the whole, or `changed`: that of the recalled ones if each ought to be another. A network
    that knows nearly all of them has a gradient in few sequences; if all are wrong, each tells how far gradients reach.
    Dropout is off. Without `double` precision it takes a third of the time, and what falls below 1e-38 is gone.
    """
    if loss not in LOSSES:
        raise InputError(f"there is no loss {loss!r}; {suggestion(loss, LOSSES)}")
    exact = in_double(network) if double else network
    batch = drawn(exact, task, sequences, seed)
    answers = None if loss == "whole" else recalled_answers(task)
    if loss == "changed":
        batch = with_others_wanted(batch, recalled_answers(task), seed)
    steps, count = batch.inputs.shape[:2]
    together = max(1, TOGETHER // (steps * exact.cell.hidden_size))
    norms = []
    with progress.stage("gradients", count) as stage, at_rest(exact):
        for begin in range(0, count, together):
            part = batch.columns(slice(begin, begin + together))
            norms.append(total_gradients(exact, task, part, answers).norm(dim=2))
            stage.advance(part.inputs.shape[1])
    return summed_up(
        torch.cat(norms, 1), loss=loss, answers=len(batch.targets) if answers is None else answers
    )


def summed_up(norms: Tensor, *, loss: Loss, answers: int, of: str = "h") -> GradientNorms:
    """Norms (time, sequences) against the distance from the last step."""
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


def total_gradients(network: CellModel, task: Task, batch: Batch, answers: int | None) -> Tensor:
    """dL_b/dh_t (time, batch, hidden), L_b the loss of sequence b: the gradient of a probe of zeros added to every h_t."""
    like = network.head.weight
    shape = (*batch.inputs.shape[:2], network.cell.hidden_size)
    probe = torch.zeros(shape, device=like.device, dtype=like.dtype, requires_grad=True)
    logits = network(batch.inputs, probe=probe, scored=len(batch.targets)).logits
    return torch.autograd.grad(own_losses(logits, batch, task, answers), probe)[0]

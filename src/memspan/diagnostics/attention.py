"""What a network looks at, and what it holds to look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from memspan.cells.attentive.relevance import RelevanceLayer
from memspan.cells.attentive.relevance_memory import EMPTY, Screening
from memspan.cells.base.layer import Layer
from memspan.diagnostics.answers import at_rest, drawn, recalled_answers
from memspan.diagnostics.blocks import block_size, in_blocks
from memspan.models.cell_model import CellModel
from memspan.progress import SILENT, Progress
from memspan.results import AttentionMap, RelevantSet
from memspan.tasks import Task

TOGETHER = 8_000_000
"""Attention weights (time x sequences x source) that are computed at once."""


@final
@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums over sequences."""

    attention: NDArray[np.float64]
    """(time, source)"""
    held: NDArray[np.float64]
    """(time, source): in the relevant set when the step looked; zero where there is no such set."""
    of_answers: NDArray[np.float64]
    """Means over the answers: exp of the entropy, steps back weighted by attention, attention on the relevant set."""

    def __add__(self, other: _Sums) -> _Sums:
        return _Sums(
            self.attention + other.attention, self.held + other.held, self.of_answers + other.of_answers
        )


def has_attention(network: CellModel) -> bool:
    """Whether the last layer looks back at states of its own."""
    return type(network.cell.stack[-1]).attention is not Layer.attention


def attention_map(
    network: CellModel, task: Task, *, sequences: int = 20, seed: int = 0, progress: Progress = SILENT
) -> tuple[AttentionMap, RelevantSet | None]:
    """alpha(t, i), the attention of step t on state i, as a mean over test sequences; and who is in the relevant set.

    Kerg 2020, Fig. 1 and 7 to 11. Cells without attention are refused; those without relevancy screening have no set.
    """
    batch = drawn(network, task, sequences, seed)
    steps, count = batch.inputs.shape[:2]
    answers, block = recalled_answers(task), block_size(steps)
    together = max(1, TOGETHER // steps**2)
    screening = screening_of(network)
    square = np.zeros((steps, steps))
    total = _Sums(square, square, np.zeros(3))
    with progress.stage("attention", count) as stage, at_rest(network), torch.no_grad():
        for begin in range(0, count, together):
            inputs = network.encode(batch.inputs[:, begin : begin + together])
            total += _sums(network.cell.attention(inputs), screening, answers)
            stage.advance(inputs.shape[1])
    states, distance, share = (total.of_answers / count).tolist()
    seen = AttentionMap(steps, block, count, in_blocks(total.attention / count, block), states, distance)
    if screening is None:
        return seen, None
    held = in_blocks(total.held / count, block)
    return seen, RelevantSet(steps, block, count, screening.short_term, screening.relevant, held, share)


def screening_of(network: CellModel) -> Screening | None:
    """nu and rho of the last layer, where it has them."""
    layer = network.cell.stack[-1]
    return layer.screening if isinstance(layer, RelevanceLayer) else None


def relevant_states(attention: Tensor, screening: Screening) -> Tensor:
    """Which states are in the relevant set when each step looks: (time, batch, source), bool.

    The cell's own bookkeeping, done again with the attention (time, batch, source) that it gave from an empty memory on.
    """
    steps, batch, sources = attention.shape
    slots = torch.zeros(batch, screening.held, dtype=torch.int32, device=attention.device)
    scores = attention.new_full((batch, screening.held), EMPTY)
    # One column more, where empty slots point: nothing is held there.
    weights = torch.cat([attention, attention.new_zeros(steps, batch, 1)], 2)
    held = torch.zeros_like(weights, dtype=torch.bool)
    for t in range(steps):
        source = torch.where(slots == 0, sources, slots.long() - screening.first)
        held[t].scatter_(1, source[:, screening.short_term :], True)
        screening.store(t, weights[t].gather(1, source), slots, scores)
    return held[:, :, :sources]


def _sums(attention: Tensor, screening: Screening | None, answers: int) -> _Sums:
    """Of some of the sequences."""
    if screening is None:
        held = torch.zeros_like(attention, dtype=torch.bool)
    else:
        held = relevant_states(attention, screening)
    last = attention[-answers:].double()
    entropy = -torch.special.xlogy(last, last).sum(2)
    times = torch.arange(len(attention), device=last.device)
    back = times[-answers:, None, None] - times
    of_answers = (entropy.exp(), (last * back).sum(2), (last * held[-answers:]).sum(2))
    return _Sums(
        attention.double().sum(1).cpu().numpy(),
        held.double().sum(1).cpu().numpy(),
        np.array([float(part.mean(0).sum()) for part in of_answers]),
    )

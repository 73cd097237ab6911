"""Attention maps: which past states a network attends to, and which states relevancy screening stores."""

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
from memspan.diagnostics.batches import diagnostic_batch
from memspan.models.model import CellModel
from memspan.progress import SILENT, Progress
from memspan.results import AttentionMap, RelevantSet
from memspan.sampling.streams import evaluation_mode
from memspan.tasks import Task

# Attention weights (time x sequences x source) computed at once.
MAX_WEIGHTS = 8_000_000
# Rows and columns of a stored map.
MAX_BLOCKS = 200
_DECIMALS = 6


def has_attention(network: CellModel) -> bool:
    """Whether the last layer attends to its past states."""
    return type(network.cell.stack[-1]).attention is not Layer.attention


def attention_map(
    network: CellModel, task: Task, *, sequences: int = 20, seed: int = 0, progress: Progress = SILENT
) -> tuple[AttentionMap, RelevantSet | None]:
    """alpha(t, i), the attention of step t to state i, averaged over test sequences; and the relevant set.

    Kerg 2020, Fig. 1 and 7 to 11. Raises for cells without attention; the set is None without relevancy screening.
    """
    batch = diagnostic_batch(network, task, sequences, seed)
    steps, count = batch.inputs.shape[:2]
    block = block_size(steps)
    # Attention is quadratic in time, so long sequences are processed a few at a time.
    together = max(1, MAX_WEIGHTS // steps**2)
    screening = screening_of(network)
    square = np.zeros((steps, steps))
    total = _AttentionSums(square, square, np.zeros(3))
    with progress.stage("attention", count) as stage, evaluation_mode(network):
        for begin in range(0, count, together):
            inputs = network.encode(batch.inputs[:, begin : begin + together])
            total += _attention_sums(network.cell.attention(inputs), screening, task.recalled)
            stage.advance(inputs.shape[1])
    states, distance, share = (total.of_answers / count).tolist()
    mean = AttentionMap(steps, block, count, in_blocks(total.attention / count, block), states, distance)
    if screening is None:
        return mean, None
    held = in_blocks(total.held / count, block)
    return mean, RelevantSet(steps, block, count, screening.short_term, screening.relevant, held, share)


def screening_of(network: CellModel) -> Screening | None:
    """The relevancy screening (nu and rho) of the last layer, if it has one."""
    layer = network.cell.stack[-1]
    return layer.screening if isinstance(layer, RelevanceLayer) else None


@final
@dataclass(frozen=True, eq=False)
class _AttentionSums:
    """Sums over sequences."""

    attention: NDArray[np.float64]
    """(time, source)"""
    held: NDArray[np.float64]
    """(time, source): membership in the relevant set at each step; zero without such a set."""
    of_answers: NDArray[np.float64]
    """Means over the answers: exp of the entropy, steps back weighted by attention, attention to the relevant set."""

    def __add__(self, other: _AttentionSums) -> _AttentionSums:
        return _AttentionSums(
            self.attention + other.attention, self.held + other.held, self.of_answers + other.of_answers
        )


def _attention_sums(attention: Tensor, screening: Screening | None, answers: int) -> _AttentionSums:
    if screening is None:
        held = torch.zeros_like(attention, dtype=torch.bool)
    else:
        held = relevant_states(attention, screening)
    last = attention[-answers:].double()
    # xlogy is 0 at 0, where x * log(x) would be NaN.
    entropy = -torch.special.xlogy(last, last).sum(2)
    times = torch.arange(len(attention), device=last.device)
    back = times[-answers:, None, None] - times
    of_answers = (entropy.exp(), (last * back).sum(2), (last * held[-answers:]).sum(2))
    return _AttentionSums(
        attention.double().sum(1).cpu().numpy(),
        held.double().sum(1).cpu().numpy(),
        np.array([float(part.mean(0).sum()) for part in of_answers]),
    )


def relevant_states(attention: Tensor, screening: Screening) -> Tensor:
    """Which states are in the relevant set at each step: (time, batch, source), bool.

    Repeats the cell's own bookkeeping with its attention (time, batch, source), starting from an empty memory.
    """
    steps, batch, sources = attention.shape
    slots = torch.zeros(batch, screening.held, dtype=torch.int32, device=attention.device)
    scores = attention.new_full((batch, screening.held), EMPTY)
    # Empty slots point to an extra column, which is dropped at the end.
    weights = torch.cat([attention, attention.new_zeros(steps, batch, 1)], 2)
    held = torch.zeros_like(weights, dtype=torch.bool)
    for t in range(steps):
        source = torch.where(slots == 0, sources, slots.long() - screening.first)
        held[t].scatter_(1, source[:, screening.short_term :], True)
        screening.store(t, weights[t].gather(1, source), slots, scores)
    return held[:, :, :sources]


def block_size(steps: int, most: int = MAX_BLOCKS) -> int:
    """Steps of a block for at most `most` blocks.

    >>> block_size(120), block_size(420), block_size(2020)
    (1, 3, 11)
    """
    return -(-steps // most)


def in_blocks(square: NDArray[np.float64], block: int) -> NDArray[np.float64]:
    """Means over the rows of a block and sums over its columns, so that rows still sum to one.

    >>> in_blocks(np.array([[0.0, 1.0, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]), 2)
    array([[1., 0.],
           [0., 1.]])
    """
    edges = np.arange(0, len(square), block)
    sizes = np.minimum(edges + block, len(square)) - edges
    rows: NDArray[np.float64] = np.add.reduceat(square, edges, axis=0) / sizes[:, None]
    columns: NDArray[np.float64] = np.add.reduceat(rows, edges, axis=1)
    return columns.round(_DECIMALS)

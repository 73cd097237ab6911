"""What a model makes of segments: a vector for each, and how likely one is after another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor, nn
from torch.nn import functional

from memspan.objectives.segments import Padded


@runtime_checkable
class Reader(Protocol):
    """What segments can be read by: any causal model that gives its states and answers from them."""

    def outputs(self, inputs: Tensor, /) -> tuple[list[Tensor], Any]:
        """What each layer makes of symbols (time, batch): (time, batch, width), the last layer's last; and anything."""
        ...

    def answered(self, hidden: Tensor, /) -> Tensor:
        """Logits (…, symbols) of states (…, width) of the last layer."""
        ...

    def parameters(self) -> Iterator[nn.Parameter]:
        """What is learnt."""
        ...


def pooled(model: Reader, segments: Padded, *, padding: bool = False) -> Tensor:
    """phi (batch, widths): of every layer the largest value of each unit over a segment, read from nothing.

    Cao and Xu 2020, section 5. `padding` also pools over what stands behind a segment's end, as the authors' program does.
    """
    outputs, _ = model.outputs(segments.symbols)
    hidden = torch.cat(outputs, dim=-1)
    if not padding:
        hidden = hidden.masked_fill(~segments.mask.unsqueeze(-1), -torch.inf)
    return hidden.amax(dim=0)


def width(model: Reader, segments: Padded) -> int:
    """Numbers of a pooled vector."""
    with torch.no_grad():
        return pooled(model, segments.columns(slice(0, 1))).shape[1]


def log_likelihoods(model: Reader, first: Padded, second: Padded) -> Tensor:
    """log Q(Y | X) / |Y| (batch,): the mean log-probability of a symbol of the second segment, right after the first.

    Both are read in one go, and only answers that count are computed.
    """
    both = first.followed_by(second)
    (*_, hidden), _ = model.outputs(both.symbols[:-1])
    times = torch.arange(1, len(both.symbols), device=hidden.device).unsqueeze(1)
    asked = (times >= first.lengths) & (times < both.lengths)
    answers = both.symbols[1:][asked]
    found = functional.cross_entropy(model.answered(hidden[asked]).float(), answers, reduction="none")
    of_column = asked.nonzero()[:, 1]
    sums = found.new_zeros(len(first.lengths)).index_add(0, of_column, found)
    return -sums / second.lengths

"""Which steps a step may look at: itself and those before it, back to the last reset of its sequence.

Sources are numbered along time, those that a state remembers first; step t of T is source S - T + t of S.
"""

from __future__ import annotations

import torch
from torch import Tensor


def steps_since_reset(count: Tensor, steps: int, resets: Tensor | None) -> Tensor:
    """(time, batch): the place of every step in its sequence, of which `count` (batch) steps came before this call."""
    now = torch.arange(steps, device=count.device).unsqueeze(1)
    if resets is None:
        return now + count
    begun = torch.where(resets, now, -count).cummax(dim=0).values
    return now - begun


def visible(position: Tensor, sources: int) -> Tensor:
    """(batch, time, source): true for a step itself and for the `position` (time, batch) sources before it."""
    own = _own_source(position, sources)
    source = torch.arange(sources, device=position.device)
    return (source <= own) & (source >= own - position.T.unsqueeze(-1))


@torch.no_grad()
def no_numbers(*vectors: Tensor) -> Tensor | None:
    """(batch, source): where any of the vectors (batch, source, size) has what is no number; None: nowhere.

    A sum tells that there is nothing in a tenth of the time that looking at every number takes; if it is too large for a
    number itself, all are looked at.
    """
    wide = torch.promote_types(vectors[0].dtype, torch.float32)
    if sum(each.sum(dtype=wide) for each in vectors).isfinite():  # type: ignore[union-attr] - there are some
        return None
    return ~torch.stack([each.isfinite().all(dim=-1) for each in vectors]).all(dim=0)


def holds_nan(bad: Tensor, position: Tensor) -> Tensor:
    """(batch, time): whether any source that a step sees is `bad` (batch, source), by differences of running counts."""
    running = torch.nn.functional.pad(bad.cumsum(dim=1), (1, 0))
    own = _own_source(position, bad.shape[1]).squeeze(-1).expand(len(bad), -1)
    return running.gather(1, own + 1) > running.gather(1, own - position.T)


def _own_source(position: Tensor, sources: int) -> Tensor:
    """(time, 1): which source a step is itself."""
    return torch.arange(sources - len(position), sources, device=position.device).unsqueeze(-1)

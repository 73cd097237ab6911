"""States of several calls as one state of more sequences, those that store their past included."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from memspan.cells.cell import Cell

States = tuple[Tensor, ...]


def side_by_side(cell: Cell, states: Sequence[States]) -> States:
    """One state of all sequences, in order; stored pasts are made as long as the longest by zeros that nobody looks at."""
    kind, shapes = cell.first.State, cell.first.state_shapes(1)
    fields = zip(zip(*states, strict=True), shapes, strict=True)
    return kind(*(_joined(parts, shape, cell.first.newest_last) for parts, shape in fields))


def of_sequences(cell: Cell, state: States, index: Tensor) -> States:
    """The state of some sequences, by their numbers."""
    return cell.first.State(*(tensor[:, index] for tensor in state))


def _joined(parts: Sequence[Tensor], shape: tuple[int | None, ...], newest_last: bool) -> Tensor:
    if None not in shape:
        return torch.cat(list(parts), dim=1)
    longest = max(part.shape[2] for part in parts)
    return torch.cat([_padded(part, longest - part.shape[2], newest_last) for part in parts], dim=1)


def _padded(part: Tensor, missing: int, newest_last: bool) -> Tensor:
    """(layers, sequences, time, hidden), where the last states are the newest or the first ones the oldest."""
    room = (missing, 0) if newest_last else (0, missing)
    return functional.pad(part, (0, 0, *room))

"""A cell between what it reads and what it answers."""

from __future__ import annotations

from typing import final

from torch import Tensor, nn
from torch.nn import functional

from memspan.cells.cell import Cell
from memspan.errors import InputError
from memspan.models.cell_model import CellModel


@final
class Network(CellModel):
    """logits_t = W h_t + b, with h of a cell that reads features or the one-hot codes of symbols.

    The head is drawn as Kerg 2020 does: W of variance 2 / (hidden + classes), b = 0.
    """

    def __init__(self, cell: Cell, classes: int, *, symbols: int | None = None) -> None:
        super().__init__(cell, classes, symbols=symbols)
        if symbols is not None and symbols != cell.input_size:
            raise InputError(
                f"the cell reads {cell.input_size} features; expected {symbols}, one for each kind of symbol"
            )
        like = next(cell.parameters())
        self.head = nn.Linear(cell.hidden_size, classes, device=like.device, dtype=like.dtype)
        nn.init.xavier_normal_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def encoded(self, inputs: Tensor) -> Tensor:
        if self.symbols is None:
            return inputs
        return functional.one_hot(inputs, self.symbols).to(self.head.weight.dtype)

    def answered(self, hidden: Tensor) -> Tensor:
        return self.head(hidden)

"""A cell that reads embedded symbols and tells which one comes next."""

from __future__ import annotations

from typing import final

from torch import Tensor, nn
from torch.nn import functional

from memspan.cells.cell import Cell
from memspan.errors import InputError
from memspan.models.cell_model import CellModel

SPREAD = 0.1
"""Embedding and head start uniform within this, as in the example of PyTorch that Shen 2019 trains."""


@final
class SequenceModel(CellModel):
    """logits_t = W drop(h_t) + b, with h of a cell that reads drop(E x_t): a language model.

    `tied` makes W and E one matrix, so that the cell must be as wide as it reads.  Press and Wolf 2017; Inan 2017.

    >>> from memspan.cells import LSTM
    >>> SequenceModel(LSTM(2, 4, one_bias=True), 2).parameter_count()  # Shen 2019, appendix E.1.1
    126
    """

    def __init__(self, cell: Cell, vocabulary: int, *, tied: bool = False, dropout: float = 0.0) -> None:
        super().__init__(cell, vocabulary, symbols=vocabulary)
        if tied and cell.input_size != cell.hidden_size:
            raise InputError(
                f"tied weights: the cell reads {cell.input_size} features and gives {cell.hidden_size}; "
                "expected as many; change model.embedding or cell.hidden"
            )
        like = next(cell.parameters())
        self.dropout = dropout
        self.embedding = nn.Embedding(vocabulary, cell.input_size, device=like.device, dtype=like.dtype)
        self.head = nn.Linear(cell.hidden_size, vocabulary, device=like.device, dtype=like.dtype)
        nn.init.uniform_(self.embedding.weight, -SPREAD, SPREAD)
        nn.init.uniform_(self.head.weight, -SPREAD, SPREAD)
        nn.init.zeros_(self.head.bias)
        if tied:
            self.head.weight = self.embedding.weight

    def encoded(self, inputs: Tensor) -> Tensor:
        return self._dropped(self.embedding(inputs))

    def answered(self, hidden: Tensor) -> Tensor:
        return self.head(self._dropped(hidden))

    def _dropped(self, vectors: Tensor) -> Tensor:
        return functional.dropout(vectors, self.dropout, self.training)

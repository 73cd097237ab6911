"""What models around one cell share."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from torch import Tensor, nn

from memspan.cells.cell import Cell
from memspan.models.model import Model, Output, State


class CellModel(Model):
    """A cell between `encoded`, which is what it reads, and `answered`, which is what is made of its states."""

    head: nn.Linear
    """Makes logits of states."""

    def __init__(self, cell: Cell, classes: int, *, symbols: int | None) -> None:
        """`symbols`: how many kinds are read; None where inputs are features."""
        super().__init__()
        self.cell, self.classes, self.symbols = cell, classes, symbols

    @abstractmethod
    def encoded(self, inputs: Tensor) -> Tensor:
        """What the cell reads: (time, batch, features)."""

    def forward(
        self,
        inputs: Tensor,
        state: State | None = None,
        *,
        resets: Tensor | None = None,
        probe: Tensor | None = None,
        scored: int | None = None,
    ) -> Output:
        hidden, after = self.cell(self.encoded(inputs), state, resets, probe)
        answering = hidden if scored is None else hidden[len(hidden) - scored :]
        return Output(self.answered(answering), hidden, after)

    def outputs(
        self, inputs: Tensor, state: State | None = None, *, resets: Tensor | None = None
    ) -> tuple[list[Tensor], State]:
        return self.cell.outputs(self.encoded(inputs), state, resets)

    def start(self, batch: int) -> State:
        return self.cell.start(batch)

    def state_size(self, length: int) -> int:
        return self.cell.state_size(length)

    def parameter_groups(self, learning_rate: float) -> list[dict[str, Any]]:
        of_cell = {id(parameter) for parameter in self.cell.parameters()}
        more = [parameter for parameter in self.parameters() if id(parameter) not in of_cell]
        return [*self.cell.parameter_groups(learning_rate), {"params": more, "lr": learning_rate}]

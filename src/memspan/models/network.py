"""A cell between what it reads and what it answers."""

from __future__ import annotations

from typing import Any, NamedTuple, final

from torch import Tensor, nn
from torch.nn import functional

from memspan.cells.cell import Cell
from memspan.errors import InputError


class Output(NamedTuple):
    """What a network gives for a batch of sequences."""

    logits: Tensor
    """(scored, batch, classes): of the last `scored` steps"""
    hidden: Tensor
    """(time, batch, hidden): the states of the last layer"""
    state: tuple[Tensor, ...]
    """The cell's state after the last step"""


@final
class Network(nn.Module):
    """logits_t = W h_t + b, with h of a cell that reads features or the one-hot codes of symbols.

    The head is drawn as Kerg 2020 does: W of variance 2 / (hidden + classes), b = 0.
    """

    def __init__(self, cell: Cell, classes: int, *, symbols: int | None = None) -> None:
        super().__init__()
        if symbols is not None and symbols != cell.input_size:
            raise InputError(
                f"the cell reads {cell.input_size} features; expected {symbols}, one for each kind of symbol"
            )
        like = next(cell.parameters())
        self.cell, self.symbols, self.classes = cell, symbols, classes
        self.head = nn.Linear(cell.hidden_size, classes, device=like.device, dtype=like.dtype)
        nn.init.xavier_normal_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(
        self,
        inputs: Tensor,
        state: tuple[Tensor, ...] | None = None,
        *,
        resets: Tensor | None = None,
        probe: Tensor | None = None,
        scored: int | None = None,
    ) -> Output:
        """Answers at the last `scored` steps, all unless told.

        `inputs` are symbols (time, batch) or features (time, batch, features).
        """
        hidden, after = self.cell(self.encoded(inputs), state, resets, probe)
        answering = hidden if scored is None else hidden[len(hidden) - scored :]
        return Output(self.head(answering), hidden, after)

    def encoded(self, inputs: Tensor) -> Tensor:
        """What the cell reads."""
        if self.symbols is None:
            return inputs
        return functional.one_hot(inputs, self.symbols).to(self.head.weight.dtype)

    def parameter_groups(self, learning_rate: float) -> list[dict[str, Any]]:
        """Groups for a torch optimizer; parameters of the cell that learn at another rate have their own."""
        groups = self.cell.parameter_groups(learning_rate)
        return [*groups, {"params": list(self.head.parameters()), "lr": learning_rate}]

    def parameter_count(self) -> int:
        """Numbers that are learnt."""
        return sum(parameter.numel() for parameter in self.parameters())

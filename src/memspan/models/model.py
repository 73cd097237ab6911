"""What can be trained, sampled and evaluated: the interface of a model, and the models around one cell.

`ReadoutModel` reads features or one-hot symbols, `SequenceModel` embedded symbols.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple, final

from torch import Tensor, nn
from torch.nn import functional

from memspan.cells.base.cell import Cell
from memspan.errors import InputError

State = tuple[Tensor, ...]
"""Tensors (layers, batch, …) that a model carries from one call to the next."""


class ModelOutput(NamedTuple):
    """The result of a model for a batch of sequences."""

    logits: Tensor
    """(scored, batch, classes): of the last `scored` steps"""
    hidden: Tensor
    """(time, batch, hidden): the states of the last layer"""
    state: State
    """The state after the last step"""


class Model(nn.Module, ABC):
    """A network that reads sequences and gives logits at every step, or at the last ones only."""

    @abstractmethod
    def forward(
        self,
        inputs: Tensor,
        state: State | None = None,
        *,
        resets: Tensor | None = None,
        probe: Tensor | None = None,
        scored: int | None = None,
    ) -> ModelOutput:
        """Logits at the last `scored` steps, by default all.

        `inputs` are symbols (time, batch) or features (time, batch, features). `resets` (time, batch) clears the state
        before a step. The gradient with respect to `probe`, zeros (time, batch, hidden), is that of the hidden states.
        """

    @abstractmethod
    def outputs(
        self, inputs: Tensor, state: State | None = None, *, resets: Tensor | None = None
    ) -> tuple[list[Tensor], State]:
        """The outputs of all layers, (time, batch, width), lowest first, and the state after the last step.

        Dropout between layers is applied to all but the last. No logits are computed.
        """

    @abstractmethod
    def answered(self, hidden: Tensor) -> Tensor:
        """Logits (…, classes) of states (…, width) of the last layer, independently of each other."""

    def regularization(self, output: ModelOutput) -> Tensor | None:  # noqa: ARG002 - most models have none
        """A term to add to the training loss after the call that gave `output`; None for nothing."""
        return None

    @abstractmethod
    def start(self, batch: int) -> State:
        """The state before the first step."""

    def state_size(self, length: int) -> int:  # noqa: ARG002 - some models store past states
        """Number of values carried per sequence after `length` steps."""
        return sum(tensor.numel() for tensor in self.start(1))

    @abstractmethod
    def parameter_groups(self, learning_rate: float) -> list[dict[str, Any]]:
        """Parameter groups for a torch optimizer; parameters with a different learning rate have their own group."""

    def as_state(self, tensors: list[Tensor]) -> State:
        """The tensors of a state as the type of this model's states."""
        return type(self.start(1))(*tensors)

    def parameter_count(self) -> int:
        """Number of trained parameters."""
        return sum(parameter.numel() for parameter in self.parameters() if parameter.requires_grad)


# Embedding and head are drawn uniformly within this, as in the PyTorch example that Shen 2019 trains.
EMBEDDING_SPREAD = 0.1


class CellModel(Model):
    """A cell between `encode`, which makes its inputs, and `answered`, which makes logits of its states."""

    head: nn.Linear
    """The linear map from states to logits."""

    def __init__(self, cell: Cell, classes: int, *, symbols: int | None) -> None:
        """`symbols` is the number of input symbols; None if inputs are features."""
        super().__init__()
        self.cell, self.classes, self.symbols = cell, classes, symbols

    @abstractmethod
    def encode(self, inputs: Tensor) -> Tensor:
        """The inputs of the cell: (time, batch, features)."""

    def forward(
        self,
        inputs: Tensor,
        state: State | None = None,
        *,
        resets: Tensor | None = None,
        probe: Tensor | None = None,
        scored: int | None = None,
    ) -> ModelOutput:
        hidden, after = self.cell(self.encode(inputs), state, resets, probe)
        last = hidden if scored is None else hidden[len(hidden) - scored :]
        return ModelOutput(self.answered(last), hidden, after)

    def outputs(
        self, inputs: Tensor, state: State | None = None, *, resets: Tensor | None = None
    ) -> tuple[list[Tensor], State]:
        return self.cell.outputs(self.encode(inputs), state, resets)

    def start(self, batch: int) -> State:
        return self.cell.start(batch)

    def state_size(self, length: int) -> int:
        return self.cell.state_size(length)

    def parameter_groups(self, learning_rate: float) -> list[dict[str, Any]]:
        of_cell = {id(parameter) for parameter in self.cell.parameters()}
        others = [parameter for parameter in self.parameters() if id(parameter) not in of_cell]
        return [*self.cell.parameter_groups(learning_rate), {"params": others, "lr": learning_rate}]


@final
class ReadoutModel(CellModel):
    """logits_t = W h_t + b, with h of a cell that reads features or one-hot codes of symbols.

    The head is drawn as in Kerg 2020: W of variance 2 / (hidden + classes), b = 0.
    """

    def __init__(self, cell: Cell, classes: int, *, symbols: int | None = None) -> None:
        super().__init__(cell, classes, symbols=symbols)
        if symbols is not None and symbols != cell.input_size:
            raise InputError(f"the cell reads {cell.input_size} features; expected {symbols}, the number of symbols")
        like = next(cell.parameters())
        self.head = nn.Linear(cell.output_size, classes, device=like.device, dtype=like.dtype)
        nn.init.xavier_normal_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def encode(self, inputs: Tensor) -> Tensor:
        if self.symbols is None:
            return inputs
        return functional.one_hot(inputs, self.symbols).to(self.head.weight.dtype)

    def answered(self, hidden: Tensor) -> Tensor:
        return self.head(hidden)


@final
class SequenceModel(CellModel):
    """logits_t = W drop(h_t) + b, with h of a cell that reads drop(E x_t): a language model.

    `tied` shares one matrix between W and E, so that the cell's input and hidden size must agree.
    Press and Wolf 2017; Inan 2017.

    >>> from memspan.cells import LSTM
    >>> SequenceModel(LSTM(2, 4, one_bias=True), 2).parameter_count()  # Shen 2019, appendix E.1.1
    126
    """

    def __init__(self, cell: Cell, vocabulary: int, *, tied: bool = False, dropout: float = 0.0) -> None:
        super().__init__(cell, vocabulary, symbols=vocabulary)
        if tied and cell.input_size != cell.output_size:
            raise InputError(
                f"tied weights with {cell.input_size} inputs and {cell.output_size} outputs; expected equal sizes; "
                "change model.embedding or cell.hidden"
            )
        like = next(cell.parameters())
        self.dropout = dropout
        self.embedding = nn.Embedding(vocabulary, cell.input_size, device=like.device, dtype=like.dtype)
        self.head = nn.Linear(cell.output_size, vocabulary, device=like.device, dtype=like.dtype)
        nn.init.uniform_(self.embedding.weight, -EMBEDDING_SPREAD, EMBEDDING_SPREAD)
        nn.init.uniform_(self.head.weight, -EMBEDDING_SPREAD, EMBEDDING_SPREAD)
        nn.init.zeros_(self.head.bias)
        if tied:
            self.head.weight = self.embedding.weight

    def encode(self, inputs: Tensor) -> Tensor:
        return functional.dropout(self.embedding(inputs), self.dropout, self.training)

    def answered(self, hidden: Tensor) -> Tensor:
        return self.head(functional.dropout(hidden, self.dropout, self.training))

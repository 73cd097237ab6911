"""What can be trained, sampled and judged: symbols or features in, answers and states out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

from torch import Tensor, nn

State = tuple[Tensor, ...]
"""Tensors (layers, batch, …) that a model carries from one call to the next."""


class Output(NamedTuple):
    """What a model gives for a batch of sequences."""

    logits: Tensor
    """(scored, batch, classes): of the last `scored` steps"""
    hidden: Tensor
    """(time, batch, hidden): the states of the last layer"""
    state: State
    """What is carried on after the last step"""


class Model(nn.Module, ABC):
    """A network that reads sequences and answers at every step, or at the last ones only."""

    @abstractmethod
    def forward(
        self,
        inputs: Tensor,
        state: State | None = None,
        *,
        resets: Tensor | None = None,
        probe: Tensor | None = None,
        scored: int | None = None,
    ) -> Output:
        """Answers at the last `scored` steps, all unless told.

        `inputs` are symbols (time, batch) or features (time, batch, features). `resets` (time, batch) clears the state
        before a step; the gradient with respect to `probe`, zeros (time, batch, hidden), is that of the whole hidden state.
        """

    @abstractmethod
    def outputs(
        self, inputs: Tensor, state: State | None = None, *, resets: Tensor | None = None
    ) -> tuple[list[Tensor], State]:
        """What each layer gives, (time, batch, width), the lowest first, and the state after the last step.

        All but the last as the next layer reads it, with what is dropped in training. Nothing is answered.
        """

    @abstractmethod
    def answered(self, hidden: Tensor) -> Tensor:
        """Logits (…, classes) of states (…, width) of the last layer, each for itself."""

    def regularization(self, output: Output) -> Tensor | None:  # noqa: ARG002 - for models that want more
        """What is added to the loss of training after a call, whose output it is; None: nothing."""
        return None

    @abstractmethod
    def start(self, batch: int) -> State:
        """The state before the first step."""

    def state_size(self, length: int) -> int:  # noqa: ARG002 - for models that store their past
        """Numbers carried for each sequence after `length` steps."""
        return sum(tensor.numel() for tensor in self.start(1))

    @abstractmethod
    def parameter_groups(self, learning_rate: float) -> list[dict[str, Any]]:
        """Groups for a torch optimizer; parameters that learn at another rate have their own."""

    def as_state(self, tensors: list[Tensor]) -> State:
        """Tensors that were a state, in its own type again."""
        return type(self.start(1))(*tensors)

    def parameter_count(self) -> int:
        """Numbers that are learnt."""
        return sum(parameter.numel() for parameter in self.parameters() if parameter.requires_grad)

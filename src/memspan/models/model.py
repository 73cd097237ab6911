"""The interface of everything that can be trained, sampled and evaluated: inputs to logits and states."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

from torch import Tensor, nn

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

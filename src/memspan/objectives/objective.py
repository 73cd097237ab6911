"""`Objective`: a loss term with parameters of its own, added to the loss of a task."""

from __future__ import annotations

from abc import ABC, abstractmethod

from torch import Tensor, nn

from memspan.tasks import Batch


class Objective(nn.Module, ABC):
    """An auxiliary objective, including its weight. Its own parameters have their own optimizer, Adam.

    Checkpoints store its parameters and buffers and the state of its optimizer.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """The key of its tensors in a checkpoint and of its metrics."""

    @property
    @abstractmethod
    def learning_rate(self) -> float:
        """Learning rate of its own parameters."""

    @property
    def weight_decay(self) -> float:
        """Weight decay of its own parameters."""
        return 0.0

    @property
    def switch_at(self) -> int | None:
        """The update after which `on_switch` is called; None: when validation stops improving."""
        return None

    @property
    def warning(self) -> str | None:
        """A warning for the user; read at every validation, shown once."""
        return None

    @property
    def remedy(self) -> str:
        """What to try if its loss is not finite."""
        return "a smaller weight"

    @property
    def left_out(self) -> str | None:
        """A part that was requested but never became active; read after training."""
        return None

    @abstractmethod
    def loss(self, model: nn.Module, batch: Batch, index: int) -> tuple[Tensor, dict[str, float]]:
        """The loss term for a batch, and metrics.

        With several processes, `batch` is the share of this one and `index` counts the shares of all batches and
        processes. `model` is the network without wrappers.
        """

    def on_switch(self) -> None:
        """Called once, at `switch_at` or when validation stops improving (the criterion of nt-asgd, Merity 2018).

        Also called when such a run is resumed, before the saved state of the objective is loaded.
        """

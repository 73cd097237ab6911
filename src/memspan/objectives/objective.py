"""A term of the loss with parameters of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod

from torch import Tensor, nn

from memspan.tasks import Batch


class Objective(nn.Module, ABC):
    """Added to the task's loss, with its weight inside; its own parameters have their own optimizer.

    Checkpoints hold its parameters and buffers, and the state of its optimizer.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """Under which its parts of a checkpoint and its metrics are kept."""

    @property
    @abstractmethod
    def learning_rate(self) -> float:
        """Of Adam for its own parameters."""

    @property
    def weight_decay(self) -> float:
        """Of that Adam."""
        return 0.0

    @property
    def switch_at(self) -> int | None:
        """The update after which `on_switch` is called; None: when validation no longer improves."""
        return None

    @property
    def warning(self) -> str | None:
        """What a person should know by now; asked at every validation, and said once."""
        return None

    @property
    def remedy(self) -> str:
        """What to try where its loss is no finite number."""
        return "a smaller weight of it"

    @property
    def left_out(self) -> str | None:
        """What it was asked for and did not do, now that training is over; said then."""
        return None

    @abstractmethod
    def loss(self, model: nn.Module, batch: Batch, index: int) -> tuple[Tensor, dict[str, float]]:
        """What is added to the loss of a batch, and what should be told of it besides.

        `batch` is this process's share of it, `index` its number among the shares of all batches and processes; `model` is
        the network itself.
        """

    def on_switch(self) -> None:
        """Called once, when validation no longer improves as it did (Merity 2018, which is when nt-asgd begins to average),
        or at `switch_at`.

        Also when such a training is gone on with in another session, before what was saved of the objective is put back.
        """

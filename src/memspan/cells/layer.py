"""One layer of a recurrent network: a start, and a scan over time that can be stopped and gone on with anywhere."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn

Device = torch.device | str | None


class Hidden(NamedTuple):
    """The state of layers that carry h alone."""

    h: Tensor
    """(layers, batch, hidden)"""


class Layer(nn.Module, ABC):
    """Inputs (time, batch, features) and a state in, outputs (time, batch, hidden) and the next state out.

    Inside a layer the tensors of a state have the shape (batch, …); a `Cell` puts the states of its layers on top of each
    other. A layer's own parameters lie directly on it, so that their names are those of the equations.
    """

    State: ClassVar[type[tuple]]
    """The named tuple of what is carried from step to step, `h` first."""
    learning_rate_factors: ClassVar[dict[str, float]] = {}
    """Parameters (by the start of their name) that learn at another rate than the rest, and by which factor."""
    options: ClassVar[dict[str, object]] = {}
    """What the constructor of the cell leaves to choose, attributes here as well, and the defaults."""
    newest_last: ClassVar[bool] = True
    """Of layers that store their past: whether unused room comes before what is stored, or behind it."""

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.input_size, self.hidden_size = input_size, hidden_size

    @abstractmethod
    def scan(
        self, inputs: Tensor, state: tuple[Tensor, ...], resets: Tensor | None, probe: Tensor | None
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """All steps, one or more.

        Where `resets` (time, batch, bool) is true the state is `start` before that step; `probe` (time, batch, hidden) is
        added to every h_t as soon as it is computed, so that its gradient is the total dL/dh_t.
        """

    @abstractmethod
    def reset_parameters(self) -> None:
        """Draw all parameters anew, from torch's random numbers."""

    def start(self, batch: int) -> tuple[Tensor, ...]:
        """The state before the first step and after a reset, on the device of the parameters: zeros for every unit."""
        return self.State(*(self.zeros(batch, self.hidden_size) for _ in self.State._fields))  # type: ignore[attr-defined]

    def state_shapes(self, batch: int) -> tuple[tuple[int | None, ...], ...]:
        """The shape of each tensor of a state; None where it grows with time."""
        return tuple(tuple(tensor.shape) for tensor in self.start(batch))

    def state_size(self, length: int) -> int:  # noqa: ARG002 - layers that store their past grow
        """Numbers carried for each sequence after `length` steps."""
        return sum(tensor.numel() for tensor in self.start(1))

    def check_state(self, state: tuple[Tensor, ...]) -> None:
        """Refuses numbers of a state that contradict each other: tensors (layers, batch, …), whose shapes are right."""

    def undropped(self, inputs: Tensor, state: tuple[Tensor, ...], resets: Tensor | None) -> Tensor:
        """The outputs of a scan as in evaluation, whatever the mode."""
        return self.scan(inputs, state, resets, None)[0]

    def attention(self, inputs: Tensor, state: tuple[Tensor, ...], resets: Tensor | None) -> Tensor | None:  # noqa: ARG002
        """What each step looked at: (time, batch, source), by the plain equations; None where it looks at nothing."""
        return None

    def forward(
        self,
        inputs: Tensor,
        state: tuple[Tensor, ...],
        resets: Tensor | None = None,
        probe: Tensor | None = None,
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """The scan, as a call that hooks and `torch.compile` see."""
        return self.scan(inputs, state, resets, probe)

    def extra_repr(self) -> str:
        """Sizes and the options that differ from the defaults, as torch's own layers show them."""
        chosen = {
            name: value for name, default in self.options.items() if (value := getattr(self, name)) != default
        }
        return ", ".join(
            [
                f"{self.input_size}, {self.hidden_size}",
                *(f"{name}={value!r}" for name, value in chosen.items()),
            ]
        )

    def zeros(self, *shape: int, dtype: torch.dtype | None = None) -> Tensor:
        """Zeros like the parameters: on their device and, unless told, of their type."""
        like = next(self.parameters())
        return torch.zeros(shape, device=like.device, dtype=dtype or like.dtype)


def empty_weights(device: Device, dtype: torch.dtype | None) -> Callable[..., nn.Parameter]:
    """Makes parameters of a given shape, of which nothing is drawn yet."""

    def weights(*shape: int) -> nn.Parameter:
        return nn.Parameter(torch.empty(shape, device=device, dtype=dtype))

    return weights

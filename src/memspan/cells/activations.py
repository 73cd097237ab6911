"""phi of the vanilla networks, each with its slope as a function of its own value."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import final

import torch
from torch import Tensor

from memspan.errors import InputError, suggestion


class Activation(ABC):
    """phi(z), or phi(z, b) with a bias of its own, and what back-propagation needs of it."""

    biased: bool = False

    @abstractmethod
    def __call__(self, z: Tensor, bias: Tensor | None) -> Tensor:
        """phi(z)."""

    @abstractmethod
    def slope(self, value: Tensor) -> Tensor | None:
        """dphi/dz where phi(z) = `value`; None where it is one everywhere."""


@final
class Tanh(Activation):
    """tanh(z)"""

    def __call__(self, z: Tensor, bias: Tensor | None) -> Tensor:  # noqa: ARG002
        return torch.tanh(z)

    def slope(self, value: Tensor) -> Tensor:
        return 1 - value * value


@final
class Relu(Activation):
    """max(z, 0)"""

    def __call__(self, z: Tensor, bias: Tensor | None) -> Tensor:  # noqa: ARG002
        return torch.relu(z)

    def slope(self, value: Tensor) -> Tensor:
        return (value > 0).to(value.dtype)


@final
class Identity(Activation):
    """z"""

    def __call__(self, z: Tensor, bias: Tensor | None) -> Tensor:  # noqa: ARG002
        return z

    def slope(self, value: Tensor) -> None:  # noqa: ARG002
        return None


@final
class ModRelu(Activation):
    """sign(z) max(|z| + b, 0), with one b per unit.  Arjovsky 2016; Kerg 2020, appendix C."""

    biased = True

    def __call__(self, z: Tensor, bias: Tensor | None) -> Tensor:
        assert bias is not None
        return torch.sign(z) * torch.relu(z.abs() + bias)

    def slope(self, value: Tensor) -> Tensor:
        return (value != 0).to(value.dtype)


ACTIVATIONS: dict[str, Activation] = {
    "tanh": Tanh(),
    "relu": Relu(),
    "identity": Identity(),
    "modrelu": ModRelu(),
}


def activation(name: str) -> Activation:
    """The activation of a name."""
    if name not in ACTIVATIONS:
        raise InputError(f"there is no nonlinearity {name!r}; {suggestion(name, ACTIVATIONS)}")
    return ACTIVATIONS[name]

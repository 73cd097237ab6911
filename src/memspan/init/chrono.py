"""b_f = log U(1, T - 1), b_i = -b_f: gates that remember for about as long as the longest dependency T.

Tallec and Ollivier 2018, Eq. 16.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from memspan.errors import InputError


class GateBiases(NamedTuple):
    """Biases that decide how long a layer remembers, as views of its parameters; those of one gate add up."""

    remember: tuple[Tensor, ...]
    """Of the gate that keeps what is there."""
    admit: tuple[Tensor, ...] = ()
    """Of the gate that lets the new in; none where it is one minus the other."""
    emit: tuple[Tensor, ...] = ()
    """Of the gate that lets out what is kept; none where nothing is held back."""


@runtime_checkable
class Gated(Protocol):
    """A layer that has gates."""

    def gate_biases(self) -> GateBiases: ...


def chrono_(module: nn.Module, longest: float, *, generator: torch.Generator | None = None) -> None:
    """b_f = log U(1, longest - 1), b_i = -b_f, for every gated layer of `module` (a layer, a cell or a model).

    A gate of bias b keeps a state for about 1 + exp(b) steps. Where a layer has one gate for both (GRU), it has b_f.
    """
    if not 2 < longest < float("inf"):
        raise InputError(
            f"longest is {longest}; expected the longest dependency in steps, finite and more than 2"
        )
    layers = [layer for layer in module.modules() if isinstance(layer, Gated)]
    if not layers:
        raise InputError(
            f"{type(module).__name__} has no gates with biases; expected one such as LSTM or GRU"
        )
    for layer in layers:
        biases = layer.gate_biases()
        first = biases.remember[0]
        drawn = torch.empty_like(first).uniform_(1, longest - 1, generator=generator).log()
        set_biases(biases.remember, drawn)
        set_biases(biases.admit, -drawn)


@torch.no_grad()
def set_biases(biases: tuple[Tensor, ...], value: Tensor) -> None:
    """The sum of the biases becomes `value`."""
    for number, bias in enumerate(biases):
        bias.copy_(value) if number == 0 else bias.zero_()

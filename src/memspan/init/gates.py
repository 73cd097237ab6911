"""Initial biases of gates: `chrono_` for long timescales, `open_gates_` for an LSTM that starts as a plain RNN."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from memspan.errors import InputError


class GateBiases(NamedTuple):
    """The biases that determine how long a layer remembers, as views of its parameters; those of one gate are added."""

    remember: tuple[Tensor, ...]
    """The gate that keeps the state (forget gate of an LSTM)."""
    admit: tuple[Tensor, ...] = ()
    """The gate that admits new input; empty if it is one minus the other."""
    emit: tuple[Tensor, ...] = ()
    """The output gate; empty if there is none."""


@runtime_checkable
class Gated(Protocol):
    """A layer with gates."""

    def gate_biases(self) -> GateBiases: ...


@runtime_checkable
class LongShortTerm(Protocol):
    """A layer with the three gates of an LSTM."""

    def gate_biases(self) -> GateBiases: ...

    def candidate(self) -> Tensor:
        """The matrix (hidden, hidden) that multiplies the last state in g = tanh(V s + …), as a view."""
        ...


def chrono_(module: nn.Module, longest: float, *, generator: torch.Generator | None = None) -> None:
    """b_f = log U(1, longest - 1), b_i = -b_f, for every gated layer of `module` (a layer, a cell or a model).

    A gate of bias b keeps a state for about 1 + exp(b) steps. A single gate for both (GRU) gets b_f.
    Tallec and Ollivier 2018, Eq. 16.
    """
    if not 2 < longest < float("inf"):
        raise InputError(f"longest is {longest}; expected the longest dependency in steps, finite and more than 2")
    layers = [layer for layer in module.modules() if isinstance(layer, Gated)]
    if not layers:
        raise InputError(f"{type(module).__name__} has no gates with biases; use a cell such as LSTM or GRU")
    for layer in layers:
        biases = layer.gate_biases()
        drawn = torch.empty_like(biases.remember[0]).uniform_(1, longest - 1, generator=generator).log()
        set_biases(biases.remember, drawn)
        set_biases(biases.admit, -drawn)


@torch.no_grad()
def open_gates_(layer: LongShortTerm, bias: float = 2.0) -> None:
    """b_i = b_o = `bias`, b_f = -`bias` for every unit, so that an LSTM starts as h = tanh(tanh(V h + U x)).

    With an orthogonal V it then starts as an orthogonal RNN, which carries ten symbols over a few steps from the first
    update on. With half-open gates the state would be halved at every step.
    """
    biases = layer.gate_biases()
    if not biases.emit or not biases.admit:
        raise InputError(f"{type(layer).__name__} lacks a gate of the LSTM; expected input, forget and output gate")
    value = torch.full_like(biases.remember[0], bias)
    set_biases(biases.admit, value)
    set_biases(biases.emit, value)
    set_biases(biases.remember, -value)


@torch.no_grad()
def set_biases(biases: tuple[Tensor, ...], value: Tensor) -> None:
    """Set the sum of the biases to `value`."""
    for number, bias in enumerate(biases):
        bias.copy_(value) if number == 0 else bias.zero_()

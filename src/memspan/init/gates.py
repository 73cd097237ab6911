"""Initializations of gated cells: `chrono_` for long timescales, `open_gates_` for an LSTM that starts as a plain RNN,
`keras_` for the defaults of Keras.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from memspan.errors import InputError
from memspan.init.mean_field import Stack
from memspan.init.orthogonal import orthogonal_


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


# Bias of the forget gate of an LSTM, `unit_forget_bias` of Keras (Jozefowicz 2015).
FORGET_BIAS = 1.0


@torch.no_grad()
def keras_(module: nn.Module, *, generator: torch.Generator | None = None) -> None:
    """Draw every layer of `module` (a layer or a cell) as the defaults of Keras's `SimpleRNN`, `GRU` and `LSTM` do.

    The recurrent weights are orthogonal: those of all gates together are one matrix (gates x hidden, hidden) with
    orthonormal columns, so that the matrix of a single gate is not orthogonal. Input weights are uniform within
    sqrt(6 / (inputs + gates x hidden)) (Glorot 2010), biases zero, except 1 for the forget gate of an LSTM. Where torch has
    two biases, the second is zero. Attention weights are unchanged.
    """
    layers = module.stack if isinstance(module, Stack) else [module]
    weights = [_keras_weights(layer) for layer in layers]
    if any(found is None for found in weights):
        raise InputError(
            f"Keras has no layer like those of {type(module).__name__}; use VanillaRNN, LSTM or GRU (--cell rnn, lstm or "
            "gru), or another init.name"
        )
    for layer, found in zip(layers, weights, strict=True):
        assert found is not None
        orthogonal_(found.recurrent, generator=generator)
        _glorot_uniform(found.input, generator)
        for bias in found.biases:
            bias.zero_()
        gates = layer.gate_biases() if isinstance(layer, Gated) else None
        # A GRU has no input gate of its own, and Keras gives none of its gates a bias.
        if gates is not None and gates.admit:
            set_biases(gates.remember, torch.full_like(gates.remember[0], FORGET_BIAS))


class _KerasWeights(NamedTuple):
    """The weights of a layer that Keras has, too."""

    recurrent: Tensor
    input: Tensor
    biases: tuple[Tensor, ...]


def _keras_weights(layer: nn.Module) -> _KerasWeights | None:
    """Those of torch's own layers, or U, V and b of U x + V h + b; None if the layer has no such weights."""
    network = getattr(layer, "network", None)
    if isinstance(network, nn.RNNBase):
        U, V, *biases = network.all_weights[0]
        return _KerasWeights(V, U, tuple(biases))
    # A recurrent matrix that is computed from other parameters cannot be set.
    found = dict(layer.named_parameters(recurse=False))
    if not {"U", "V", "b"} <= found.keys():
        return None
    return _KerasWeights(found["V"], found["U"], (found["b"],))


def _glorot_uniform(matrices: Tensor, generator: torch.Generator | None) -> None:
    """Variance 2 / (rows + columns) for each of the matrices (…, rows, columns)."""
    bound = math.sqrt(6 / (matrices.shape[-2] + matrices.shape[-1]))
    matrices.uniform_(-bound, bound, generator=generator)

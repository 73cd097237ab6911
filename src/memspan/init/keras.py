"""Weights as Keras draws them: orthogonal recurrent weights, Glorot-uniform input weights, zero biases, forget bias 1."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn

from memspan.errors import InputError
from memspan.init.gates import Gated, set_biases
from memspan.init.mean_field import Stack
from memspan.init.orthogonal import orthogonal_

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
    weights = [_layer_weights(layer) for layer in layers]
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


class _LayerWeights(NamedTuple):
    """The weights of a layer that Keras has, too."""

    recurrent: Tensor
    input: Tensor
    biases: tuple[Tensor, ...]


def _layer_weights(layer: nn.Module) -> _LayerWeights | None:
    """Those of torch's own layers, or U, V and b of U x + V h + b; None if the layer has no such weights."""
    network = getattr(layer, "network", None)
    if isinstance(network, nn.RNNBase):
        U, V, *biases = network.all_weights[0]
        return _LayerWeights(V, U, tuple(biases))
    # A recurrent matrix that is computed from other parameters cannot be set.
    found = dict(layer.named_parameters(recurse=False))
    if not {"U", "V", "b"} <= found.keys():
        return None
    return _LayerWeights(found["V"], found["U"], (found["b"],))


def _glorot_uniform(matrices: Tensor, generator: torch.Generator | None) -> None:
    """Variance 2 / (rows + columns) for each of the matrices (…, rows, columns)."""
    bound = math.sqrt(6 / (matrices.shape[-2] + matrices.shape[-1]))
    matrices.uniform_(-bound, bound, generator=generator)

"""Weights as Keras draws them."""

from __future__ import annotations

import math

import pytest
import torch

from memspan.cells import GRU, LSTM, DetachLSTM, ExpRNN, VanillaRNN
from memspan.errors import InputError
from memspan.init import keras_

INPUTS, HIDDEN = 40, 32


def seeded() -> torch.Generator:
    return torch.Generator().manual_seed(3)


def weights(kind: type) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Input weights, recurrent weights and the sum of the biases of one layer."""
    cell = kind(INPUTS, HIDDEN)
    keras_(cell, generator=seeded())
    layer = cell.stack[0]
    if hasattr(layer, "network"):
        U, V, *biases = layer.network.all_weights[0]
        return U.detach(), V.detach(), torch.stack(biases).sum(0).detach()
    return layer.U.detach(), layer.V.detach(), layer.b.detach()


@pytest.mark.parametrize(("kind", "gates"), [(VanillaRNN, 1), (GRU, 3), (LSTM, 4), (DetachLSTM, 4)])
def test_recurrent_weights_are_orthogonal_and_input_weights_glorot_uniform(kind: type, gates: int):
    U, V, _ = weights(kind)
    assert V.shape == (gates * HIDDEN, HIDDEN)
    torch.testing.assert_close(V.T @ V, torch.eye(HIDDEN), atol=1e-5, rtol=0)
    bound = math.sqrt(6 / (INPUTS + gates * HIDDEN))
    assert 0.95 * bound < float(U.abs().max()) <= bound
    assert abs(float(U.mean())) < bound / 10


def test_only_the_forget_gate_of_an_lstm_has_a_bias():
    for kind in (LSTM, DetachLSTM):
        _, _, bias = weights(kind)
        gates = bias.reshape(4, HIDDEN)
        assert (gates[1] == 1).all()
        assert not gates[[0, 2, 3]].any()
    for kind in (VanillaRNN, GRU):
        assert not weights(kind)[2].any()


def test_the_same_generator_gives_the_same_weights():
    assert all(torch.equal(one, other) for one, other in zip(weights(LSTM), weights(LSTM), strict=True))


def test_a_cell_that_keras_does_not_have_is_refused():
    with pytest.raises(InputError, match="Keras has no layer like those of ExpRNN; use VanillaRNN, LSTM or GRU"):
        keras_(ExpRNN(2, 3))

"""LSTMs that begin as an RNN without gates."""

from __future__ import annotations

import pytest
import torch

from memspan import init
from memspan.cells import GRU, LSTM, DetachLSTM, MemLSTM, RelLSTM
from memspan.errors import InputError
from memspan.tasks import Copy
from memspan.training.run.config import CellConfig
from memspan.training.supervised.build import build
from memspan.training.supervised.config import Config, InitConfig

SHUT = 40.0
"""A bias at which a gate is open or shut to the last digit."""
LSTMS = [LSTM, DetachLSTM, MemLSTM, RelLSTM]


@pytest.mark.parametrize("kind", [LSTM, DetachLSTM])
def test_with_open_gates_an_lstm_is_a_network_without_them(kind: type[LSTM | DetachLSTM]):
    torch.manual_seed(0)
    cell = kind(3, 5, dtype=torch.float64).eval()
    layer = cell.first
    assert isinstance(layer, init.LongShortTerm)
    init.open_gates_(layer, SHUT)
    inputs = torch.randn(6, 2, 3, dtype=torch.float64)
    output, _ = cell(inputs)

    named = dict(layer.named_parameters())
    U = next(p for name, p in named.items() if name.endswith(("weight_ih_l0", "U")))
    b = torch.stack([p for name, p in named.items() if "bias" in name or name == "b"]).sum(0)
    V, U, b = layer.candidate(), U[10:15], b[10:15]
    h = torch.zeros(2, 5, dtype=torch.float64)
    for t, x in enumerate(inputs):
        h = torch.tanh(torch.tanh(h @ V.T + x @ U.T + b))
        assert torch.allclose(output[t], h, atol=1e-12)


@pytest.mark.parametrize("kind", LSTMS)
def test_the_three_gates_are_set_and_nothing_else(kind: type[LSTM]):
    cell = kind(3, 5)
    before = {name: p.clone() for name, p in cell.named_parameters()}
    layer = cell.first
    assert isinstance(layer, init.LongShortTerm)
    init.open_gates_(layer, 1.5)
    biases = layer.gate_biases()
    for gate, value in ((biases.admit, 1.5), (biases.remember, -1.5), (biases.emit, 1.5)):
        assert torch.equal(torch.stack(gate).sum(0), torch.full((5,), value))
    for name, p in cell.named_parameters():
        if "bias" in name or name.endswith(".b"):
            assert torch.equal(p[10:15], before[name][10:15]), "the candidate's own bias"
        else:
            assert torch.equal(p, before[name])


@pytest.mark.parametrize("word", ["lstm", "detach-lstm", "mem-lstm", "rel-lstm"])
def test_a_training_can_begin_with_an_lstm_that_is_an_orthogonal_network(word: str):
    config = Config(
        word="copy", task=Copy(delay=2), cell=CellConfig(name=word, hidden=6), init=InitConfig(name="henaff")
    )
    layer = build(config).cell.first
    assert isinstance(layer, init.LongShortTerm)
    V = layer.candidate()
    assert torch.allclose(V @ V.T, torch.eye(6), atol=1e-5)
    assert torch.equal(torch.stack(layer.gate_biases().emit).sum(0), torch.full((6,), 2.0))


def test_a_gru_has_no_gate_that_holds_back_and_is_rejected():
    layer = GRU(3, 5).first
    with pytest.raises(InputError, match="GRULayer lacks a gate of the LSTM"):
        init.open_gates_(layer)  # type: ignore[arg-type]

"""The plain loops compute what the cells beside them compute."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from memspan.bench.plain_loops import PlainRelRNN  # noqa: E402
from memspan.cells.rel_lstm import RelLSTM  # noqa: E402
from memspan.cells.rel_rnn import RelRNN  # noqa: E402
from memspan.reproductions.kerg2020.training_step import AdditiveAttention, PlainMemLSTM  # noqa: E402


def same_attention(layer: Any, attention: AdditiveAttention) -> None:
    layer.W_a.copy_(attention.W_a.weight)
    layer.U_a.copy_(attention.U_a.weight)
    layer.v.copy_(attention.v.weight[0])


def assert_same(ours, theirs) -> None:
    """Double precision: nothing but the order of sums differs."""
    torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-11)


def test_the_plain_rel_rnn_is_a_rel_rnn():
    torch.manual_seed(0)
    plain = PlainRelRNN(3, 8, short_term=4, relevant=3).double()
    cell = RelRNN(3, 8, short_term=4, relevant=3, dtype=torch.float64)
    layer: Any = cell.first
    with torch.no_grad():
        layer.U.copy_(plain.U.weight)
        layer.b.copy_(plain.U.bias)
        layer.V.copy_(plain.V.weight)
        same_attention(layer, plain.attention)
    inputs = torch.randn(40, 5, 3, dtype=torch.float64)
    output, expected = cell(inputs)[0], plain(inputs)
    assert_same(output, expected)
    output.square().sum().backward()
    expected.square().sum().backward()
    assert_same(layer.U_a.grad, plain.attention.U_a.weight.grad)


def test_the_plain_mem_lstm_is_a_rel_lstm_that_forgets_nothing():
    torch.manual_seed(0)
    plain = PlainMemLSTM(3, 8).double()
    cell = RelLSTM(3, 8, short_term=20, relevant=0, combine="sum", dtype=torch.float64)
    layer: Any = cell.first
    with torch.no_grad():
        for ours, theirs in (
            (layer.U, plain.cell.weight_ih),
            (layer.V, plain.cell.weight_hh),
            (layer.b, plain.cell.bias_ih + plain.cell.bias_hh),
        ):
            ours.copy_(theirs)
        same_attention(layer, plain.attention)
    inputs = torch.randn(20, 4, 3, dtype=torch.float64)
    assert_same(cell(inputs)[0], plain(inputs))

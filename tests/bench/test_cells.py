"""The benchmark of cells at tiny sizes: every cell is there, the peers compute the same, and both sides are timed."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from memspan import errors
from memspan.bench import BENCHMARKS
from memspan.bench import cells as module
from memspan.bench.cells import CellSizes, CellVariations, PlainRelRNN, cell_sizes, cells, memory, races, speed
from memspan.cells import CELLS, RelLSTM, RelRNN
from memspan.errors import MissingExtraError
from memspan.progress import SILENT
from memspan.reproductions.kerg2020.training_memory import TrainingCost
from memspan.reproductions.kerg2020.training_step import AdditiveAttention, PlainMemLSTM

TINY = CellSizes(steps=6, hidden=8, batch=2, large_batch=3, long=7, narrow=4, narrow_batch=2, short=20, rounds=1)
SAME = 1e-5
"""Single precision: two orders of the same sums over a few steps."""


def test_every_cell_is_timed_next_to_a_peer():
    pairs = races(TINY)
    assert {type(pair.ours) for pair in pairs} == set(CELLS.values())
    done = [speed(pair, TINY.rounds) for pair in pairs]
    assert len({benchmark.name for benchmark in done}) == len(done)
    assert all(benchmark.ours > 0 and benchmark.theirs > 0 for benchmark in done)
    assert BENCHMARKS["cells"].function() is cells


def test_one_size_is_varied_at_a_time_and_square_loops_stop_where_they_would_take_too_much():
    tiny = CellVariations(steps=4, hidden=8, batch=2, hiddens=(4,), batches=(3,), lengths=(5, 6), square=5, rounds=1)
    assert tiny.sizes() == [(4, 2, 4), (4, 3, 8), (5, 2, 8), (6, 2, 8)]
    names = [benchmark.name for benchmark in cell_sizes(SILENT, tiny)]
    assert len(set(names)) == len(names) == 3 * len(CELLS) + len(CELLS) - 4
    assert "training step of MemLSTM, 8 units, T = 5, batch 2" in names
    assert "training step of MemLSTM, 8 units, T = 6, batch 2" not in names
    assert BENCHMARKS["cell-sizes"].function() is cell_sizes


def test_timing_leaves_the_number_of_threads_as_it_was():
    before = torch.get_num_threads()
    speed(races(TINY)[0], 1)
    assert torch.get_num_threads() == before


def test_the_plain_loop_of_the_relevant_memory_is_the_same_network():
    ours, theirs = RelRNN(3, 8, short_term=2, relevant=2), PlainRelRNN(3, 8, short_term=2, relevant=2)
    names = {"U": "U.weight", "V": "V.weight", "b": "U.bias"}
    names |= {"W_a": "attention.W_a.weight", "U_a": "attention.U_a.weight", "v": "attention.v.weight"}
    with torch.no_grad():
        for mine, its in names.items():
            its_weight = theirs.get_parameter(its)
            its_weight.copy_(nn.Module.get_parameter(ours.first, mine).view_as(its_weight))
    inputs = torch.randn(12, 4, 3, generator=torch.Generator().manual_seed(0))
    assert torch.allclose(theirs(inputs), ours(inputs)[0], atol=SAME)


def test_memory_is_compared_with_its_own_growth(monkeypatch: pytest.MonkeyPatch):
    def linear(network: str, *, lengths: list[int], batch: int, hidden: int) -> dict[int, TrainingCost]:
        square = network.startswith("plain")
        return {steps: TrainingCost(1.0, 1e6 * steps * (steps if square else 1)) for steps in lengths}

    monkeypatch.setattr(module, "training_costs", linear)
    first, *growth, squared = memory(TINY, SILENT)
    assert first.ratio == TINY.short
    assert [benchmark.ratio for benchmark in growth] == [1.0, 1.0, 1.0]
    assert squared.ratio == 4 * TINY.short


def test_without_torch_the_extra_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(errors, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"this benchmark needs PyTorch; install memspan\[models\]"):
        BENCHMARKS["cells"](SILENT)


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

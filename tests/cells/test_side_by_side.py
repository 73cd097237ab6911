"""States of several calls joined: every sequence goes on as it would have alone."""

from __future__ import annotations

import pytest
import torch

from memspan.cells import CELLS
from memspan.cells.base.cell import join_states, select_sequences
from memspan.cells.plain.vanilla import Memoryless

SAME = 1e-6
"""Single precision: the same sums, some of them with zeros in between."""


@pytest.mark.parametrize("name", CELLS)
def test_sequences_of_different_ages_go_on_together_as_they_would_alone(name):
    torch.manual_seed(0)
    cell = CELLS[name](3, 8).eval()
    pasts = [torch.randn(steps, 2, 3) for steps in (1, 7, 4)]
    more = torch.randn(5, 6, 3)
    with torch.no_grad():
        states = [cell(past)[1] for past in pasts]
        together, _ = cell(more, join_states(cell, states))
        for number, state in enumerate(states):
            alone, _ = cell(more[:, 2 * number : 2 * number + 2], state)
            assert torch.allclose(together[:, 2 * number : 2 * number + 2], alone, atol=SAME)


@pytest.mark.parametrize("name", ["lstm", "mem-lstm", "sab-lstm", "rel-rnn"])
def test_some_sequences_can_be_taken_out_in_any_order(name):
    torch.manual_seed(1)
    cell = CELLS[name](3, 8).eval()
    order = torch.tensor([2, 0])
    more = torch.randn(3, 3, 3)
    with torch.no_grad():
        state = cell(torch.randn(4, 3, 3))[1]
        whole, _ = cell(more, state)
        some, _ = cell(more[:, order], select_sequences(cell, state, order))
    assert torch.allclose(some, whole[:, order], atol=SAME)


def test_a_cell_without_memory_knows_nothing_of_earlier_steps():
    torch.manual_seed(2)
    cell = Memoryless(3, 8, num_layers=2)
    inputs = torch.randn(6, 2, 3)
    whole, state = cell(inputs)
    alone, _ = cell(inputs[5:], cell.start(2))
    assert torch.allclose(whole[5:], alone, atol=SAME)
    assert torch.equal(state[0][-1], whole[-1])
    layer = cell.first
    expected = torch.tanh(inputs @ layer.get_parameter("U").T + layer.get_parameter("b"))
    assert torch.allclose(layer(inputs, layer.start(2))[0], expected, atol=SAME)

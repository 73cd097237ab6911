"""Models with an embedding: published sizes, tied weights, dropout, and states that continue a sequence."""

from __future__ import annotations

import pytest
import torch

from memspan.cells import LSTM, MinimalRNN, Transformer, VanillaRNN
from memspan.errors import InputError
from memspan.models.model import SequenceModel


@pytest.mark.parametrize(
    ("cell", "size"), [(LSTM(2, 4, one_bias=True), 126), (VanillaRNN(2, 32), 1190)], ids=["lstm", "rnn"]
)
def test_the_sizes_of_shen_2019_are_met(cell: LSTM | VanillaRNN, size: int):
    assert SequenceModel(cell, 2).parameter_count() == size


def test_a_second_bias_that_is_not_learnt_stays_zero():
    cell = LSTM(3, 5, one_bias=True)
    cell.reset_parameters()
    output, _ = cell(torch.randn(4, 2, 3))
    output.sum().backward()
    second = [p for name, p in cell.named_parameters() if name.endswith("bias_hh_l0")]
    assert [p.grad for p in second] == [None]
    assert not second[0].any()


def test_logits_are_the_head_of_the_cell_of_the_embedding():
    torch.manual_seed(0)
    model = SequenceModel(MinimalRNN(3, 4), 7).eval()
    symbols = torch.randint(7, (5, 2))
    hidden, _ = model.cell(model.embedding.weight[symbols])
    output = model(symbols, scored=2)
    assert torch.equal(output.hidden, hidden)
    assert torch.allclose(output.logits, hidden[-2:] @ model.head.weight.T + model.head.bias)


def test_tied_weights_are_one_matrix_that_is_counted_and_learnt_once():
    model = SequenceModel(LSTM(6, 6), 11, tied=True)
    assert model.head.weight is model.embedding.weight
    untied = SequenceModel(LSTM(6, 6), 11)
    assert untied.parameter_count() - model.parameter_count() == 11 * 6
    grouped = [p for group in model.parameter_groups(0.1) for p in group["params"]]
    assert len({id(p) for p in grouped}) == len(grouped) == len(list(model.parameters()))


def test_tied_weights_need_equal_widths():
    with pytest.raises(InputError, match="tied weights with 3 inputs and 6 outputs; expected equal sizes"):
        SequenceModel(LSTM(3, 6), 11, tied=True)


def test_dropout_is_for_training_only():
    torch.manual_seed(0)
    model = SequenceModel(LSTM(4, 4), 9, dropout=0.5)
    symbols = torch.randint(9, (5, 2))
    assert not torch.equal(model(symbols).logits, model(symbols).logits)
    model.eval()
    assert torch.equal(model(symbols).logits, model(symbols).logits)


@pytest.mark.parametrize("cell", [LSTM(4, 6, 2), Transformer(8, 8, 2)], ids=["lstm", "transformer"])
def test_symbols_one_at_a_time_give_what_the_whole_gives(cell: LSTM | Transformer):
    torch.manual_seed(0)
    model = SequenceModel(cell, 9).eval()
    symbols = torch.randint(9, (6, 3))
    state, logits = None, []
    for t in range(len(symbols)):
        output = model(symbols[t : t + 1], state)
        state = output.state
        logits.append(output.logits)
    assert torch.allclose(torch.cat(logits), model(symbols).logits, atol=1e-5)


def test_a_state_keeps_its_type_when_it_is_put_together_again():
    model = SequenceModel(LSTM(4, 6), 9)
    state = model(torch.randint(9, (3, 2))).state
    assert type(model.as_state(list(state))) is type(state)

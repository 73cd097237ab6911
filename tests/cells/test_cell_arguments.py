"""Which arguments a cell rejects, which it accepts, and dropout between layers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from memspan.cells import (
    CELLS,
    GORU,
    GRU,
    LSTM,
    DetachLSTM,
    MemLSTM,
    MemRNN,
    MinimalRNN,
    OrthogonalRNN,
    RelLSTM,
    RelRNN,
    SparseBacktrackLSTM,
    Transformer,
    VanillaRNN,
)
from memspan.errors import InputError
from oracles import ORACLES

FEATURES, HIDDEN, BATCH, STEPS = 3, 4, 3, 7

every_cell = pytest.mark.parametrize("word", list(ORACLES))


def build(word: str, **options: Any) -> Any:
    torch.manual_seed(3)
    return ORACLES[word].make(FEATURES, HIDDEN, dtype=torch.float64, **options)


def data(steps: int = STEPS, batch: int = BATCH) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(steps, batch, FEATURES, dtype=torch.float64, generator=generator)


def probe(**options: Any) -> Tensor:
    return torch.zeros(STEPS, BATCH, HIDDEN, **{"dtype": torch.float64, **options})


@every_cell
@pytest.mark.parametrize("dropout", [-0.1, 1.0, 2.0, float("nan")])
def test_dropout_is_a_probability_below_one(word, dropout):
    with pytest.raises(InputError, match=f"dropout is {dropout}; expected a probability below 1"):
        build(word, dropout=dropout)


@every_cell
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: (x.tolist(),), "the input is of type list; expected a tensor; use torch.as_tensor"),
        (lambda x: (x.numpy(),), "the input is of type ndarray; expected a tensor"),
        (lambda x: (x.to("meta"),), "the input is on meta; the weights are on cpu; move one of them"),
        (lambda x: (x, None, [[True]]), "resets is of type list; expected a tensor"),
        (lambda x: (x, None, np.zeros((STEPS, BATCH), bool)), "resets is of type ndarray; expected a tensor"),
        (
            lambda x: (x, None, torch.zeros(STEPS, BATCH, dtype=torch.bool, device="meta")),
            "the mask of resets is on meta; the weights are on cpu",
        ),
        (lambda x: (x, None, None, 0.0), "the probe is of type float; expected a tensor"),
        (
            lambda x: (x, None, None, probe(dtype=torch.float32)),
            "the probe is torch.float32; expected torch.float64, as the weights; convert it",
        ),
        (lambda x: (x, None, None, probe(device="meta")), "the probe is on meta; the weights are on cpu"),
        (
            lambda x: (x[:, 0], None, torch.zeros(STEPS - 1, dtype=torch.bool)),
            r"resets have shape \(6,\); expected that of the input, \(time\) = \(7,\)",
        ),
    ],
)
def test_a_tensor_that_cannot_be_used_is_rejected_under_the_name_of_the_cell(word, call, message):
    cell = build(word)
    with pytest.raises(InputError, match=f"^{type(cell).__name__}.*{message}") as error:
        cell(*call(data()))
    assert "\n" not in str(error.value)


@every_cell
def test_every_field_of_a_state_has_the_type_and_the_device_of_the_start(word):
    cell = build(word)
    _, state = cell(data())
    for field, tensor in state._asdict().items():
        other = torch.float32 if tensor.is_floating_point() else torch.float64
        with pytest.raises(InputError, match=f"{field} of the state is {other}; expected {tensor.dtype}"):
            cell(data(), state._replace(**{field: tensor.to(other)}))
        with pytest.raises(InputError, match=f"{field} of the state is on meta; the weights are on cpu"):
            cell(data(), state._replace(**{field: tensor.to("meta")}))
        with pytest.raises(InputError, match=f"{field} of the state is of type list; expected a tensor"):
            cell(data(), state._replace(**{field: tensor.tolist()}))


@every_cell
def test_a_state_with_a_batch_does_not_fit_an_input_without_one_and_is_shown_as_it_was_given(word):
    cell = build(word)
    _, state = cell(data(batch=1))
    message = r"h of the state has shape \(1, 1, 4\); expected \(1, 4\): layers, …, for an input without a batch"
    with pytest.raises(InputError, match=message):
        cell(data()[:, 0], state)
    with pytest.raises(InputError, match="h of the state is of type int; expected a tensor"):
        cell(data()[:, 0], tuple(range(len(state))))


@pytest.mark.parametrize(
    ("word", "known"),
    [("rel-lstm", "h=…, c=…"), ("rel-rnn", "h=…"), ("mem-lstm", "h=…, c=…"), ("sab-lstm", "h=…, c=…")],
)
def test_h_and_c_alone_come_with_the_advice_how_to_begin_with_them(word, known):
    cell = build(word)
    h = torch.rand(1, BATCH, HIDDEN, dtype=torch.float64)
    message = rf"omit it, or start from cell\.start\(batch\)\._replace\({known}\)$"
    with pytest.raises(InputError, match=message):
        cell(data(), (h, h))
    output, _ = cell(data(), cell.start(BATCH)._replace(h=h))
    assert not torch.equal(output, cell(data())[0])


@pytest.mark.parametrize(
    ("giver", "takers"), [(GRU, [VanillaRNN, MinimalRNN, GORU, OrthogonalRNN]), (LSTM, [DetachLSTM])]
)
def test_cells_that_carry_the_same_take_states_of_each_other(giver, takers):
    _, state = giver(FEATURES, HIDDEN)(data().float())
    for kind in takers:
        cell = kind(FEATURES, HIDDEN)
        by_name, _ = cell(data().float(), cell.start(BATCH)._replace(**state._asdict()))
        assert torch.equal(cell(data().float(), state)[0], by_name)


@pytest.mark.parametrize("word", ["mem-rnn", "mem-lstm"])
@pytest.mark.parametrize("alone", [False, True])
def test_a_memory_shorter_than_its_document_is_rejected(word, alone):
    cell, inputs = build(word), data()[:, 0] if alone else data()
    _, state = cell(inputs)
    with pytest.raises(InputError, match=r"^length of the state is 7; its memory holds 3 states; pass both"):
        cell(inputs, state._replace(memory=state.memory[..., 4:, :]))
    with pytest.raises(InputError, match=r"^length of the state is -1; its memory holds 7 states"):
        cell(inputs, state._replace(length=state.length - 8))


def test_stored_states_that_do_not_fit_the_steps_are_rejected():
    cells = {every: SparseBacktrackLSTM(FEATURES, HIDDEN, every=every).double() for every in (1, 2, 3)}
    states = {every: cell(data())[1] for every, cell in cells.items()}
    cut = states[2]._replace(memory=states[2].memory[:, :, 1:])
    for state, held in ((cut, 2), (states[1], 7), (states[3], 2)):
        message = f"memory of the state holds {held} states after 7 steps; expected 3, one for 2 steps; pass it"
        with pytest.raises(InputError, match=message):
            cells[2](data(), state)
    with pytest.raises(InputError, match="step of the state is -1; expected 0 or more"):
        cells[2](data(), states[2]._replace(step=states[2].step - 8))


def test_the_longest_sequence_may_leave_a_batch_with_room_in_the_memory_of_the_others():
    cell, resets = SparseBacktrackLSTM(FEATURES, HIDDEN).double(), torch.zeros(STEPS, BATCH, dtype=torch.bool)
    resets[4, 1:] = True
    _, state = cell(data(), resets=resets)
    rest = type(state)(*(tensor[:, 1:] for tensor in state))
    assert rest.memory.shape[2] > int(rest.step.max()) // 2
    torch.testing.assert_close(cell(data()[:, 1:], rest)[0], cell(data(), state)[0][:, 1:])


@pytest.mark.parametrize("kind", [VanillaRNN, MinimalRNN])
@pytest.mark.parametrize("step", [[[2, 2, 3], [2, 2, 2]], [[2, 2, 2], [3, 3, 3]], [[-1] * 3] * 2])
def test_steps_of_untied_weights_are_one_number_for_all(kind, step):
    cell = kind(FEATURES, HIDDEN, num_layers=2, tied=False, steps=20, dtype=torch.float64)
    _, state = cell(data())
    values = torch.tensor(step)
    message = f"step of the state ranges from {int(values.min())} to {int(values.max())}; expected one number"
    with pytest.raises(InputError, match=message):
        cell(data(), state._replace(step=values))


@pytest.mark.parametrize("kind", [VanillaRNN, MinimalRNN])
@pytest.mark.parametrize("steps", [2.5, True, "6"])
def test_the_number_of_steps_is_a_whole_number(kind, steps):
    with pytest.raises(InputError, match=f"tied=False requires the number of steps, got {steps!r}; pass steps=T"):
        kind(FEATURES, HIDDEN, tied=False, steps=steps)


def test_keys_and_values_of_a_transformer_belong_together():
    cell = build("transformer")
    _, state = cell(data())
    with pytest.raises(InputError, match="the state has keys of 6 steps and values of 7; expected as many"):
        cell(data(), state._replace(keys=state.keys[:, :, 1:]))
    for seen, message in ((8, "seen of the state is 8; it has keys of 7 steps"), (-1, "seen of the state is -1")):
        with pytest.raises(InputError, match=message):
            cell(data(), state._replace(seen=torch.full_like(state.seen, seen)))


@every_cell
def test_what_passes_between_layers_is_dropped_in_training_only(word):
    cell = build(word, num_layers=2, dropout=0.5)
    assert not torch.allclose(cell(data())[0], cell(data())[0])
    cell.eval()
    torch.testing.assert_close(cell(data())[0], cell(data())[0], rtol=0, atol=0)
    torch.testing.assert_close(cell(data())[0], build(word, num_layers=2)(data())[0])


@every_cell
def test_the_output_of_the_last_layer_is_not_dropped(word):
    alone = build(word, dropout=0.5)
    torch.testing.assert_close(alone(data())[0], build(word)(data())[0])
    output, state = build(word, num_layers=2, dropout=0.5)(data())
    torch.testing.assert_close(state.h[-1], output[-1])


def test_dropout_is_that_of_torch_on_the_outputs_of_every_layer_but_the_last():
    cell = build("gru", num_layers=2, dropout=0.3)
    torch.manual_seed(5)
    output, _ = cell(data())
    first, last = cell.layers
    torch.manual_seed(5)
    between = nn.functional.dropout(first(data(), first.start(BATCH))[0], 0.3)
    assert (between == 0).any()
    torch.testing.assert_close(output, last(between, last.start(BATCH))[0])


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        (VanillaRNN(3, 4, nonlinearity="relu"), "VanillaLayer(3, 4, nonlinearity='relu')"),
        (VanillaRNN(3, 4, tied=False, steps=6), "VanillaLayer(3, 4, tied=False, steps=6)"),
        (MinimalRNN(3, 4, tied=False, steps=6), "MinimalLayer(3, 4, tied=False, steps=6)"),
        (OrthogonalRNN(3, 4, orthogonal_start="haar"), "OrthogonalLayer(3, 4, orthogonal_start='haar')"),
        (GORU(3, 4, rotation="dense"), "GORULayer(\n      3, 4, rotation='dense'"),
        (DetachLSTM(3, 4, p=0.25), "DetachLSTMLayer(3, 4, p=0.25)"),
        (MemRNN(3, 4, nonlinearity="modrelu"), "MemRNNLayer(3, 4, nonlinearity='modrelu')"),
        (MemLSTM(3, 4, combine="mean"), "MemLSTMLayer(3, 4, combine='mean')"),
        (SparseBacktrackLSTM(3, 4, top=5, truncate=None), "Layer(3, 4, top=5, truncate=None)"),
        (RelRNN(3, 4, relevant=0, nonlinearity="relu"), "RelRNNLayer(3, 4, relevant=0, nonlinearity='relu')"),
        (RelLSTM(3, 4, short_term=5, combine="sum"), "RelLSTMLayer(3, 4, short_term=5, combine='sum')"),
        (
            Transformer(3, 4, heads=2, feedforward=9, attention_dropout=0.1),
            "TransformerLayer(3, 4, heads=2, feedforward=9, attention_dropout=0.1)",
        ),
    ],
    ids=str,
)
def test_a_layer_shows_what_was_chosen(cell, shown):
    assert shown in repr(cell)


@pytest.mark.parametrize("word", list(CELLS))
def test_a_layer_of_defaults_shows_its_sizes_only(word):
    assert CELLS[word](3, 4).first.extra_repr() == "3, 4"


@every_cell
def test_programs_for_an_lstm_of_torch_may_flatten_the_parameters(word):
    cell = build(word)
    before = cell(data())[0]
    cell.flatten_parameters()
    assert torch.equal(cell(data())[0], before)


@pytest.mark.parametrize("word", ["mem-rnn", "mem-lstm", "sab-lstm", "rel-rnn", "rel-lstm", "transformer"])
def test_attention_keeps_no_gradient(word):
    weights = build(word, num_layers=2).attention(data().requires_grad_())
    assert not weights.requires_grad


def test_attention_of_a_transformer_is_that_of_evaluation_in_training_too():
    torch.manual_seed(0)
    cell = Transformer(FEATURES, 8, num_layers=3, dropout=0.5, attention_dropout=0.5, dtype=torch.float64)
    in_training = cell.attention(data())
    assert cell.training
    cell.eval()
    torch.testing.assert_close(in_training, cell.attention(data()), rtol=0, atol=0)


BY_TORCH = ("lstm", "gru", "transformer")


@every_cell
def test_a_second_derivative_is_rejected_where_it_cannot_be_had(word):
    """Of the input or of a parameter alone torch's own refusal would let through what it can reach, and that is wrong."""
    if word in BY_TORCH:
        return
    cell, inputs = build(word), data().requires_grad_()
    for leaf in (inputs, *cell.parameters()):
        (gradient,) = torch.autograd.grad(cell(inputs)[0].square().sum(), inputs, create_graph=True)
        with pytest.raises(InputError, match=r"the scans of memspan\.cells are differentiable once"):
            torch.autograd.grad(gradient.square().sum(), leaf, allow_unused=True)


@pytest.mark.parametrize("word", ["lstm", "gru"])
def test_second_derivatives_of_torch_s_own_cells_are_right(word):
    cell, inputs = build(word), data(3, 2).requires_grad_()
    assert torch.autograd.gradgradcheck(lambda x: cell(x)[0], inputs)

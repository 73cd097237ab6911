"""One contract for every cell: streaming, resets, gradients, probes, layouts, layers, files, sizes."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from memspan.cells import CELLS
from memspan.cells.base.cell import Cell, join_states, select_sequences
from memspan.cells.plain.vanilla import Memoryless
from memspan.errors import InputError
from oracles import ORACLES, plain

FEATURES, HIDDEN, BATCH, STEPS = 3, 4, 3, 7


def assert_equal(ours: Tensor, theirs: Tensor) -> None:
    """Double precision, seven steps: nothing but the order of sums differs."""
    torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-11)


def assert_alike(ours: Tensor, theirs: Tensor) -> None:
    """The same numbers by another way through the code."""
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)


def build(word: str, **options) -> Cell:
    torch.manual_seed(3)
    return ORACLES[word].make(FEATURES, HIDDEN, dtype=torch.float64, **options)


def data(steps: int = STEPS, batch: int = BATCH, seed: int = 0) -> Tensor:
    return torch.randn(steps, batch, FEATURES, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def some_resets(steps: int = STEPS, batch: int = BATCH) -> Tensor:
    resets = torch.zeros(steps, batch, dtype=torch.bool)
    resets[3, 0] = resets[0, 1] = resets[5, 1] = resets[3, 2] = resets[4, 2] = True
    return resets


every_cell = pytest.mark.parametrize("word", list(ORACLES))


def test_every_cell_has_an_oracle():
    assert set(ORACLES) == set(CELLS)


@every_cell
def test_the_scan_is_the_equation(word):
    cell, inputs = build(word), data()
    output, _ = cell(inputs)
    expected, _ = plain(word, cell, inputs)
    assert_equal(output, expected)


@every_cell
@pytest.mark.parametrize("layers", [1, 2])
def test_one_symbol_at_a_time_is_the_whole_sequence(word, layers):
    cell, inputs = build(word, num_layers=layers), data()
    whole, end = cell(inputs)
    state, parts = None, []
    for step in range(STEPS):
        part, state = cell(inputs[step : step + 1], state)
        parts.append(part)
    assert_alike(torch.cat(parts), whole)
    assert state is not None
    for one, other in zip(state, end, strict=True):
        assert_alike(one, other)


@every_cell
def test_two_pieces_of_any_length_are_the_whole_sequence(word):
    cell, inputs = build(word), data()
    whole, _ = cell(inputs)
    for cut in (1, 3, 6):
        first, state = cell(inputs[:cut])
        second, _ = cell(inputs[cut:], state)
        assert_alike(torch.cat([first, second]), whole)


@every_cell
def test_resets_are_separate_sequences(word):
    cell, inputs, resets = build(word), data(), some_resets()
    output, _ = cell(inputs, resets=resets)
    for b in range(BATCH):
        begins = [0, *(t for t in range(1, STEPS) if resets[t, b]), STEPS]
        for begin, end in pairwise(begins):
            alone, _ = cell(inputs[begin:end, b : b + 1])
            assert_alike(output[begin:end, b : b + 1], alone)


@every_cell
def test_a_reset_at_the_first_step_forgets_the_state_that_was_given(word):
    cell, inputs = build(word), data()
    _, state = cell(data(seed=9))
    resets = torch.zeros(STEPS, BATCH, dtype=torch.bool)
    resets[0] = True
    assert_alike(cell(inputs, state, resets)[0], cell(inputs)[0])


@every_cell
@pytest.mark.parametrize("with_resets", [False, True])
def test_gradients_are_those_of_the_equation(word, with_resets):
    cell, inputs = build(word), data().requires_grad_()
    resets = some_resets() if with_resets else None
    weights = torch.randn(STEPS, BATCH, HIDDEN, dtype=torch.float64, generator=torch.Generator().manual_seed(5))
    leaves = [inputs, *cell.parameters()]

    def gradients(output: Tensor) -> tuple[Tensor | None, ...]:
        return torch.autograd.grad((weights * output).sum(), leaves, allow_unused=True)

    ours = gradients(cell(inputs, resets=resets)[0])
    theirs = gradients(plain(word, cell, inputs, resets=resets)[0])
    for one, other in zip(ours, theirs, strict=True):
        assert_alike(
            torch.zeros(1).double() if one is None else one, torch.zeros(1).double() if other is None else other
        )


@every_cell
def test_gradients_pass_gradcheck(word):
    cell, inputs = build(word), data(steps=4, batch=2).requires_grad_()
    probe = torch.zeros(4, 2, HIDDEN, dtype=torch.float64, requires_grad=True)

    def outputs(inputs: Tensor, probe: Tensor, *_: Tensor) -> Tensor:
        torch.manual_seed(0)  # cells that draw within a call
        return cell(inputs, probe=probe)[0]

    if ORACLES[word].differentiable:
        assert torch.autograd.gradcheck(outputs, (inputs, probe, *cell.parameters()), atol=1e-6)


@every_cell
def test_the_gradient_of_the_probe_is_the_total_one(word):
    cell, inputs = build(word), data()
    probe = torch.zeros(STEPS, BATCH, HIDDEN, dtype=torch.float64, requires_grad=True)
    weights = torch.zeros(STEPS, BATCH, HIDDEN, dtype=torch.float64)
    weights[-2:] = 1.0
    (ours,) = torch.autograd.grad((weights * cell(inputs, probe=probe)[0].tanh()).sum(), probe)
    output, nodes = plain(word, cell, inputs)
    every = [node for states in nodes for node in states]
    theirs = torch.autograd.grad((weights * output.tanh()).sum(), every, allow_unused=True)
    zero = torch.zeros(HIDDEN, dtype=torch.float64)
    stacked = torch.stack([zero if g is None else g for g in theirs]).view(BATCH, STEPS, HIDDEN)
    torch.testing.assert_close(ours, stacked.transpose(0, 1))


@every_cell
def test_the_state_carries_gradients(word):
    cell, inputs = build(word), data()
    first = data(seed=4).requires_grad_()
    _, state = cell(first)
    (gradient,) = torch.autograd.grad(cell(inputs, state)[0].square().sum(), first)
    (whole,) = torch.autograd.grad(cell(torch.cat([first, inputs]))[0][STEPS:].square().sum(), first)
    if not ORACLES[word].truncated:
        assert_equal(gradient, whole)


@every_cell
def test_batch_first_turns_input_output_resets_and_probe(word):
    cell, turned = build(word), build(word, batch_first=True)
    inputs, resets, probe = data(), some_resets(), torch.randn(STEPS, BATCH, HIDDEN, dtype=torch.float64)
    output, state = cell(inputs, resets=resets, probe=probe)
    other, again = turned(inputs.transpose(0, 1), resets=resets.T, probe=probe.transpose(0, 1))
    torch.testing.assert_close(other.transpose(0, 1), output)
    for one, two in zip(state, again, strict=True):
        assert_equal(one, two)


@every_cell
def test_one_sequence_needs_no_batch(word):
    cell, inputs = build(word), data(batch=1)
    output, state = cell(inputs)
    alone, of_one = cell(inputs.squeeze(1))
    assert_equal(alone, output.squeeze(1))
    again, _ = cell(inputs.squeeze(1), of_one)
    assert_equal(again, cell(inputs, state)[0].squeeze(1))


@every_cell
def test_weights_come_back_from_safetensors(word, tmp_path):
    cell, inputs = build(word), data()
    save_file(cell.state_dict(), tmp_path / "cell.safetensors")
    torch.manual_seed(77)
    other = ORACLES[word].make(FEATURES, HIDDEN, dtype=torch.float64)
    other.load_state_dict(load_file(tmp_path / "cell.safetensors"))
    assert_equal(other(inputs)[0], cell(inputs)[0])


@every_cell
@pytest.mark.parametrize("layers", [1, 2])
def test_the_size_of_the_state_is_that_of_its_tensors(word, layers):
    cell = build(word, num_layers=layers)
    for steps in (1, 2, STEPS, 25):
        _, state = cell(data(steps))
        assert state._fields[0] == "h"
        assert all(tensor.shape[:2] == (layers, BATCH) for tensor in state)
        assert cell.state_size(steps) == sum(tensor.numel() for tensor in state) // BATCH


@every_cell
def test_h_of_the_state_is_the_last_output(word):
    output, state = build(word, num_layers=2)(data())
    assert_equal(state[0][-1], output[-1])


@every_cell
def test_new_parameters_are_drawn_and_the_seed_decides(word):
    cell, inputs = build(word), data()
    first = cell(inputs)[0]
    torch.manual_seed(11)
    cell.reset_parameters()
    second = cell(inputs)[0]
    torch.manual_seed(11)
    cell.reset_parameters()
    assert not torch.allclose(first, second)
    torch.testing.assert_close(cell(inputs)[0], second, rtol=0, atol=0)


@every_cell
def test_single_precision_runs_and_agrees(word):
    cell, inputs = build(word), data()
    expected = cell(inputs)[0]
    output, _ = cell.float()(inputs.float())
    assert output.dtype == torch.float32
    torch.testing.assert_close(output.double(), expected, rtol=1e-3, atol=1e-4)


@every_cell
def test_the_representation_names_the_sizes(word):
    assert repr(build(word, num_layers=2)).startswith(
        f"{type(build(word)).__name__}(\n  {FEATURES}, {HIDDEN}, num_layers=2"
    )


@every_cell
def test_nan_in_the_input_comes_out_and_does_not_crash(word):
    inputs = data()
    inputs[2, 1, 0] = torch.nan
    output, _ = build(word)(inputs)
    assert output[2:, 1].isnan().any()
    assert not output[:, [0, 2]].isnan().any()
    assert not output[:2].isnan().any()


@every_cell
def test_the_parameter_groups_hold_every_parameter_once(word):
    cell = build(word, num_layers=2)
    grouped = [id(p) for group in cell.parameter_groups(0.1) for p in group["params"]]
    assert sorted(grouped) == sorted(id(p) for p in cell.parameters())


@every_cell
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x: (x[..., :2],), "got 2 features; expected 3, its input_size"),
        (lambda x: (x[:0],), "got an empty input"),
        (lambda x: (x.float(),), "its weights are torch.float64"),
        (lambda x: (x[None],), "expected \\(time, batch, 3\\)"),
        (lambda x: (torch.nn.utils.rnn.pack_sequence([x[:, 0]]),), "packed sequence"),
        (lambda x: (x, torch.zeros(1)), "got a state of type Tensor"),
        (lambda x: (x, (torch.zeros(2, 3, 4),) * 9), "got a state of 9 tensors"),
        (lambda x: (x, None, torch.zeros(2, 2, dtype=torch.bool)), r"resets have shape \(2, 2\)"),
        (lambda x: (x, None, torch.zeros(STEPS, BATCH)), "expected a bool mask"),
        (lambda x: (x, None, None, torch.zeros(1, 1, 4)), "expected that of the output"),
    ],
    ids=["features", "empty", "dtype", "shape", "packed", "state", "state-size", "resets", "resets-type", "probe"],
)
def test_a_wrong_call_is_rejected(word, change, message):
    with pytest.raises(InputError, match=message):
        build(word)(*change(data()))


@every_cell
def test_a_state_of_another_batch_is_rejected(word):
    cell = build(word)
    _, state = cell(data(batch=2))
    with pytest.raises(InputError, match="of the state has shape"):
        cell(data(), state)


@every_cell
@pytest.mark.parametrize("inside", [False, True], ids=["backward-outside", "backward-inside"])
def test_a_training_step_works_under_autocast_in_half_precision(word, inside):
    """Products of eight bits: outputs and gradients are those of single precision, but for a few per cent."""
    cell, inputs = build(word, num_layers=2).float(), data().float()
    cell.eval()  # the detaching LSTM draws in training

    def trained(half: bool) -> list[Tensor]:
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=half):
            first, state = cell(inputs)
            second, _ = cell(inputs, state, some_resets(), torch.zeros(STEPS, BATCH, HIDDEN))
            loss = (first.square() + second.square()).sum()
            if inside:
                loss.backward()
        if not inside:
            loss.backward()
        gradients = torch.cat([p.grad.flatten() for p in cell.parameters() if p.grad is not None])
        cell.zero_grad()
        assert all(tensor.dtype != torch.bfloat16 for tensor in (first, *state, gradients))
        return [first, gradients]

    for one, other in zip(trained(True), trained(False), strict=True):
        assert one.isfinite().all()
        assert (one - other).norm() <= 0.1 * other.norm()


@every_cell
def test_non_finite_values_does_not_pass_a_reset(word):
    cell, inputs, resets = build(word), data(), torch.zeros(STEPS, BATCH, dtype=torch.bool)
    inputs[1, 0, 0], resets[4] = torch.nan, True
    output, _ = cell(inputs, resets=resets)
    assert output[1:4, 0].isnan().any()
    assert not output[4:].isnan().any()


@every_cell
def test_a_cell_without_attention_says_so_under_its_own_name(word):
    cell = build(word, num_layers=2)
    if cell.attends:
        assert cell.attention(data()).shape == (STEPS, BATCH, STEPS)
    else:
        with pytest.raises(
            InputError, match=f"^{type(cell).__name__} has no attention; use one of MemRNN, MemLSTM, Sparse"
        ):
            cell.attention(data())


@every_cell
def test_every_cell_of_the_table_is_made_from_two_sizes(word):
    cell = CELLS[word](FEATURES, 8, dtype=torch.float64)
    assert cell(data())[0].shape == (STEPS, BATCH, 8)


SINGLE = 1e-6
"""Single precision: the same sums, some of them with zeros in between."""


@pytest.mark.parametrize("name", CELLS)
def test_joined_states_of_different_lengths_continue_as_they_would_alone(name):
    torch.manual_seed(0)
    cell = CELLS[name](3, 8).eval()
    pasts = [torch.randn(steps, 2, 3) for steps in (1, 7, 4)]
    more = torch.randn(5, 6, 3)
    with torch.no_grad():
        states = [cell(past)[1] for past in pasts]
        together, _ = cell(more, join_states(cell, states))
        for number, state in enumerate(states):
            alone, _ = cell(more[:, 2 * number : 2 * number + 2], state)
            assert torch.allclose(together[:, 2 * number : 2 * number + 2], alone, atol=SINGLE)


@pytest.mark.parametrize("name", ["lstm", "mem-lstm", "sab-lstm", "rel-rnn"])
def test_sequences_of_a_state_can_be_selected_in_any_order(name):
    torch.manual_seed(1)
    cell = CELLS[name](3, 8).eval()
    order = torch.tensor([2, 0])
    more = torch.randn(3, 3, 3)
    with torch.no_grad():
        state = cell(torch.randn(4, 3, 3))[1]
        whole, _ = cell(more, state)
        some, _ = cell(more[:, order], select_sequences(cell, state, order))
    assert torch.allclose(some, whole[:, order], atol=SINGLE)


def test_the_memoryless_baseline_does_not_depend_on_earlier_steps():
    torch.manual_seed(2)
    cell = Memoryless(3, 8, num_layers=2)
    inputs = torch.randn(6, 2, 3)
    whole, state = cell(inputs)
    alone, _ = cell(inputs[5:], cell.start(2))
    assert torch.allclose(whole[5:], alone, atol=SINGLE)
    assert torch.equal(state[0][-1], whole[-1])
    layer = cell.first
    expected = torch.tanh(inputs @ layer.get_parameter("U").T + layer.get_parameter("b"))
    assert torch.allclose(layer(inputs, layer.start(2))[0], expected, atol=SINGLE)

"""MemRNN, MemLSTM, SparseBacktrackLSTM and DetachLSTM: what the contract of all cells does not say."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from oracle import Oracle, two_zeros
from oracle_attentive import MEM_LSTM, MEM_RNN, SPARSE_BACKTRACK, top_weights
from oracle_gated import DETACH, detach_step
from torch import Tensor

from memspan.cells.attentive.attention import Softmax
from memspan.cells.attentive.memory import MemLSTM, MemRNN
from memspan.cells.attentive.sparse_backtrack import SparseBacktrackLSTM, TopWeights
from memspan.cells.base.cell import Cell
from memspan.cells.gated.detach import DetachLSTM
from memspan.errors import InputError
from memspan.reproductions.kerg2020.training_memory import training_costs

FEATURES, HIDDEN, BATCH, STEPS = 3, 5, 4, 23

MEMORY_MEAN_RNN = Oracle(
    make=lambda *sizes, **options: MemRNN(*sizes, combine="mean", **options), start=MEM_RNN.start, step=MEM_RNN.step
)
MEMORY_MEAN_LSTM = Oracle(
    make=lambda *sizes, **options: MemLSTM(*sizes, combine="mean", **options), start=MEM_LSTM.start, step=MEM_LSTM.step
)


def backtracking(every: int, top: int, truncate: int | None, *, output_context: bool = False) -> Oracle:
    return Oracle(
        make=lambda *sizes, **options: SparseBacktrackLSTM(
            *sizes, every=every, top=top, truncate=truncate, output_context=output_context, **options
        ),
        start=SPARSE_BACKTRACK.start,
        step=SPARSE_BACKTRACK.step,
    )


CASES = {
    "mem-rnn": MEM_RNN,
    "mem-rnn-mean": MEMORY_MEAN_RNN,
    "mem-lstm": MEM_LSTM,
    "mem-lstm-mean": MEMORY_MEAN_LSTM,
    "sab-1-1-1": backtracking(1, 1, 1),
    "sab-2-3-4": backtracking(2, 3, 4),
    "sab-3-2-none": backtracking(3, 2, None),
    "sab-2-50-5": backtracking(2, 50, 5),
    "sab-2-3-4-context": backtracking(2, 3, 4, output_context=True),
    "detach": DETACH,
}
every_case = pytest.mark.parametrize("case", list(CASES))


def assert_equal(ours: Tensor, theirs: Tensor) -> None:
    """Double precision: nothing but the order of sums differs; gradients of thresholds multiply the differences."""
    torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-9)


def assert_adds_to_one(attention: Tensor) -> None:
    """Up to the small number that the sums of the highest scores are divided with, 1e-7 to sums of 0.01 and more."""
    torch.testing.assert_close(attention.sum(dim=-1), torch.ones(attention.shape[:2]).double(), rtol=0, atol=1e-5)


def build(oracle: Oracle, **options) -> Cell:
    torch.manual_seed(7)
    cell = oracle.make(FEATURES, HIDDEN, dtype=torch.float64, **options)
    with torch.no_grad():
        for parameter in cell.parameters():
            parameter.mul_(3)  # far from linear, so that attention has something to tell apart
    return cell


def layer_of(cell: Cell) -> Any:
    """The first layer, with the parameters of its kind."""
    return cell.first


def random(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def random_resets(seed: int) -> Tensor:
    return torch.rand(STEPS, BATCH, generator=torch.Generator().manual_seed(seed)) < 0.12


def plainly(oracle: Oracle, cell: Cell, inputs: Tensor, resets: Tensor | None) -> Tensor:
    columns = []
    for b in range(inputs.shape[1]):
        sequence = inputs[:, b]
        for layer in cell.layers:
            state, outputs = oracle.start(layer), []
            for t, x in enumerate(sequence):
                if resets is not None and resets[t, b]:
                    state = oracle.start(layer)
                h, state = oracle.step(layer, x, state)
                outputs.append(h)
            sequence = torch.stack(outputs)
        columns.append(sequence)
    return torch.stack(columns, dim=1)


def gradients(output: Tensor, leaves: list[Tensor]) -> list[Tensor]:
    weights = random(*output.shape, seed=5)
    found = torch.autograd.grad((weights * output).sum(), leaves, allow_unused=True)
    return [torch.zeros(()).double() if gradient is None else gradient for gradient in found]


@every_case
@pytest.mark.parametrize("seed", [None, 1, 2])
def test_values_and_gradients_are_those_of_the_equation_with_documents_of_any_length(case, seed):
    oracle = CASES[case]
    cell, inputs = build(oracle, num_layers=2), random(STEPS, BATCH, FEATURES).requires_grad_()
    resets = None if seed is None else random_resets(seed)
    leaves = [inputs, *cell.parameters()]
    ours, theirs = cell(inputs, resets=resets)[0], plainly(oracle, cell, inputs, resets)
    assert_equal(ours, theirs)
    for one, other in zip(gradients(ours, leaves), gradients(theirs, leaves), strict=True):
        assert_equal(one, other)


@every_case
def test_pieces_with_resets_are_the_whole_in_values_states_and_gradients(case):
    cell, inputs = build(CASES[case]), random(STEPS, BATCH, FEATURES).requires_grad_()
    resets = random_resets(3)
    whole, end = cell(inputs, resets=resets)
    state, parts = None, []
    for begin, stop in ((0, 1), (1, 7), (7, 8), (8, 20), (20, STEPS)):
        part, state = cell(inputs[begin:stop], state, resets[begin:stop])
        parts.append(part)
    pieces = torch.cat(parts)
    assert_equal(pieces, whole)
    assert state is not None
    for one, other in zip(state, end, strict=True):
        assert_equal(one, other)
    leaves = [inputs, *cell.parameters()]
    for one, other in zip(gradients(pieces, leaves), gradients(whole, leaves), strict=True):
        assert_equal(one, other)


@every_case
def test_a_reset_forgets_non_finite_values(case):
    cell, inputs = build(CASES[case]), random(STEPS, BATCH, FEATURES)
    resets = torch.zeros(STEPS, BATCH, dtype=torch.bool)
    resets[9, 1] = True
    inputs[4, 1] = torch.nan
    output, state = cell(inputs, resets=resets)
    assert output[4:9, 1].isnan().all()
    assert output[9:].isfinite().all()
    assert cell(inputs[9:], state)[0].isfinite().all()


def test_the_memory_holds_the_longest_document_and_nothing_of_others():
    cell, resets = build(MEM_LSTM), torch.zeros(STEPS, BATCH, dtype=torch.bool)
    resets[10, :3] = resets[15, 3] = resets[20, 0] = True
    output, state = cell(random(STEPS, BATCH, FEATURES), resets=resets)
    assert state.length.tolist() == [[3, 13, 13, 8]]
    assert state.memory.shape == (1, BATCH, 13, HIDDEN)
    assert_equal(state.memory[0, 1], output[10:, 1])
    assert_equal(state.memory[0, 3, 5:], output[15:, 3])
    assert not state.memory[0, 3, :5].any()


@pytest.mark.parametrize("nonlinearity", ["relu", "identity", "modrelu"])
def test_every_nonlinearity_passes_gradcheck(nonlinearity):
    torch.manual_seed(1)
    cell = MemRNN(2, 3, nonlinearity=nonlinearity, combine="mean", dtype=torch.float64)
    inputs, probe = random(4, 2, 2).requires_grad_(), torch.zeros(4, 2, 3).double().requires_grad_()
    leaves = (inputs, probe, *cell.parameters())
    assert torch.autograd.gradcheck(lambda x, p, *_: cell(x, probe=p)[0], leaves)


def test_backtracking_passes_gradcheck_where_nothing_is_cut():
    torch.manual_seed(1)
    cell = SparseBacktrackLSTM(2, 3, every=1, top=2, truncate=None, dtype=torch.float64)
    inputs, probe = random(6, 2, 2).requires_grad_(), torch.zeros(6, 2, 3).double().requires_grad_()
    leaves = (inputs, probe, *cell.parameters())
    assert torch.autograd.gradcheck(lambda x, p, *_: cell(x, probe=p)[0], leaves)


@pytest.mark.parametrize("size", [30.0, 1e3])
def test_large_scores_stay_finite_and_right(size):
    """Keys and queries that are far beyond the range of exp, so that tanh is 1 or -1."""
    torch.manual_seed(2)
    cell, inputs = MemRNN(FEATURES, HIDDEN), random(STEPS, BATCH, FEATURES).float()
    with torch.no_grad():
        layer_of(cell).U_a.mul_(size)
    leaves = list(cell.parameters())
    ours, theirs = cell(inputs)[0], plainly(MEM_RNN, cell, inputs, None)
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
    assert all(g.isfinite().all() for g in torch.autograd.grad(ours.sum(), leaves))


def test_a_key_beyond_the_range_of_numbers_times_a_lock_below_it_is_a_number():
    """exp(-2 U_a h) would be infinite and exp(-2 W_a s) zero, and their product not a number.

    Few steps: gradients that really grow by a factor of a thousand with each would leave the range of numbers, too.
    """
    torch.manual_seed(2)
    cell, inputs = MemRNN(FEATURES, HIDDEN), random(5, BATCH, FEATURES).float()
    with torch.no_grad():
        for weights in (layer_of(cell).U_a, layer_of(cell).W_a):
            weights.mul_(1e3)
    output, state = cell(inputs)
    keys, lock = (-2 * state.memory @ layer_of(cell).U_a.T).exp(), (-2 * state.s @ layer_of(cell).W_a.T).exp()
    assert (keys.isinf() & (lock.unsqueeze(2) == 0)).any()
    assert output.isfinite().all()
    assert all(g.isfinite().all() for g in torch.autograd.grad(output.sum(), list(cell.parameters())))


def test_attention_of_a_memory_network_is_the_softmax_over_its_past():
    cell, inputs = build(MEM_LSTM), random(STEPS, BATCH, FEATURES)
    layer, attention = layer_of(cell), cell.attention(inputs)
    assert attention.shape == (STEPS, BATCH, STEPS)
    state = MEM_LSTM.start(layer)
    for t in range(STEPS):
        s, _, past = state
        if past:
            scores = torch.stack([layer.v @ torch.tanh(layer.W_a @ s + layer.U_a @ h) for h in past])
            assert_equal(attention[t, 0, :t], torch.softmax(scores, dim=0))
        assert not attention[t, 0, t:].any()
        _, state = MEM_LSTM.step(layer, inputs[t, 0], state)


@pytest.mark.parametrize("case", ["mem-rnn", "sab-2-3-4", "sab-2-50-5"])
def test_attention_does_not_reach_over_a_reset_and_continues_with_a_state(case):
    cell, inputs = build(CASES[case]), random(STEPS, BATCH, FEATURES)
    resets = torch.zeros(STEPS, BATCH, dtype=torch.bool)
    resets[12] = True
    whole = cell.attention(inputs, resets=resets)
    assert whole.shape == (STEPS, BATCH, STEPS)
    assert not whole[12:, :, :12].any()
    assert_adds_to_one(whole[14:])
    assert_equal(whole[12:, :, 12:], cell.attention(inputs[12:]))
    _, state = cell(inputs[:12])
    later = cell.attention(inputs[12:], state)
    remembered = state.memory.shape[2]
    assert later.shape == (STEPS - 12, BATCH, remembered + STEPS - 12)
    assert_adds_to_one(later)
    assert_equal(later[..., remembered:], cell.attention(inputs)[12:, :, 12:])


def test_backtracking_looks_at_few_of_every_so_many_th_state():
    attention = build(backtracking(3, 2, None)).attention(random(STEPS, BATCH, FEATURES))
    stored = torch.arange(STEPS) % 3 == 2
    assert not attention[..., ~stored].any()
    assert ((attention > 0).sum(dim=-1)[9:] == 2).all()


def test_the_top_weights_are_those_of_each_sequence_alone():
    scores, valid = random(9, BATCH), torch.ones(9, BATCH, dtype=torch.bool)
    valid[:5, 1] = valid[7:, 2] = False
    weights = TopWeights(3).weights(scores, valid)
    for b in range(BATCH):
        alone = top_weights(scores[valid[:, b], b], 3)
        assert_equal(weights[valid[:, b], b], alone)
        assert not weights[~valid[:, b], b].any()
        assert (alone > 0).sum() == 3


def test_scores_that_are_all_alike_have_no_top():
    same, valid = torch.zeros(6, 2, dtype=torch.float64), torch.ones(6, 2, dtype=torch.bool)
    assert not TopWeights(3).weights(same, valid).any()
    outer, weights = torch.ones(6, 2).double(), torch.zeros(6, 2).double()
    assert not TopWeights(3).gradient(same, valid, weights, outer).any()
    assert_equal(Softmax().weights(same, valid), torch.full((6, 2), 1 / 6).double())


def test_the_recurrent_gradient_is_cut_after_so_many_steps_and_attention_is_not():
    cell, inputs = build(backtracking(50, 1, 4)), random(11, BATCH, FEATURES).requires_grad_()
    (gradient,) = torch.autograd.grad(cell(inputs)[0][-1].sum(), inputs)
    assert not gradient[:8].any()
    assert gradient[8:].abs().amin(dim=(1, 2)).gt(0).all()
    remembering = build(backtracking(2, 3, 4))
    (gradient,) = torch.autograd.grad(remembering(inputs)[0][-1].sum(), inputs)
    assert gradient[:8].any()


def detaching(layer: Any, inputs: Tensor, detached: list[bool]) -> Tensor:
    """An LSTM whose h is detached before the given steps."""
    columns = []
    for b in range(inputs.shape[1]):
        h, c = two_zeros(layer)
        outputs = []
        for x, cut in zip(inputs[:, b], detached, strict=True):
            h, (_, c) = detach_step(layer, x, (h.detach() if cut else h, c))
            outputs.append(h)
        columns.append(torch.stack(outputs))
    return torch.stack(columns, dim=1)


@pytest.mark.parametrize("p", [0.4, 1.0])
def test_the_gradient_is_that_of_an_lstm_whose_h_is_detached_at_the_drawn_steps(p):
    torch.manual_seed(3)
    cell, inputs = DetachLSTM(FEATURES, HIDDEN, p=p, dtype=torch.float64), random(STEPS, BATCH, FEATURES)
    inputs.requires_grad_()
    torch.manual_seed(11)
    output = cell(inputs)[0]
    torch.manual_seed(11)
    drawn = (torch.rand(STEPS) < p).tolist()
    assert any(drawn)
    expected = detaching(layer_of(cell), inputs, drawn)
    assert_equal(output, expected)
    leaves = [inputs, *cell.parameters()]
    for one, other in zip(gradients(output, leaves), gradients(expected, leaves), strict=True):
        assert_equal(one, other)


def test_another_seed_draws_other_steps_and_the_same_seed_the_same():
    cell, inputs = DetachLSTM(FEATURES, HIDDEN, dtype=torch.float64), random(STEPS, BATCH, FEATURES)

    def gradient(seed: int) -> Tensor:
        torch.manual_seed(seed)
        return torch.autograd.grad(cell(inputs)[0].square().sum(), layer_of(cell).V)[0]

    assert torch.equal(gradient(1), gradient(1))
    assert not torch.allclose(gradient(1), gradient(2))


def test_nothing_is_drawn_or_detached_in_evaluation():
    torch.manual_seed(3)
    cell, inputs = DetachLSTM(FEATURES, HIDDEN, p=1.0, dtype=torch.float64), random(STEPS, BATCH, FEATURES)
    cell.eval()
    before = torch.get_rng_state()
    output = cell(inputs)[0]
    assert torch.equal(torch.get_rng_state(), before)
    expected = detaching(layer_of(cell), inputs, [False] * STEPS)
    (ours,), (theirs,) = gradients(output, [layer_of(cell).V]), gradients(expected, [layer_of(cell).V])
    assert_equal(ours, theirs)


def test_nothing_is_drawn_or_detached_while_detaching_is_off():
    torch.manual_seed(3)
    cell, inputs = DetachLSTM(FEATURES, HIDDEN, p=1.0, dtype=torch.float64), random(STEPS, BATCH, FEATURES)
    V = layer_of(cell).V
    full, cut = (gradients(detaching(layer_of(cell), inputs, [each] * STEPS), [V])[0] for each in (False, True))
    before = torch.get_rng_state()
    cell.set_detaching(False)
    assert_equal(gradients(cell(inputs)[0], [V])[0], full)
    assert torch.equal(torch.get_rng_state(), before)
    cell.set_detaching(True)
    assert_equal(gradients(cell(inputs)[0], [V])[0], cut)
    assert not torch.allclose(full, cut)


def test_an_lstm_of_torch_with_the_same_weights_gives_the_same():
    torch.manual_seed(4)
    cell, torchs = DetachLSTM(FEATURES, HIDDEN), torch.nn.LSTM(FEATURES, HIDDEN)
    layer = layer_of(cell)
    weights = {"weight_ih_l0": layer.U, "weight_hh_l0": layer.V, "bias_ih_l0": layer.b}
    torchs.load_state_dict({**weights, "bias_hh_l0": torch.zeros_like(layer.b)})
    inputs = random(STEPS, BATCH, FEATURES).float()
    output, (h, c) = cell(inputs)
    expected, (last, cells) = torchs(inputs)
    for one, other in ((output, expected), (h, last), (c, cells)):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SparseBacktrackLSTM(2, 3, every=0), "every is 0; expected an integer of 1 or more"),
        (lambda: SparseBacktrackLSTM(2, 3, top=0), "top is 0; expected an integer of 1 or more"),
        (lambda: SparseBacktrackLSTM(2, 3, top=True), "top is True; expected an integer"),
        (lambda: SparseBacktrackLSTM(2, 3, truncate=-1), "truncate is -1; .* or None to cut no gradient"),
        (lambda: DetachLSTM(2, 3, p=-0.1), "p is -0.1; expected the probability"),
        (lambda: DetachLSTM(2, 3, p=1.5), "p is 1.5; expected the probability"),
        (lambda: DetachLSTM(2, 3, p=float("nan")), "p is nan; expected the probability"),
        (lambda: MemRNN(2, 3, combine="men"), "unknown combine 'men'; did you mean mean"),
        (lambda: MemLSTM(2, 3, combine="product"), "unknown combine 'product'; choose one of mean, sum"),
        (lambda: MemRNN(2, 3, nonlinearity="tan"), "did you mean tanh"),
    ],
)
def test_options_without_meaning_are_rejected(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_a_memory_of_another_width_is_rejected():
    cell = MemLSTM(FEATURES, HIDDEN, dtype=torch.float64)
    _, state = cell(random(3, BATCH, FEATURES))
    wrong = state._replace(memory=state.memory[..., :2])
    with pytest.raises(InputError, match=r"memory of the state has shape .* expected \(1, 4, any, 5\)"):
        cell(random(3, BATCH, FEATURES), wrong)


@pytest.mark.slow
def test_a_memory_lstm_trains_on_two_thousand_steps_in_less_than_two_gigabytes():
    """Above what the process held before, which is well below half a gigabyte; twice the time takes twice the memory."""
    costs = training_costs("mem-lstm", lengths=[1000, 2000], batch=10, hidden=128)
    assert costs[2000].peak < 1.5e9
    assert costs[2000].peak < 2.2 * costs[1000].peak

"""Relevancy screening: who is remembered, with which score, and that compiled and torch steps are the same."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch
from oracle import Oracle
from oracle_relevance import REL_LSTM, REL_RNN, State
from torch import Tensor

from memspan.cells.attentive.relevance import RelLSTM, RelRNN
from memspan.errors import InputError

FEATURES, HIDDEN = 3, 5
FLAG = "memspan.cells.attentive.relevance.COMPILED"

both_ways = pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "torch"])
both_cells = pytest.mark.parametrize("kind", [RelRNN, RelLSTM])


def assert_equal(ours: Tensor, theirs: Tensor) -> None:
    """Double precision: nothing but the order of sums differs."""
    torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-11)


def numbers(values: list[float]) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def build(kind: Any, seed: int = 0, **options: Any) -> Any:
    torch.manual_seed(seed)
    return kind(FEATURES, HIDDEN, **{"dtype": torch.float64, **options})


def data(steps: int, batch: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(steps, batch, FEATURES, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def some_resets(steps: int, batch: int, rate: float, seed: int = 0) -> Tensor:
    return torch.rand(steps, batch, generator=torch.Generator().manual_seed(seed)) < rate


def by_the_book(cell: Any, sequence: Tensor, resets: Tensor) -> list[tuple[int, State, Tensor]]:
    """For each step of one sequence: when its document began, the state after it, and h."""
    oracle: Oracle = REL_RNN if isinstance(cell, RelRNN) else REL_LSTM
    state, begin, steps = oracle.start(cell.first), 0, []
    for t, x in enumerate(sequence):
        if resets[t]:
            state, begin = oracle.start(cell.first), t
        h, state = oracle.step(cell.first, x, state)
        steps.append((begin, state, h))
    return steps


def random_case(number: int) -> tuple[Any, Tensor, Tensor]:
    """A cell, inputs and resets.

    In every third case v = 0, so that attention is uniform; in every third it is so large that one state gets all attention,
    so that scores are whole numbers and most of them ties.
    """
    draw = random.Random(number)
    cell = build(
        draw.choice([RelRNN, RelLSTM]),
        number,
        short_term=draw.randint(1, 5),
        relevant=number % 11,
        combine=draw.choice(["mean", "sum"]),
    )
    with torch.no_grad():
        for name, weights in cell.first.named_parameters():
            weights *= (0.0, 1e6, 2.0)[number % 3] if name == "v" else 2.0
    steps = draw.randint(3, 25)
    return cell, data(steps, 2, number), some_resets(steps, 2, draw.choice([0.0, 0.05, 0.2]), number)


@torch.no_grad()
@pytest.mark.parametrize("tens", range(20))
def test_the_memory_is_that_of_the_plain_lists_after_every_step(tens, monkeypatch):
    for number in range(10 * tens, 10 * tens + 10):
        cell, inputs, resets = random_case(number)
        monkeypatch.setattr(FLAG, number % 2 == 0)
        outputs, states = [], []
        state = None
        for t in range(len(inputs)):
            output, state = cell(inputs[t : t + 1], state, resets[t : t + 1])
            outputs.append(output[0])
            states.append(state)
        for b in range(2):
            for t, (begin, expected, _) in enumerate(by_the_book(cell, inputs[:, b], resets[:, b])):
                for events, held, scores in (
                    (expected.buffer, states[t].recent[0, b], states[t].recent_scores[0, b]),
                    (expected.relevant, states[t].relevant[0, b], states[t].relevant_scores[0, b]),
                ):
                    filled = scores > -torch.inf
                    assert int(filled.sum()) == len(events)
                    for event, h in zip(events, held[filled], strict=True):
                        assert torch.equal(h, outputs[begin + event.time][b])
                    assert_equal(scores[filled], numbers([e.score for e in events]))
                    assert not held[~filled].any()


@torch.no_grad()
@pytest.mark.parametrize("tens", range(20))
def test_attention_outputs_and_the_end_are_those_of_the_plain_lists(tens, monkeypatch):
    for number in range(10 * tens, 10 * tens + 10):
        cell, inputs, resets = random_case(number)
        monkeypatch.setattr(FLAG, number % 2 == 1)
        output, state = cell(inputs, resets=resets)
        attention = cell.attention(inputs, resets=resets)
        assert attention.shape == (len(inputs), 2, len(inputs))
        expected = torch.zeros_like(attention)
        for b in range(2):
            steps = by_the_book(cell, inputs[:, b], resets[:, b])
            for t, (begin, book, h) in enumerate(steps):
                for time, weight in book.attention.items():
                    expected[t, b, begin + time] = weight
                assert_equal(output[t, b], h)
            scores = [event.score for event in steps[-1][1].relevant]
            assert_equal(state.relevant_scores[0, b, : len(scores)], numbers(scores))
        assert_equal(attention, expected)


def test_some_cases_have_ties_and_full_relevant_sets():
    ties = full = 0
    for number in range(1, 60, 3):
        cell, inputs, resets = random_case(number)
        for _, state, _ in by_the_book(cell, inputs[:, 0], resets[:, 0]):
            scores = [event.score for event in state.relevant]
            ties += len(set(scores)) < len(scores)
            full += 0 < len(scores) == cell.first.screening.relevant
    assert ties > 50
    assert full > 50


@both_ways
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (RelRNN, {"combine": "sum"}),
        (RelRNN, {"nonlinearity": "relu"}),
        (RelRNN, {"nonlinearity": "identity"}),
        (RelRNN, {"nonlinearity": "modrelu"}),
        (RelRNN, {"relevant": 0}),
        (RelRNN, {"short_term": 1}),
        (RelLSTM, {"combine": "sum"}),
        (RelLSTM, {"relevant": 0, "short_term": 1}),
    ],
    ids=lambda value: "-".join(f"{k}-{v}" for k, v in value.items()) if isinstance(value, dict) else None,
)
def test_gradients_of_every_choice_are_those_of_the_equation(kind, options, compiled, monkeypatch):
    monkeypatch.setattr(FLAG, compiled)
    cell = build(kind, **{"short_term": 2, "relevant": 3, **options})
    inputs, resets = data(9, 3).requires_grad_(), some_resets(9, 3, 0.1)
    if "modrelu" in options.values():
        torch.nn.init.uniform_(cell.first.m, -0.3, 0.1)
    leaves, weights = [inputs, *cell.parameters()], torch.randn(9, 3, HIDDEN, dtype=torch.float64)
    columns = [[h for *_, h in by_the_book(cell, inputs[:, b], resets[:, b])] for b in range(3)]
    plain = torch.stack([torch.stack(column) for column in columns], 1)
    output = cell(inputs, resets=resets)[0]
    assert_equal(output, plain)
    ours = torch.autograd.grad((weights * output).sum(), leaves)
    theirs = torch.autograd.grad((weights * plain).sum(), leaves)
    for one, other in zip(ours, theirs, strict=True):
        assert_equal(one, other)


def everything(cell: Any, dtype: torch.dtype, compiled: bool, monkeypatch) -> list[Tensor]:
    """Outputs, the state at the end, and gradients of all of them for all that goes in, the carried memory among it."""
    monkeypatch.setattr(FLAG, compiled)
    _, state = cell(data(8, 5, 1, dtype))
    state = type(state)(*(tensor.detach() for tensor in state))
    carried = [tensor.requires_grad_() for name, tensor in state._asdict().items() if "scores" not in name]
    inputs = data(30, 5, 2, dtype).requires_grad_()
    probe = torch.zeros(30, 5, HIDDEN, dtype=dtype, requires_grad=True)
    output, end = cell(inputs, state, some_resets(30, 5, 0.05, 3), probe)
    made = [output, *(tensor for tensor in end if tensor.requires_grad)]
    torch.manual_seed(5)
    loss = sum(((torch.randn_like(tensor) * tensor).sum() for tensor in made), torch.zeros((), dtype=dtype))
    gradients = torch.autograd.grad(loss, [inputs, probe, *carried, *cell.parameters()])
    return [output, *end, *gradients]


@both_cells
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-10), (torch.float32, 2e-4)])
def test_compiled_and_torch_steps_give_the_same_values_and_gradients(kind, dtype, tolerance, monkeypatch):
    """Single precision: thirty steps of sums whose terms are right to 4e-7."""
    cell = build(kind, short_term=4, relevant=3, dtype=dtype)
    compiled, in_torch = (everything(cell, dtype, flag, monkeypatch) for flag in (True, False))
    for one, other in zip(compiled, in_torch, strict=True):
        assert one.dtype == other.dtype
        torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance)


@both_cells
def test_threads_do_not_change_what_is_computed(kind):
    cell, inputs, threads = build(kind), data(12, 21), torch.get_num_threads()
    results = []
    try:
        for count in (1, 2, 5):
            torch.set_num_threads(count)
            output = cell(inputs)[0]
            results.append([output, *torch.autograd.grad(output.square().sum(), [*cell.parameters()])])
    finally:
        torch.set_num_threads(threads)
    for other in results[1:]:
        for one, two in zip(results[0], other, strict=True):
            assert_equal(one, two)


@both_ways
@both_cells
def test_what_training_keeps_does_not_multiply_memory_and_hidden_size(kind, compiled, monkeypatch):
    monkeypatch.setattr(FLAG, compiled)

    def stored(steps: int, **options: Any) -> int:
        sizes: dict[int, int] = {}

        def pack(tensor: Tensor) -> Tensor:
            sizes[tensor.data_ptr()] = tensor.numel()
            return tensor

        cell = build(kind, **options)
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            cell(data(steps, 2))
        return sum(sizes.values())

    per_step = [
        stored(101, short_term=nu, relevant=rho) - stored(100, short_term=nu, relevant=rho)
        for nu, rho in ((1, 0), (9, 8))
    ]
    rows_and_weights = 2 * 2 * (17 - 1)  # of two sequences, for sixteen more slots
    assert per_step[1] - per_step[0] == rows_and_weights


@both_ways
@both_cells
def test_a_sequence_of_nan_is_forgotten_by_a_reset(kind, compiled, monkeypatch):
    monkeypatch.setattr(FLAG, compiled)
    cell, inputs = build(kind, short_term=2, relevant=2), data(16, 2)
    spoiled, resets = inputs.clone(), torch.zeros(16, 2, dtype=torch.bool)
    spoiled[1, 0], resets[8] = torch.nan, True
    output = cell(spoiled, resets=resets)[0]
    assert output[2:8, 0].isnan().all()
    assert_equal(output[8:], cell(inputs[8:])[0])


@both_cells
def test_attention_with_a_state_shows_the_remembered_states_first(kind):
    cell, inputs = build(kind, short_term=3, relevant=2), data(20, 2)
    _, state = cell(inputs[:12])
    whole, later = cell.attention(inputs)[12:], cell.attention(inputs[12:], state)
    assert later.shape == (8, 2, 2 + 3 + 8)
    assert_equal(later.sum(2), torch.ones(8, 2).double())
    assert_equal(later[:, :, 2:5], whole[:, :, 9:12] * (later[:, :, 2:5] > 0))
    assert_equal(later[:, :, 5:], whole[:, :, 12:])


def test_the_first_step_of_a_sequence_reads_h_alone():
    cell, inputs = build(RelRNN), data(1, 2)
    h = torch.rand(1, 2, HIDDEN, dtype=torch.float64)
    layer = cell.first
    output, state = cell(inputs, cell.start(2)._replace(h=h))
    assert_equal(state.s, h)
    assert_equal(output[0], torch.tanh(inputs[0] @ layer.U.T + h[0] @ layer.V.T + layer.b))


def test_mixed_precision_leaves_the_steps_in_that_of_the_weights():
    cell, inputs = build(RelLSTM, dtype=torch.float32), data(6, 2, dtype=torch.float32)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        output, _ = cell(inputs)
    torch.testing.assert_close(output, cell(inputs)[0])


def test_half_precision_takes_the_steps_in_torch():
    cell, inputs = build(RelRNN), data(6, 2)
    expected = cell(inputs)[0]
    output, _ = cell.bfloat16()(inputs.bfloat16())
    torch.testing.assert_close(output.double(), expected, rtol=0.1, atol=0.1)  # eight bits, six steps


@both_cells
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"short_term": 0}, "short_term is 0; expected an integer of 1 or more"),
        ({"relevant": -1}, "relevant is -1; expected an integer of 0 or more"),
        ({"short_term": 2.5}, "short_term is 2.5"),
        ({"relevant": True}, "relevant is True"),
        ({"combine": "meen"}, "unknown combine 'meen'; did you mean mean"),
    ],
)
def test_a_memory_that_cannot_be_is_rejected(kind, options, message):
    with pytest.raises(InputError, match=message):
        build(kind, **options)


def test_the_gates_of_a_rel_lstm_can_be_set_to_remember():
    from memspan.init import chrono_

    cell = build(RelLSTM)
    chrono_(cell, 100.0)
    admit, remember, *_ = cell.first.b.chunk(4)
    assert_equal(admit, -remember)
    assert bool((remember > 0).all())

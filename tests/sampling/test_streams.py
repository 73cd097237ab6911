"""Streams follow the model's distribution, independently of other streams."""

from __future__ import annotations

import itertools
import math
from typing import Any, final

import numpy as np
import pytest
import torch
from scipy.stats import chisquare
from torch import Tensor

from memspan.cells import LSTM, Transformer
from memspan.errors import InputError
from memspan.models.model import Model, ModelOutput, ReadoutModel, SequenceModel, State
from memspan.progress import Progress, Stage
from memspan.sampling import Choice, joined, sample, streams
from memspan.sampling.streams import STEPS

TRANSITION = np.array([[0.7, 0.2, 0.1], [0.0, 0.5, 0.5], [0.3, 0.3, 0.4]])


@final
class ByHand(Model):
    """Answers from a table (counted, symbol) -> logits; what it counts is how many symbols it looks back on."""

    def __init__(self, table: Tensor) -> None:
        super().__init__()
        self.table = table
        self.modes: set[tuple[bool, bool]] = set()
        """Whether it was training and whether gradients were kept, at any call."""

    def forward(
        self,
        inputs: Tensor,
        state: State | None = None,
        *,
        resets: Tensor | None = None,
        probe: Tensor | None = None,
        scored: int | None = None,
    ) -> ModelOutput:
        self.modes.add((self.training, torch.is_grad_enabled()))
        (logits,), after = self.outputs(inputs, state)
        return ModelOutput(logits if scored is None else logits[-scored:], logits, after)

    def outputs(
        self, inputs: Tensor, state: State | None = None, *, resets: Tensor | None = None
    ) -> tuple[list[Tensor], State]:
        (count,) = self.start(inputs.shape[1]) if state is None else state
        counts = count + torch.arange(1, len(inputs) + 1).unsqueeze(1)
        return [self.table[counts.clamp(max=len(self.table) - 1), inputs]], (counts[-1:],)

    def answered(self, hidden: Tensor) -> Tensor:
        return hidden

    def start(self, batch: int) -> State:
        return (torch.zeros(1, batch, dtype=torch.int64),)

    def parameter_groups(self, learning_rate: float) -> list[dict[str, Any]]:
        return []


def markov() -> ByHand:
    return ByHand(torch.tensor(TRANSITION).log().unsqueeze(0))


def counting(most: int) -> ByHand:
    """Whose likeliest answer is the number of symbols that it looks back on."""
    return ByHand(torch.eye(most + 1).unsqueeze(1).expand(-1, most + 1, -1))


def language_model(cell_name: str, dropout: float = 0.0) -> SequenceModel:
    """In double precision, where no rounding changes a draw, and with answers far from uniform."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        cell = {
            "lstm": LSTM(4, 8, num_layers=2, dtype=torch.float64),
            "transformer": Transformer(4, 8, num_layers=2, heads=2, dtype=torch.float64),
        }[cell_name]
        model = SequenceModel(cell, 6, dropout=dropout)
        torch.nn.init.normal_(model.head.weight, std=2.0)
        torch.nn.init.normal_(model.embedding.weight, std=1.0)
    return model


def own_numbers(seed: int, stream: int, length: int) -> list[float]:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(stream,))).random(length).tolist()


@torch.no_grad()
def next_symbol(model: Model, past: list[int], uniform: float) -> int:
    """All that is known is read anew, without any state."""
    logits = model(torch.tensor(past).unsqueeze(1)).logits[-1, 0]
    reached = 0.0
    for symbol, probability in enumerate(logits.softmax(0).tolist()):
        reached += probability
        if uniform < reached:
            return symbol
    return len(logits) - 1


def test_a_markov_chain_is_sampled_with_its_transition_matrix():
    found = joined(sample(markov(), streams=100, length=400, first=0, seed=3))
    assert found.shape == (100, 400)
    pairs = np.zeros((3, 3))
    np.add.at(pairs, (found[:, :-1].ravel(), found[:, 1:].ravel()), 1)
    assert pairs[1, 0] == 0
    for row, law in zip(pairs, TRANSITION, strict=True):
        assert chisquare(row[law > 0], row.sum() * law[law > 0]).pvalue > 0.001


def test_streams_begin_after_what_was_read_first():
    firsts = torch.tensor([0, 1, 2]).repeat_interleave(3000)
    found = joined(sample(markov(), streams=9000, length=1, first=firsts, seed=0, group=9000))[:, 0]
    for first, law in enumerate(TRANSITION):
        counts = np.bincount(found[firsts == first], minlength=3)
        assert not counts[law == 0].any()
        assert chisquare(counts[law > 0], 3000 * law[law > 0]).pvalue > 0.001


def test_streams_are_independent_of_each_other():
    found = joined(sample(markov(), streams=3000, length=3, first=2, seed=0, group=3000)).astype(int)
    beside = np.zeros((3, 3))
    np.add.at(beside, (found[:-1, -1], found[1:, -1]), 1)
    expected = np.outer(beside.sum(1), beside.sum(0)) / beside.sum()
    assert chisquare(beside.ravel(), expected.ravel(), ddof=4).pvalue > 0.001


@pytest.mark.parametrize("cell", ["lstm", "transformer"])
def test_a_stream_is_the_plain_loop(cell):
    model, past = language_model(cell), [5]
    for uniform in own_numbers(11, 0, 40):
        past.append(next_symbol(model, past, uniform))
    (found,) = joined(sample(model, streams=1, length=40, first=5, seed=11)).tolist()
    assert found == past[1:]


@pytest.mark.parametrize("cell", ["lstm", "transformer"])
def test_the_sliding_window_reads_the_last_symbols_anew_at_every_step(cell):
    model, past = language_model(cell), [5]
    for uniform in own_numbers(2, 0, 40):
        past.append(next_symbol(model, past[-7:], uniform))
    (found,) = joined(sample(model, streams=1, length=40, first=5, seed=2, context=7, kept=7)).tolist()
    assert found == past[1:]


def test_a_full_window_is_begun_anew_with_its_second_half():
    model, past, begin = language_model("transformer"), [5], 0
    for uniform in own_numbers(2, 0, 40):
        if len(past) - begin > 6:
            begin = len(past) - 3
        past.append(next_symbol(model, past[begin:], uniform))
    (found,) = joined(sample(model, streams=1, length=40, first=5, seed=2, context=6)).tolist()
    assert found == past[1:]
    (unbounded,) = joined(sample(model, streams=1, length=40, first=5, seed=2)).tolist()
    assert found != unbounded


@pytest.mark.parametrize(
    ("context", "kept", "looked_back"),
    [
        (None, None, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
        (4, None, [1, 2, 3, 4, 2, 3, 4, 2, 3, 4]),
        (5, None, [1, 2, 3, 4, 5, 2, 3, 4, 5, 2]),
        (4, 1, [1, 2, 3, 4, 1, 2, 3, 4, 1, 2]),
        (4, 4, [1, 2, 3, 4, 4, 4, 4, 4, 4, 4]),
        (1, None, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]),
    ],
)
def test_the_model_looks_back_between_what_is_kept_and_the_context(context, kept, looked_back):
    found = sample(
        counting(10), streams=2, length=10, first=0, seed=0, choice=Choice(temperature=0), context=context, kept=kept
    )
    assert joined(found).tolist() == [looked_back, looked_back]


def test_a_beginning_of_several_symbols_is_read_before_anything_is_written():
    beginning = torch.tensor([[1, 2], [3, 4], [0, 5]])
    model = language_model("lstm")
    found = joined(sample(model, streams=2, length=20, first=beginning, seed=4))
    for stream in range(2):
        past = beginning[:, stream].tolist()
        for uniform in own_numbers(4, stream, 20):
            past.append(next_symbol(model, past, uniform))
        assert found[stream].tolist() == past[3:]


def test_a_beginning_longer_than_the_context_is_read_from_its_end():
    beginning = torch.zeros(7, 1, dtype=torch.int64)
    found = sample(counting(9), streams=1, length=4, first=beginning, seed=0, choice=Choice(temperature=0), context=4)
    assert joined(found).tolist() == [[2, 3, 4, 2]]


@pytest.mark.parametrize("group", [1, 2, 3, 64])
def test_a_stream_does_not_depend_on_how_many_are_written_side_by_side(group):
    model = language_model("lstm")
    together = joined(sample(model, streams=7, length=30, first=5, seed=1, group=7))
    np.testing.assert_array_equal(joined(sample(model, streams=7, length=30, first=5, seed=1, group=group)), together)
    np.testing.assert_array_equal(
        joined(sample(model, streams=4, length=30, first=5, seed=1, group=group)), together[:4]
    )


def test_symbols_do_not_depend_on_the_size_of_blocks(monkeypatch):
    model = language_model("transformer")
    whole = list(sample(model, streams=3, length=23, first=5, seed=1, context=6, group=2))
    assert [(block.stream, block.step, block.symbols.shape) for block in whole] == [(0, 0, (2, 23)), (2, 0, (1, 23))]
    monkeypatch.setattr(streams, "STEPS", 10)
    cut = list(sample(model, streams=3, length=23, first=5, seed=1, context=6, group=2))
    assert [(block.stream, block.step, block.symbols.shape) for block in cut] == [
        *[(0, 0, (2, 10)), (0, 10, (2, 10)), (0, 20, (2, 3))],
        *[(2, 0, (1, 10)), (2, 10, (1, 10)), (2, 20, (1, 3))],
    ]
    np.testing.assert_array_equal(joined(cut), joined(whole))


def test_the_same_seed_gives_the_same_streams_and_another_one_others():
    one, two, other = (joined(sample(markov(), streams=2, length=50, first=0, seed=s)).tolist() for s in (4, 4, 5))
    assert one == two != other
    assert one[0] != one[1]


def test_more_than_fits_into_memory_is_given_block_by_block():
    blocks = sample(markov(), streams=10**9, length=10**12, first=0, seed=0, group=2)
    assert [block.step for block in itertools.islice(blocks, 2)] == [0, STEPS]


@pytest.mark.parametrize(("classes", "dtype"), [(3, np.uint8), (257, np.uint16)])
def test_symbols_take_as_few_bytes_as_the_classes_allow(classes, dtype):
    uniform = ByHand(torch.zeros(1, classes, classes))
    block = next(sample(uniform, streams=2, length=5, first=0, seed=0))
    assert block.symbols.dtype == dtype


def test_nothing_is_dropped_out_and_the_model_is_left_as_it_was(monkeypatch):
    monkeypatch.setattr(streams, "STEPS", 10)
    still = joined(sample(language_model("lstm").eval(), streams=2, length=20, first=5, seed=0))
    model = language_model("lstm", dropout=0.9).train()
    model.cell.eval()
    before, numbers = torch.get_rng_state(), repr(np.random.get_state())
    blocks = sample(model, streams=2, length=20, first=5, seed=0)
    found = [next(blocks)]
    # Between blocks, too: whoever never asks for the last one has a model that can be trained.
    assert model.training
    assert not model.cell.training
    assert torch.is_grad_enabled()
    np.testing.assert_array_equal(joined([*found, *blocks]), still)
    assert model.training
    assert torch.equal(torch.get_rng_state(), before)
    assert repr(np.random.get_state()) == numbers


def test_the_model_is_called_at_rest_and_without_gradients():
    model = markov().train()
    joined(sample(model, streams=2, length=5, first=0, seed=0))
    assert model.modes == {(False, False)}


def test_the_model_is_left_as_it_was_where_sampling_fails():
    model = language_model("lstm").train()
    torch.nn.init.constant_(model.head.bias, math.nan)
    with pytest.raises(InputError, match="infinite or NaN"):
        joined(sample(model, streams=2, length=5, first=0, seed=0))
    assert model.training
    assert torch.is_grad_enabled()


@final
class _CountingProgress(Progress, Stage):
    """Counts progress."""

    total = done = 0.0

    def stage(self, name: str, total: float, done: float = 0.0) -> Stage:
        self.total += total
        return self

    def say(self, remark: str) -> None: ...

    def advance(self, amount: float = 1.0) -> None:
        self.done += amount

    def close(self) -> None: ...


def test_progress_counts_symbols():
    told = _CountingProgress()
    joined(sample(markov(), streams=5, length=7, first=0, seed=0, group=2, progress=told))
    assert told.done == told.total == 35


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"streams": 0}, "streams is 0; expected a whole number of 1 or more"),
        ({"length": 1.5}, "length is 1.5"),
        ({"group": 0}, "group is 0"),
        ({"seed": -1}, "seed is -1; expected a whole number of 0 or more"),
        ({"seed": True}, "seed is True"),
        ({"context": 0}, "context is 0"),
        ({"context": 4, "kept": 0}, "kept is 0"),
        ({"context": 4, "kept": 5}, "kept is 5 and context 4; expected at most the context"),
        ({"kept": 5}, "kept is 5 and context None"),
        ({"first": 6}, "first holds the symbol 6; expected numbers from 0 to 5"),
        ({"first": -1}, "first holds the symbol -1"),
        ({"first": 0.5}, "first holds torch.float32 values"),
        ({"first": torch.zeros(4, dtype=torch.int64)}, r"first has shape \(4,\); expected one symbol"),
        ({"first": torch.zeros(0, 3, dtype=torch.int64)}, r"first has shape \(0, 3\)"),
    ],
)
def test_a_wrong_request_is_refused_before_anything_is_drawn(wrong, words):
    right = {"streams": 3, "length": 5, "first": 0, "seed": 0}
    with pytest.raises(InputError, match=words):
        sample(language_model("lstm"), **{**right, **wrong})


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (ReadoutModel(LSTM(3, 4), 3), "reads features and predicts 3 classes"),
        (ReadoutModel(LSTM(3, 4), 2, symbols=3), "reads 3 symbols and predicts 2 classes"),
    ],
    ids=["features", "other classes"],
)
def test_a_model_that_cannot_read_what_it_writes_is_rejected(model, words):
    with pytest.raises(InputError, match=words):
        sample(model, streams=1, length=5, first=0, seed=0)

"""Attention maps: causal, whole, with the numbers of uniform attention; the relevant set as the plain lists have it."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
import torch
from oracle_relevance import REL_LSTM, REL_RNN

from memspan.cells import CELLS, RelLSTM, RelRNN
from memspan.diagnostics import attention_map
from memspan.diagnostics.attention import has_attention, in_blocks, relevant_states, screening_of
from memspan.errors import InputError
from memspan.models.model import ReadoutModel
from memspan.tasks.synthetic import RECALLED, Copy

TASK = Copy(delay=25)
ATTENTIVE = ("mem-rnn", "mem-lstm", "rel-rnn", "rel-lstm", "transformer")


def network(word: str, seed: int = 0) -> ReadoutModel:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return ReadoutModel(CELLS[word](TASK.features, 8), TASK.classes, symbols=TASK.symbols)


def uniform(word: str) -> ReadoutModel:
    """All scores are equal: v = 0."""
    net = network(word)
    with torch.no_grad():
        cast(Any, net.cell.first).v.zero_()
    return net


@pytest.mark.parametrize("word", ATTENTIVE)
def test_every_step_gives_all_its_attention_and_none_to_the_future(word):
    seen, _ = attention_map(network(word), TASK, sequences=3)
    assert seen.weights.shape == (TASK.length, TASK.length)
    first = 0 if word == "transformer" else 1  # nothing is there to look at in the first step of the others
    np.testing.assert_allclose(seen.weights[first:].sum(1), 1.0, atol=1e-4)  # 6 digits of 45 weights are kept
    assert not np.triu(seen.weights, 1).any()


def test_uniform_attention_over_all_past_states_has_their_number_and_half_their_distance():
    seen, relevant = attention_map(uniform("mem-rnn"), TASK, sequences=2)
    past = np.arange(TASK.length - RECALLED, TASK.length)  # states before each answer
    assert relevant is None
    assert seen.states == pytest.approx(past.mean(), rel=1e-5)
    assert seen.distance == pytest.approx(((past + 1) / 2).mean(), rel=1e-5)


def test_uniform_attention_over_a_screened_memory_is_shared_by_what_it_holds():
    seen, relevant = attention_map(uniform("rel-lstm"), TASK, sequences=2)
    assert relevant is not None
    assert (relevant.short_term, relevant.relevant) == (10, 10)
    assert seen.states == pytest.approx(20, rel=1e-5)
    assert relevant.share == pytest.approx(0.5, rel=1e-5)


@pytest.mark.parametrize(("kind", "oracle"), [(RelRNN, REL_RNN), (RelLSTM, REL_LSTM)])
def test_the_relevant_set_is_that_of_the_plain_lists(kind, oracle):
    torch.manual_seed(0)
    cell = kind(3, 5, short_term=3, relevant=4, dtype=torch.float64)
    with torch.no_grad():
        cell.first.v *= 5
    inputs = torch.randn(30, 2, 3, dtype=torch.float64)
    net = ReadoutModel(cell, 2)
    screening = screening_of(net)
    assert screening is not None
    held = relevant_states(cell.attention(inputs), screening)
    replaced = 0
    for b in range(2):
        state = oracle.start(cell.first)
        for t, x in enumerate(inputs[:, b]):
            now = sorted(event.time for event in state.relevant)
            assert held[t, b].nonzero().flatten().tolist() == now
            _, state = oracle.step(cell.first, x, state)
            replaced += len(now) == 4 and now != sorted(event.time for event in state.relevant)
    assert replaced  # else nothing was chosen, only gathered


def test_long_sequences_are_shown_in_blocks_that_keep_the_sums(monkeypatch):
    net = network("rel-rnn")
    whole, all_held = attention_map(net, TASK, sequences=3)
    monkeypatch.setattr("memspan.diagnostics.attention.MAX_WEIGHTS", 1)
    monkeypatch.setattr("memspan.diagnostics.attention.block_size", lambda steps: 4)
    pooled, held = attention_map(net, TASK, sequences=3)
    assert (pooled.block, pooled.weights.shape) == (4, (12, 12))
    np.testing.assert_allclose(pooled.weights, in_blocks(whole.weights, 4), atol=1e-4)
    np.testing.assert_allclose(pooled.weights[1:].sum(1), 1.0, atol=1e-4)
    assert held is not None
    assert all_held is not None
    assert held.held[-1].sum() == pytest.approx(10, abs=1e-4)
    assert (pooled.states, pooled.distance) == pytest.approx((whole.states, whole.distance))


def test_a_cell_without_attention_is_recognized_and_rejected():
    assert [word for word in CELLS if has_attention(network(word))] == [
        *("mem-rnn", "mem-lstm", "sab-lstm", "rel-rnn", "rel-lstm", "transformer")
    ]
    with pytest.raises(InputError, match="no attention"):
        attention_map(network("lstm"), TASK)

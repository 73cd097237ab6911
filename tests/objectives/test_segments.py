"""Lines and windows of a text, pairs of them, and what a model makes of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from memspan.cells import CELLS
from memspan.errors import InputError
from memspan.models.awd_lstm import AwdLstm, Dropouts
from memspan.models.model import SequenceModel
from memspan.objectives.segments import Padded, draw_pairs, lines, log_likelihoods, pooled, windows

STEADY = Dropouts(embedding=0.0, input=0.0, hidden=0.0, weight=0.0, output=0.0, latent=0.0)
CLOSE = 1e-5


def model_of(word: str):
    torch.manual_seed(0)
    if word == "awd-lstm":
        return AwdLstm(9, embedding=4, hidden=6, last=5, layers=2, experts=2, dropouts=STEADY)
    return SequenceModel(CELLS[word](4, 8, 2), 9)


def padded(*rows: list[int]) -> Padded:
    longest = max(map(len, rows))
    return Padded(torch.tensor([row + [8] * (longest - len(row)) for row in rows]).T, torch.tensor([*map(len, rows)]))


def test_lines_are_cut_and_keep_their_end():
    text = np.array([1, 2, 3, 4, 5, 0, 0, 6, 0, 7, 7])
    found = lines(text, end=0, length=4)
    assert found.lengths.tolist() == [4, 2]
    assert found.symbols.tolist() == [[1, 2, 3, 0], [6, 0, 0, 0]]  # what is unfinished is no line
    taken = found.take(np.array([1, 1]))
    assert taken.symbols.tolist() == [[6, 6], [0, 0]]
    assert taken.mask.all()


@pytest.mark.parametrize(
    ("cut", "message"),
    [
        (lambda: lines(np.array([1, 2, 0]), end=0), "has 1 non-empty lines; expected two or more"),
        (lambda: lines(np.array([1, 2]), end=0), "has 0 non-empty lines"),
        (lambda: windows(np.arange(50), length=40), "has 1 segments of 40 symbols"),
        (lambda: windows(np.arange(50), length=1), "segments have 1 symbols; expected a whole number of 2"),
        (lambda: windows(np.arange(50), length=5, gap=-1), "the gap between segments is -1"),
    ],
)
def test_a_text_without_pairs_is_rejected(cut, message):
    with pytest.raises(InputError, match=message):
        cut()


def test_pairs_follow_each_other_and_proposals_are_geometric_up_to_the_end_of_the_text():
    count, drawn = 5, draw_pairs(5, 200_000, np.random.default_rng(0), rate=0.3)
    assert (drawn.next == drawn.first + 1).all()
    assert np.bincount(drawn.first) / 200_000 == pytest.approx(np.full(4, 0.25), abs=0.01)
    assert np.bincount(drawn.other) / 200_000 == pytest.approx(np.full(5, 0.2), abs=0.01)
    assert (drawn.near >= drawn.next).all()
    assert drawn.near.max() == count - 1
    for following in range(1, count):
        mine = drawn.next == following
        shares = np.bincount(drawn.near[mine] - following, minlength=count - following) / mine.sum()
        exact = 0.7 ** np.arange(count - following)
        assert shares == pytest.approx(exact / exact.sum(), abs=0.01)
        told = {
            int(d): float(p)
            for d, p in zip(drawn.near[mine] - following, np.exp(drawn.log_proposal[mine]), strict=True)
        }
        assert [told[d] for d in range(count - following)] == pytest.approx(list(exact / exact.sum()))


def test_one_behind_the_other_is_what_stands_in_the_text():
    both = padded([1, 2, 3], [4]).followed_by(padded([5], [6, 7]))
    assert both.lengths.tolist() == [4, 3]
    assert both.symbols.T.tolist() == [[1, 2, 3, 5], [4, 6, 7, 0]]


@pytest.mark.parametrize("word", ["lstm", "rel-rnn", "transformer", "awd-lstm"])
def test_what_a_segment_is_pooled_to_does_not_depend_on_what_stands_behind_it(word):
    model, alone = model_of(word), padded([1, 2, 3])
    beside = padded([1, 2, 3], [4, 5, 6, 7, 1, 2])
    vectors = pooled(model, beside)
    assert torch.allclose(vectors[0], pooled(model, alone)[0], atol=CLOSE)
    outputs, _ = model.outputs(alone.symbols)
    assert len(outputs) == 2
    assert torch.allclose(vectors[0], torch.cat([h.amax(0) for h in outputs], -1)[0], atol=CLOSE)
    assert (pooled(model, beside, padding=True)[0] >= vectors[0]).all()
    assert not torch.allclose(pooled(model, beside, padding=True)[0], vectors[0])


def test_padded_lines_are_pooled_with_their_filler_in_any_batch():
    found = lines(np.array([1, 2, 0, 3, 4, 5, 6, 7, 0, 4, 0]), end=0, length=6, filler=8)
    model, exact = model_of("lstm"), torch.tensor([[1, 2, 0, 8, 8, 8]]).T
    outputs, _ = model.outputs(exact)
    expected = torch.cat([hidden.amax(0) for hidden in outputs], -1)[0]
    for which in ([0], [0, 1], [0, 2]):
        vectors = pooled(model, found.take(np.array(which), whole=True), padding=True)
        assert torch.allclose(vectors[0], expected, atol=CLOSE)


@pytest.mark.parametrize("word", ["lstm", "rel-rnn", "transformer", "awd-lstm"])
def test_a_likelihood_is_the_product_over_the_symbols_of_the_second_segment(word):
    model = model_of(word)
    first, second = ([1, 2, 3], [4]), ([5, 6], [7, 1, 2])
    found = log_likelihoods(model, padded(*first), padded(*second))
    for number, (x, y) in enumerate(zip(first, second, strict=True)):
        text = torch.tensor([x + y]).T
        log_p = model(text[:-1]).logits.log_softmax(-1).detach()
        exact = sum(log_p[len(x) - 1 + place, 0, symbol] for place, symbol in enumerate(y)) / len(y)
        assert found[number].item() == pytest.approx(float(exact), abs=CLOSE)


def test_every_layer_of_a_cell_is_given_as_the_next_one_reads_it():
    cell = CELLS["gru"](3, 4, 3, batch_first=True)
    x = torch.randn(2, 5, 3)
    outputs, state = cell.outputs(x)
    whole, after = cell(x)
    assert torch.equal(outputs[-1], whole)
    assert torch.equal(state[0], after[0])
    assert [tuple(output.shape) for output in outputs] == [(2, 5, 4)] * 3
    assert torch.equal(torch.stack([output[:, -1] for output in outputs]), after[0])


def test_proposals_are_probabilities():
    drawn = draw_pairs(1_000, 50, np.random.default_rng(1))
    assert (drawn.log_proposal <= math.log(0.31)).all()

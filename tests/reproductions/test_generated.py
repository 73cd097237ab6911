"""Claims about language models of words and characters: they hold for one outcome and fail for another."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from tests.figures import training_examples

from memspan.reproductions.chen2018 import ptb_words
from memspan.reproductions.chen2018.ptb_words import PRINTED, WIDTHS
from memspan.reproductions.kerg2020 import ptb_characters
from memspan.results import TrainingRun


def training(cell: str = "lstm", loss: float = 1.0) -> TrainingRun:
    return dataclasses.replace(training_examples.training(), cell=cell, loss=loss)


def test_words_are_judged_by_the_printed_perplexities():
    def learnt(**perplexities: float):
        cells = dict(zip(("minimal-rnn", "gru", "lstm"), perplexities.values(), strict=True))
        return {cell: training(cell=cell, loss=math.log(value)) for cell, value in cells.items()}

    as_printed = learnt(minimal=101.4, gru=99.5, lstm=95.4)
    worse = learnt(minimal=150.0, gru=120.0, lstm=160.0)
    assert [claim.holds for claim in ptb_words._printed(5, as_printed)] == [True] * 3
    assert [claim.holds for claim in ptb_words._printed(5, worse)] == [False] * 3
    assert [claim.holds for claim in ptb_words._compared(as_printed)] == [True, True]
    assert [claim.holds for claim in ptb_words._compared(worse)] == [False, False]


@pytest.mark.parametrize("millions", [5, 20])
def test_networks_of_equal_size_have_equal_size(millions: int):
    from memspan.cells.names import CELLS

    for cell, width in WIDTHS[millions].items():
        inner = sum(weights.numel() for weights in CELLS[cell](width, width).parameters())
        assert inner + 2 * 10_000 * width + 10_000 == pytest.approx(millions * 1e6, rel=0.03)
    assert set(PRINTED[millions]) == set(WIDTHS[millions])


def test_characters_are_judged_in_bits():
    two_bits = training(cell="lstm", loss=2 * math.log(2))
    assert ptb_characters._as_printed("lstm", two_bits).measured == pytest.approx(2.0)
    assert not ptb_characters._as_printed("lstm", two_bits).holds
    fewer = {"rel-lstm": training(loss=np.log(2)), "lstm": two_bits}
    assert [claim.holds for claim in ptb_characters._ranks(fewer)] == [True]
    more = {"rel-lstm": two_bits, "lstm": training(loss=np.log(2))}
    assert [claim.holds for claim in ptb_characters._ranks(more)] == [False]


def test_characters_are_ranked_as_in_the_table_or_not():
    cells = ("rnn", "orthogonal-rnn", "exp-rnn", "rel-rnn", "lstm", "rel-lstm")
    for order, holds in ((cells, True), (cells[::-1], False)):
        trained = {cell: training(loss=2 - 0.1 * place) for place, cell in enumerate(order)}
        claims = ptb_characters._ranks(trained)
        assert [claim.holds for claim in claims] == [holds] * 6
        assert claims[0].paper == pytest.approx(0.03)

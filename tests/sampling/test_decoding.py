"""Symbols are drawn with the probabilities that temperature, top-k and top-p leave, and no others."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.stats import chisquare

from memspan.errors import InputError
from memspan.sampling import Choice

DRAWS = 4_000
LOGITS = [1.5, -0.5, 0.0, 2.0, -3.0, 0.7]
MANY = np.random.default_rng(5).normal(size=700).tolist()
"""More classes than are looked at first for top-p."""
CHOICES = [
    Choice(),
    Choice(temperature=0.5),
    Choice(temperature=3.0),
    Choice(top_k=3),
    Choice(top_k=100),
    Choice(top_p=0.75),
    Choice(top_p=1.0),
    Choice(temperature=2.0, top_k=4, top_p=0.9),
]


def plain_law(logits: list[float], choice: Choice) -> NDArray[np.float64]:
    """The definition, symbol by symbol."""
    p = np.array([math.exp(z / choice.temperature) for z in logits])
    likeliest = sorted(range(len(p)), key=lambda i: -p[i])[: choice.top_k]
    left: list[int] = []
    for symbol in likeliest:
        if sum(p[left]) < (choice.top_p or 1) * sum(p[likeliest]):
            left.append(symbol)
    law = np.zeros(len(p))
    law[left] = p[left] / sum(p[left])
    return law


def rows(logits: list[float], count: int) -> torch.Tensor:
    return torch.tensor(logits, dtype=torch.float64).expand(count, -1)


@pytest.mark.parametrize("logits", [LOGITS, MANY], ids=["few", "many"])
@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_each_symbol_has_a_stretch_of_its_probability(choice, logits):
    uniform = (torch.arange(DRAWS) + 0.5) / DRAWS
    drawn = choice.at(rows(logits, DRAWS), uniform.double())
    counts = np.bincount(drawn, minlength=len(logits))
    law = plain_law(logits, choice)
    # A stretch of length p holds N p of N numbers at equal distances, give or take one.
    np.testing.assert_allclose(counts, DRAWS * law, rtol=0, atol=1.001)
    assert not counts[law == 0].any()


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_frequencies_are_those_of_the_law(choice):
    drawn = choice.draw(rows(LOGITS, DRAWS), torch.Generator().manual_seed(1))
    counts, law = np.bincount(drawn, minlength=len(LOGITS)), plain_law(LOGITS, choice)
    assert not counts[law == 0].any()
    assert chisquare(counts[law > 0], DRAWS * law[law > 0]).pvalue > 0.001


def test_rows_are_drawn_each_from_its_own_law():
    logits = torch.tensor([LOGITS, LOGITS[::-1], MANY[:6]])
    uniform = torch.tensor([0.3, 0.3, 0.9], dtype=torch.float64)
    for choice in CHOICES:
        alone = [int(choice.at(logits[i : i + 1], uniform[i : i + 1])) for i in range(3)]
        assert choice.at(logits, uniform).tolist() == alone


@pytest.mark.parametrize(("choice", "left"), [(Choice(top_k=2), 2), (Choice(top_p=0.5), 2), (Choice(top_p=0.51), 3)])
def test_of_equally_likely_symbols_the_requested_number_remains(choice, left):
    uniform = (torch.arange(1000) + 0.5).double() / 1000
    assert len(set(choice.at(torch.zeros(1000, 4), uniform).tolist())) == left


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_the_ends_of_the_unit_interval_draw_nothing_impossible(choice):
    logits = torch.tensor([[-math.inf, 0.1, 0.2, -math.inf]]).expand(2, -1)
    ends = torch.tensor([0.0, 1 - 2**-53], dtype=torch.float64)
    assert set(choice.at(logits, ends).tolist()) <= {1, 2}


@pytest.mark.parametrize("temperature", [0, 0.0, 1e-300, 1e-4])
def test_a_temperature_towards_zero_takes_the_likeliest(temperature):
    drawn = Choice(temperature=temperature).draw(rows(LOGITS, 1000), torch.Generator())
    assert (drawn == LOGITS.index(max(LOGITS))).all()


def test_at_temperature_zero_the_first_of_equals_is_taken():
    assert Choice(temperature=0).draw(torch.tensor([[1.0, 3.0, 3.0]]), torch.Generator()).tolist() == [1]


def test_random_numbers_are_those_of_the_generator_alone():
    before = torch.get_rng_state()
    one, two = (Choice().draw(rows(LOGITS, 100), torch.Generator().manual_seed(seed)).tolist() for seed in (7, 7))
    assert one == two
    assert one != Choice().draw(rows(LOGITS, 100), torch.Generator().manual_seed(8)).tolist()
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("precision", [torch.bfloat16, torch.float32])
def test_logits_of_any_precision_will_do(precision):
    uniform = (torch.arange(1000) + 0.5).double() / 1000
    halves = torch.zeros(1000, 2, dtype=precision)
    assert np.bincount(Choice().at(halves, uniform)).tolist() == [500, 500]


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("bad", [[0.0, math.nan], [0.0, math.inf], [-math.inf, -math.inf]], ids=str)
def test_non_finite_logits_are_rejected(bad, temperature):
    with pytest.raises(InputError, match="logits are infinite or NaN"):
        Choice(temperature=temperature).draw(torch.tensor([[0.0, 1.0], bad]), torch.Generator())


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"temperature": -0.1}, "temperature is -0.1; expected a number above 0"),
        ({"temperature": math.nan}, "temperature is nan"),
        ({"temperature": math.inf}, "temperature is inf"),
        ({"temperature": "hot"}, "temperature is 'hot'"),
        ({"top_k": 0}, "top_k is 0; expected a whole number of 1 or more"),
        ({"top_k": 2.5}, "top_k is 2.5"),
        ({"top_k": True}, "top_k is True"),
        ({"top_p": 0.0}, "top_p is 0.0; expected a probability above 0, at most 1"),
        ({"top_p": 1.1}, "top_p is 1.1"),
        ({"top_p": math.nan}, "top_p is nan"),
    ],
)
def test_invalid_values_are_rejected(wrong, words):
    with pytest.raises(InputError, match=words):
        Choice(**wrong)

"""Numbers and words that figures, sentences and tables share."""

import math

import pytest

from memspan.presentation.curve import law_words, short, symbols_word
from memspan.presentation.draw.style import look
from memspan.presentation.numbers import count, number, probability, trimmed, with_error, with_interval
from memspan.results import LawFit


@pytest.mark.parametrize(
    ("amount", "words"),
    [(0, "0"), (9_999, "9,999"), (10_000, "10 k"), (999_499, "999 k"), (999_500, "1.0 M"), (9_960_000, "10 M")],
)
def test_counts_round_without_a_gap_between_units(amount, words):
    assert count(amount) == words


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.0, "0"),
        (0.1, "0.100"),
        (0.00009999, "0.000100"),
        (0.0000999, "9.99e-5"),
        (999_999.0, "1.00e6"),
        (123_456.0, "123,000"),
        (-0.5, "-0.500"),
        (9.999, "10.0"),
        (math.inf, "infinite"),
        (None, "unknown"),
    ],
)
def test_numbers_have_three_significant_digits(value, words):
    assert number(value) == words


def test_zeros_at_the_end_are_trimmed_but_not_those_that_count():
    assert [trimmed(value) for value in (0.0010, 10.0, 100.0, 1e-7, math.nan)] == [
        "0.001",
        "10",
        "100",
        "1e-7",
        "unknown",
    ]


def test_an_interval_never_hides_its_value():
    assert with_interval(0.4, (0.1, 9000.0)) == "0.400 [0.100, 9,000]"
    assert with_interval(0.16, (0.09, 0.31)) == "0.16 [0.09, 0.31]"
    assert with_interval(0.41, (math.nan, 0.5)) == "0.410"
    assert with_interval(90_000.0, (900.0, 8e8)) == "90,000 [900, 8.00e8]"
    assert with_interval(0.5, (0.5, 0.5)) == "0.500 [0.500, 0.500]"


def test_an_error_sets_the_decimals_of_its_value():
    assert with_error(12.345, 0.67) == "12.35 ± 0.67"
    assert with_error(0.1, math.nan) == "0.100 ± unknown"


def test_small_probabilities_are_bounded():
    assert [probability(p) for p in (0.0, 0.5, math.nan)] == ["p < 0.0001", "p = 0.5", "p unknown"]


@pytest.mark.parametrize(
    ("symbols", "amount", "word"),
    [("chars", 1, "character"), ("bpe:tokenizer.json", 2, "tokens"), ("notes", 1, "symbol"), ("dna", 0, "bases")],
)
def test_symbols_have_names_in_both_numbers(symbols, amount, word):
    assert symbols_word(symbols, amount) == word


def test_a_law_is_told_by_its_shape_and_not_by_its_amplitude():
    fit = LawFit({"amplitude": 1.0, "length": 20.0, "stretch": 0.5}, {}, 1.0, 1.0, 1.0)
    assert law_words("stretched", fit) == "stretched exponential, length 20.0, stretch 0.500"


def test_a_long_name_keeps_both_ends():
    assert short("x" * 30 + ".txt", 11) == "xxxxx…x.txt"


def test_twenty_lines_all_look_different():
    looks = [look(position) for position in range(20)]
    assert len({(entry.color, entry.marker) for entry in looks}) == 20

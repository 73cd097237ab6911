"""Strings and their periods, runs and bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memspan.errors import InputError
from memspan.memorization import PeriodicString, change_bound, size_bound, sufficient
from memspan.memorization.harmonics import size_of


@given(st.text("abc", min_size=1, max_size=12), st.integers(1, 4))
def test_repeating_a_string_does_not_change_its_period(text, times):
    once, often = PeriodicString.of(text), PeriodicString.of(text * times)
    assert often.text == once.text
    assert often.given == times * len(text)


@given(st.text("ab", min_size=1, max_size=14))
def test_the_period_gives_the_string_back_and_nothing_shorter_does(text):
    string = PeriodicString.of(text)
    assert (string.text * len(text))[: len(text)] == text
    shorter = [p for p in range(1, string.period) if len(text) % p == 0]
    assert all(text[:p] * (len(text) // p) != text for p in shorter)


def test_an_end_symbol_makes_the_whole_string_the_period():
    string = PeriodicString.of("abab", terminate=True)
    assert (string.period, string.text, string.alphabet) == (5, "abab<END>", ("a", "b", "<END>"))


def test_words_are_symbols():
    string = PeriodicString.of(["to", "be", "or", "not", "to", "be"])
    assert (string.period, string.text) == (6, "to be or not to be")


@pytest.mark.parametrize("text", ["", []])
def test_an_empty_string_is_refused(text):
    with pytest.raises(InputError, match="the string is empty; give one symbol or more"):
        PeriodicString.of(text)


def test_an_end_symbol_in_the_string_is_refused():
    with pytest.raises(InputError, match="the string holds it already"):
        PeriodicString.of(["a", "<END>"], terminate=True)


@pytest.mark.parametrize(
    ("text", "bound"), [("00000111", 2), ("0010111", 4), ("0101", 1), ("01010011", 6), ("0101001", 6)]
)
def test_two_symbols_need_no_more_units_than_they_change_or_the_period_less_one(text, bound):
    assert change_bound(PeriodicString.of(text)) == bound


@given(st.text("ab", min_size=2, max_size=16))
def test_counting_runs_never_gives_more_than_counting_changes(text):
    string = PeriodicString.of(text)
    assert size_bound(string) <= change_bound(string)


@given(st.text("abcd", min_size=2, max_size=16))
def test_the_frequencies_that_suffice_fit_into_the_bound(text):
    string = PeriodicString.of(text)
    assert max(1, size_of(string.period, sufficient(string))) == size_bound(string) <= max(1, string.period - 1)


def test_every_other_symbol_is_counted_around_the_period():
    assert PeriodicString.of("abba").runs.tolist() == [1, 1]
    assert PeriodicString.of("abba").changes == 2

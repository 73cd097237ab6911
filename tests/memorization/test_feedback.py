"""One hidden unit: its capacity, exactly, and strings that repeat forever, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.memorization.feedback import Feedback, capacity, code_of
from memspan.memorization.strings import PeriodicString

CAPACITIES = {2: 52, 3: 32, 5: 22, 8: 17, 26: 11}
"""floor(52 / log2 n)."""


def string_of(codes: list[int] | NDArray[np.int64], n_symbols: int) -> PeriodicString:
    """A string over n symbols, whether or not each occurs, that is not shortened to its period."""
    alphabet = tuple(chr(ord("a") + j) for j in range(n_symbols))
    return PeriodicString(np.array(codes), alphabet, "", len(codes))


def written_once(string: PeriodicString) -> bool:
    return np.array_equal(Feedback().build(string).run(string.period)[1], string.codes)


def near_a_threshold(n: int, length: int, rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """Strings that end in one symbol only, from any place on; the last two have the lowest and the highest digit, so
    that the state at that place lies next to a threshold."""
    strings = []
    for place in range(length):
        for symbol in {0, 1, n // 2, n - 2, n - 1}:
            for before in (np.full(length, symbol), rng.integers(0, n, length)):
                for tail in {0, n - 2, n - 1}:
                    codes = np.where(np.arange(length) < place, before, tail)
                    codes[place] = symbol
                    strings.append(codes)
    return strings


@pytest.mark.parametrize(("n", "length"), CAPACITIES.items())
def test_every_string_of_exactly_the_capacity_is_written(n: int, length: int) -> None:
    assert capacity(n) == length
    rng = np.random.default_rng(n)
    for codes in [*near_a_threshold(n, length, rng), *rng.integers(0, n, (100, length))]:
        assert written_once(string_of(codes, n)), codes


@pytest.mark.parametrize(("n", "length"), CAPACITIES.items())
def test_one_symbol_more_than_the_capacity_is_refused_with_the_capacity(n: int, length: int) -> None:
    with pytest.raises(InputError, match=rf"{length + 1} symbols .* holds {length} .*--method spectral"):
        Feedback().build(string_of(np.arange(length + 1) % n, n))


def test_the_capacity_is_computed_without_rounding() -> None:
    for n in range(2, 300):
        length = capacity(n)
        assert length is not None
        assert n**length <= 2**52 < n ** (length + 1)


def test_alphabets_of_up_to_256_symbols_are_held_to_capacity() -> None:
    rng = np.random.default_rng(0)
    for n in [*range(2, 32), *range(33, 257, 13), 256]:
        length = capacity(n) or 0
        for codes in [*rng.integers(0, n, (3, length)), [n - 1] * length, [0, *[n - 2] * (length - 1)]]:
            assert written_once(string_of(codes, n)), (n, codes)


@given(st.data())
def test_any_string_within_the_capacity_is_written(data: st.DataObject) -> None:
    n = data.draw(st.integers(2, 40))
    codes = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=capacity(n)))
    assert written_once(string_of(codes, n))


def test_abracadabra_comes_back_for_ever_bit_for_bit() -> None:
    network = Feedback().build("abracadabra")
    states, symbols = network.run(110_000)
    assert network.hidden_size == 1
    assert network.written(symbols) == "abracadabra" * 10_000
    np.testing.assert_array_equal(states[11:], states[:-11])


@given(st.data())
def test_a_symbol_that_occurs_once_brings_the_string_back_wherever_it_stands(data: st.DataObject) -> None:
    n = data.draw(st.integers(2, 33))
    period = data.draw(st.integers(1, 52 // (n - 1).bit_length()))
    single = data.draw(st.integers(0, n - 1))
    others = st.integers(0, n - 1).filter(lambda symbol: symbol != single)
    codes = data.draw(st.lists(others, min_size=period - 1, max_size=period - 1))
    codes.insert(data.draw(st.integers(0, period - 1)), single)
    assert code_of(string_of(codes, n)).repeats
    states, symbols = Feedback().build(string_of(codes, n)).run(5 * period)
    np.testing.assert_array_equal(symbols, np.tile(codes, 5))
    np.testing.assert_array_equal(states[period:], states[:-period])


def test_every_rotation_of_abracadabra_comes_back() -> None:
    for place in range(11):
        text = "abracadabra"[place:] + "abracadabra"[:place]
        assert Feedback().build(text).replay(1100) == text * 100


def test_a_string_too_long_for_the_base_of_two_but_within_the_capacity_is_written_once() -> None:
    text = "aabb" * 7 + "c"  # 29 symbols over three: 26 in base 4, 32 in base 3
    code = code_of(text)
    assert not code.repeats
    assert "longer than the 26 that are exact in base 4" in code.reason
    assert Feedback().build(text).replay(29) == text
    assert Feedback().build(text).replay(58) != text * 2


def test_a_string_without_a_single_symbol_says_that_it_is_written_once() -> None:
    assert not code_of("aabb").repeats
    assert "no symbol occurs exactly once" in code_of("aabb").reason
    assert Feedback().build("aabb").replay(4) == "aabb"


def test_one_symbol_needs_no_memory() -> None:
    assert capacity(1) is None
    assert code_of("aaa").repeats
    assert Feedback().build("aaa").replay(1000) == "a" * 1000


def test_an_alphabet_without_symbols_is_refused() -> None:
    with pytest.raises(InputError, match="expected 1 or more"):
        capacity(0)

"""Refutations are never wrong, and miss little: against linear programs solved by HiGHS."""

from __future__ import annotations

import numpy as np
import pytest

from memspan.memorization import PeriodicString, harmonics
from memspan.memorization.separation import LEAST, refuted, widest


def random_codes(letters: int, period: int, seed: int) -> np.ndarray:
    codes = np.random.default_rng(seed).integers(0, letters, period)
    return np.unique(codes, return_inverse=True)[1].astype(np.int64)


def sets_of(period: int, size: int) -> list[tuple[int, ...]]:
    return list(harmonics.sets_of_size(period, size, np.arange(1, period // 2 + 1)))


@pytest.mark.parametrize(
    ("letters", "period", "size"), [(2, 12, 4), (2, 16, 5), (2, 21, 6), (3, 16, 4), (5, 15, 4)]
)
def test_a_set_is_refuted_only_if_the_linear_program_finds_no_margin(letters, period, size):
    states = harmonics.table(period)
    for seed in range(3):
        codes = random_codes(letters, period, seed)
        sets = sets_of(period, size)
        chosen = np.array([harmonics.columns(period, f) for f in sets])
        margins = np.array([widest(states[:, c], codes, codes.max() + 1).margin for c in chosen])
        no = refuted(states, codes, chosen)
        assert not (no & (margins >= LEAST)).any()
        if letters == 2:  # one pair is all there is: what cannot be read is refuted
            assert np.array_equal(no, margins < LEAST)


def test_random_points_are_refuted_exactly_if_their_hulls_meet():
    # On general points, not on circles: coordinates drawn one by one.
    random = np.random.default_rng(0)
    met = 0
    for _ in range(300):
        points = random.standard_normal((random.integers(4, 12), 3))
        codes = np.arange(len(points)) % 2
        no = bool(refuted(points, codes, np.array([[0, 1, 2]]))[0])
        assert no == (widest(points, codes, 2).margin < LEAST)
        met += no
    assert 50 < met < 250  # both answers were asked for


def test_equal_states_of_different_symbols_are_refuted():
    codes = PeriodicString.of("aabbab").codes
    states = harmonics.table(6)
    # Frequency 2 of period 6 visits three states only, and the symbols at places 0 and 3 differ.
    assert refuted(states, codes, np.array([harmonics.columns(6, (2,))])).tolist() == [True]


def test_symbols_that_occur_once_refute_nothing():
    codes = np.arange(7)
    chosen = np.array([harmonics.columns(7, (1,))])
    assert refuted(harmonics.table(7), codes, chosen).tolist() == [False]
    assert widest(harmonics.table(7)[:, :2], codes, 7).margin > 0.01


def test_symbols_that_occur_twice_are_a_pair_in_either_order():
    # The weighted means of places 0, 2 and of 1, 3 of a square meet in its middle.
    codes = np.array([0, 1, 0, 1])
    square = harmonics.table(4)
    assert refuted(square, codes, np.array([[0, 1]])).tolist() == [True]
    assert refuted(square, 1 - codes, np.array([[0, 1]])).tolist() == [True]

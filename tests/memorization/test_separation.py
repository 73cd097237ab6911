"""Largest margins against closed forms, and refutations against linear programs solved by HiGHS."""

from __future__ import annotations

import numpy as np
import pytest

from memspan.memorization import PeriodicString, Rotation, harmonics
from memspan.memorization.separation import LEAST_MARGIN, full_readout, least_lead, refuted, widest, widest_within

SOLVER = 1e-7
"""The tolerances of HiGHS, with a safety margin."""


@pytest.mark.parametrize(("a", "b"), [(5, 3), (1, 4), (7, 7), (2, 9)])
def test_two_runs_have_the_margin_of_the_line_in_the_middle(a, b):
    p = a + b
    codes = np.repeat([0, 1], [a, b])
    states = harmonics.table(p)[:, :2]
    # Over directions in the box |w| <= 1 the gap along w is at least the gap along the runs' axis, scaled into the box.
    axis = np.array([np.cos((a - 1) * np.pi / p), np.sin((a - 1) * np.pi / p)])
    gap = np.cos((a - 1) * np.pi / p) + np.cos((b - 1) * np.pi / p)
    closed = gap / np.abs(axis).max()
    margin = widest(states, codes, 2).margin
    assert closed - SOLVER <= margin <= np.sqrt(2) * gap + SOLVER


def test_the_rotation_reaches_its_closed_form():
    network = Rotation().build("00000111")
    states, symbols = network.run(8)
    axis = np.array([np.cos(np.pi / 2), np.sin(np.pi / 2)])
    gap = np.cos(4 * np.pi / 8) + np.cos(2 * np.pi / 8)
    lead = least_lead(states @ network.W_y.T + network.b_y, symbols)
    assert lead == pytest.approx(gap / np.abs(axis).max(), abs=1e-12)


def test_alternating_symbols_lead_by_two():
    # One coordinate, +1 and -1, weights of at most one: 1 - (-1) at either place.
    assert widest(np.array([[1.0], [-1.0]]), np.array([0, 1]), 2).margin == pytest.approx(2, abs=SOLVER)


def test_what_cannot_be_told_apart_has_no_margin():
    square = harmonics.table(4)[:, :2]
    assert widest(square, np.array([0, 1, 0, 1]), 2).margin <= SOLVER


def test_no_weight_exceeds_one_and_the_largest_is_one():
    readout = widest(harmonics.table(11)[:, [4, 5]], np.array([0, 1, 4, 0, 2, 0, 3, 0, 1, 4, 0]), 5)
    assert np.abs(readout.W_y).max() == pytest.approx(1, abs=1e-12)
    assert readout.margin > 0.1


def test_a_single_symbol_leads_without_end():
    assert widest(np.ones((3, 2)), np.zeros(3, dtype=np.int64), 1).margin == np.inf


@pytest.mark.parametrize("period", [2, 5, 8, 33])
def test_all_frequencies_score_one_where_a_symbol_stands_and_zero_elsewhere(period):
    codes = np.random.default_rng(period).integers(0, 3, period)
    states = harmonics.table(period)
    readout = full_readout(states, codes, 3)
    scores = states @ readout.W_y.T + readout.b_y
    lead = np.sort(scores, axis=1)
    # Scaled to a largest weight of one, so every lead is the same.
    assert np.allclose(lead[:, -1] - lead[:, -2], readout.margin)
    assert readout.margin > 0
    assert np.array_equal(scores.argmax(axis=1), codes)


def test_a_program_that_takes_too_long_is_given_up():
    states = harmonics.table(400)
    codes = np.random.default_rng(0).integers(0, 26, 400)
    assert widest_within(0.01, states, codes, 26) is None


def random_codes(letters: int, period: int, seed: int) -> np.ndarray:
    codes = np.random.default_rng(seed).integers(0, letters, period)
    return np.unique(codes, return_inverse=True)[1].astype(np.int64)


def sets_of(period: int, size: int) -> list[tuple[int, ...]]:
    return list(harmonics.sets_of_size(period, size, np.arange(1, period // 2 + 1)))


@pytest.mark.parametrize(("letters", "period", "size"), [(2, 12, 4), (2, 16, 5), (2, 21, 6), (3, 16, 4), (5, 15, 4)])
def test_a_set_is_refuted_only_if_the_linear_program_finds_no_margin(letters, period, size):
    states = harmonics.table(period)
    for seed in range(3):
        codes = random_codes(letters, period, seed)
        sets = sets_of(period, size)
        chosen = np.array([harmonics.columns(period, f) for f in sets])
        margins = np.array([widest(states[:, c], codes, codes.max() + 1).margin for c in chosen])
        no = refuted(states, codes, chosen)
        assert not (no & (margins >= LEAST_MARGIN)).any()
        if letters == 2:  # one pair is all there is: what cannot be read is refuted
            assert np.array_equal(no, margins < LEAST_MARGIN)


def test_random_points_are_refuted_exactly_if_their_hulls_meet():
    # On general points, not on circles: coordinates drawn one by one.
    random = np.random.default_rng(0)
    met = 0
    for _ in range(300):
        points = random.standard_normal((random.integers(4, 12), 3))
        codes = np.arange(len(points)) % 2
        no = bool(refuted(points, codes, np.array([[0, 1, 2]]))[0])
        assert no == (widest(points, codes, 2).margin < LEAST_MARGIN)
        met += no
    assert 50 < met < 250  # both answers occur


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

"""The widest margin against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from memspan.memorization import Rotation, harmonics
from memspan.memorization.separation import least_lead, whole, widest, widest_within

SOLVER = 1e-7
"""HiGHS's own tolerances, with room."""


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
    readout = whole(codes, 3, states)
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

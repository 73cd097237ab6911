"""The recipes on networks that replay strings: their claims hold for several seeds, quickly, and can fail."""

from __future__ import annotations

from dataclasses import replace
from math import gcd
from typing import final

import numpy as np
import pytest

from memspan.memorization import PeriodicString, Rotation, coprime_powers
from memspan.progress import SILENT
from memspan.reproductions import RECIPES
from memspan.reproductions.memorization2023 import hidden_sizes, matrix_orders, two_runs
from memspan.reproductions.memorization2023.hidden_sizes import necklaces, two_unit_strings, two_units_suffice
from memspan.reproductions.memorization2023.matrix_orders import replaying_powers, totients
from memspan.reproductions.memorization2023.two_runs import line_distance
from memspan.reproductions.recipe import Computed, Outcome
from memspan.results import LinearNetwork

MEMORIZATION = (
    RECIPES["memorization-fig1"],
    RECIPES["memorization-fig2"],
    RECIPES["memorization-order8"],
    RECIPES["memorization-size"],
    RECIPES["errata-18"],
    RECIPES["errata-19"],
)
EXACT = 1e-12
"""Rounding errors of a handful of sines."""


def broken(outcome: Outcome) -> list[str]:
    """The claims that do not hold."""
    return [claim.claim for claim in outcome.claims if not claim.holds]


@pytest.mark.parametrize("recipe", MEMORIZATION, ids=lambda recipe: recipe.id)
def test_the_claims_hold_for_two_seeds(recipe: Computed) -> None:
    outcome = recipe.outcome("smoke", 0, SILENT)
    check_the_drawings_explain_themselves(outcome)
    assert broken(outcome) == []
    assert broken(recipe.outcome("smoke", 1, SILENT)) == []


def check_the_drawings_explain_themselves(outcome: Outcome) -> None:
    assert outcome.figures or outcome.orbits
    assert all(len(drawing.caption) > 80 for drawing in (*outcome.figures, *outcome.orbits))
    for orbit in outcome.orbits:
        assert len(orbit.points) == len(orbit.symbols) == 8
        assert len(orbit.weights) == len(orbit.bias)


@final
class Backwards:
    """Rotations by the right angle, clockwise."""

    def build(self, text: str) -> LinearNetwork:
        network = Rotation().build(text)
        return replace(network, W_h=network.W_h.T, h_0=network.W_h @ network.W_h @ network.h_0)


def test_a_turn_in_the_wrong_direction_does_not_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(two_runs, "Rotation", Backwards)
    turned, replayed = broken(RECIPES["memorization-fig1"].outcome("smoke", 0, SILENT))
    assert "45 degrees" in turned
    assert "replays" in replayed


def test_the_line_of_the_octagon_leaves_five_states_on_one_side() -> None:
    orbit = RECIPES["memorization-fig2"].outcome("smoke", 0, SILENT).orbits[0]
    scores = orbit.points @ orbit.weights.T + orbit.bias
    assert np.bincount(scores.argmax(axis=1)).tolist() == [5, 3]


def test_a_wrong_distance_does_not_pass_for_the_closed_form(monkeypatch: pytest.MonkeyPatch) -> None:
    assert abs(line_distance(5, 3) - np.sqrt(2) / 4) < EXACT
    monkeypatch.setattr(two_runs, "line_distance", lambda a, b: np.sin(np.pi / (a + b)))
    assert len(broken(RECIPES["memorization-fig2"].outcome("smoke", 0, SILENT))) == 3


def test_the_distance_falls_as_the_inverse_period_and_for_a_single_symbol_as_its_square() -> None:
    assert abs(line_distance(500, 500) - np.sin(np.pi / 1000)) < EXACT
    assert abs(line_distance(1, 999) - np.sin(np.pi / 1000) ** 2) < EXACT


def test_orders_that_theory_does_not_allow_would_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix_orders, "rational_orders", lambda size: [1, 2, 3, 4, 5, 6])
    assert len(broken(RECIPES["memorization-order8"].outcome("smoke", 0, SILENT))) == 1


def test_all_matrices_are_looked_at_and_no_order_is_missed() -> None:
    orders = matrix_orders._all_orders(1, SILENT)
    assert sum(orders.values()) == 3**9
    assert set(orders) == {0, 1, 2, 3, 4, 6}
    assert orders[1] == 1


def test_two_units_do_for_as_many_strings_as_the_formula_says() -> None:
    for period in range(3, 14):
        assert sum(map(two_units_suffice, necklaces(period))) == two_unit_strings(period)


def test_there_are_as_many_necklaces_as_moreau_counted() -> None:
    for period in range(1, 13):
        # Every word is a repetition of one of the rotations of one necklace whose period divides its length.
        divisors = [d for d in range(1, period + 1) if period % d == 0]
        assert sum(d * len(list(necklaces(d))) for d in divisors) == 2**period


def test_a_wrong_count_of_strings_does_not_pass() -> None:
    right = hidden_sizes.StringCount(8, 30, 12, 12, 2, 4)
    assert all(claim.holds for claim in hidden_sizes.count_claims([right]))
    assert [claim.holds for claim in hidden_sizes.count_claims([replace(right, found=13)])] == [False, False, True]
    assert [claim.holds for claim in hidden_sizes.count_claims([replace(right, smallest=1)])] == [True, True, False]


def test_the_powers_that_replay_are_those_coprime_to_the_period() -> None:
    for text in ("abracadabra", "aab", "ab", "abcabcabcabb"):
        assert replaying_powers(PeriodicString.of(text)) == coprime_powers(len(text))


def test_the_sieve_counts_coprime_numbers() -> None:
    counted = [sum(gcd(k, d) == 1 for k in range(1, d + 1)) for d in range(1, 101)]
    assert totients(100)[1:].tolist() == counted


def test_a_count_that_depends_on_the_alphabet_does_not_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix_orders, "replaying_powers", lambda string: coprime_powers(len(string.alphabet)))
    assert len(broken(RECIPES["errata-19"].outcome("smoke", 0, SILENT))) == len(matrix_orders.NAMED) + 2


def test_a_string_above_its_bound_or_unproven_or_not_replayed_would_be_told() -> None:
    case = hidden_sizes.SmallestNetwork(n=2, period=16, size=5, run_bound=6, bound=5, proven=True, replayed=True)
    assert all(claim.holds for claim in hidden_sizes.bound_claims([case]))
    faults = (replace(case, size=6), replace(case, replayed=False), replace(case, proven=False))
    for number, fault in enumerate(faults):
        holds = [claim.holds for claim in hidden_sizes.bound_claims([case, fault])]
        assert holds == [place != number for place in range(3)]


def test_a_different_average_does_not_pass() -> None:
    claims = hidden_sizes.average_claims("strings", [5, 5, 5, 4] * 50, (4.75, 0.43), 4.8)
    assert [claim.holds for claim in claims] == [True, True]
    claims = hidden_sizes.average_claims("strings", [5, 5, 5, 5] * 50, (4.75, 0.43), 4.8)
    assert [claim.holds for claim in claims] == [False, False]


@pytest.mark.slow
def test_all_binary_strings_of_period_16_have_the_average_that_is_claimed() -> None:
    strings = [PeriodicString(codes, ("0", "1"), "", 16) for codes in necklaces(16)]
    sizes = [hidden_sizes.smallest_network(2, string, 0).size for string in strings]
    assert len(sizes) == 4_080
    assert (round(float(np.mean(sizes)), 2), round(float(np.std(sizes)), 2)) == hidden_sizes.BINARY

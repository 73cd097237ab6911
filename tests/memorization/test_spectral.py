"""The smallest set of frequencies: against every set, tried one by one by another method."""

from __future__ import annotations

from functools import reduce
from itertools import combinations, product
from math import gcd

import numpy as np
import pytest
from scipy.optimize import linprog

from memspan.errors import InputError
from memspan.memorization import PeriodicString, Spectral, change_bound, size_bound
from memspan.memorization.harmonics import size_of, sufficient
from memspan.memorization.search import Deadline, OrbitTester, descend, search_from_below
from memspan.memorization.spectral import _network
from memspan.memorization.verification import replay
from memspan.progress import SILENT


def necklaces(period: int) -> list[str]:
    """One string of every class of binary strings whose shortest period is `period`."""
    seen: set[tuple[int, ...]] = set()
    found = []
    for bits in product((0, 1), repeat=period):
        if bits in seen or any(bits == bits[p:] + bits[:p] for p in range(1, period)):
            continue
        found.append("".join(map(str, bits)))
        for form in (bits, bits[::-1]):
            for turn in range(period):
                turned = form[turn:] + form[:turn]
                seen.add(turned)
                seen.add(tuple(1 - bit for bit in turned))
    return found


def random_string(letters: int, period: int, seed: int) -> str:
    """Symbols drawn one by one, each equally likely; drawn again while the string has a shorter period."""
    random = np.random.default_rng([letters, period, seed])
    while True:
        codes = random.integers(0, letters, period)
        if not any(np.array_equal(codes, np.roll(codes, p)) for p in range(1, period)):
            return "".join(chr(97 + code) for code in codes)


def waves(period: int, frequencies: tuple[int, ...]) -> np.ndarray:
    """cos and sin of every frequency at every place, written out; half the period has no sine."""
    place = np.arange(period)
    rows = []
    for f in frequencies:
        rows.append(np.cos(2 * np.pi * f * place / period))
        if 2 * f != period:
            rows.append(np.sin(2 * np.pi * f * place / period))
    return np.array(rows).T


def can_be_read(text: str, frequencies: tuple[int, ...]) -> bool:
    """Whether weights w, b exist with sign * (w . h + b) >= 1 at every place: feasibility alone, without a margin."""
    sign = np.array([1.0 if symbol == "0" else -1.0 for symbol in text])
    states = np.hstack([waves(len(text), frequencies), np.ones((len(text), 1))])
    solved = linprog(
        np.zeros(states.shape[1]), A_ub=-sign[:, None] * states, b_ub=-np.ones(len(text)), bounds=(None, None)
    )
    return solved.status == 0


def least_size(text: str) -> int:
    """The fewest hidden units, by trying every set of frequencies there is, smallest first."""
    period = len(text)
    every = range(1, period // 2 + 1)
    sets = [chosen for count in range(1, period // 2 + 1) for chosen in combinations(every, count)]
    size = {chosen: sum(1 if 2 * f == period else 2 for f in chosen) for chosen in sets}
    return next(size[chosen] for chosen in sorted(sets, key=size.__getitem__) if can_be_read(text, chosen))


@pytest.mark.parametrize("period", range(2, 13))
def test_no_set_of_frequencies_is_smaller_for_any_binary_string(period):
    for text in necklaces(period):
        solution = Spectral().solve(text)
        assert (solution.network.hidden_size, solution.minimal) == (least_size(text), True), text


@pytest.mark.slow
def test_the_size_does_not_depend_on_where_the_period_begins_its_direction_or_the_names():
    for text in necklaces(12):
        size = Spectral().solve(text).network.hidden_size
        swapped = text.translate(str.maketrans("01", "10"))
        for form in (text[5:] + text[:5], text[::-1], swapped):
            assert Spectral().solve(form).network.hidden_size == size, form


def test_walking_the_period_in_other_steps_does_not_change_the_size():
    text = random_string(3, 20, 4)
    size = Spectral().solve(text).network.hidden_size
    for step in (3, 7, 9, 11):
        walked = "".join(text[step * place % 20] for place in range(20))
        assert Spectral().solve(walked).network.hidden_size == size


def test_abracadabra_takes_one_plane_that_turns_three_times():
    solution = Spectral().solve("abracadabra")
    assert (solution.network.hidden_size, solution.frequencies, solution.minimal) == (2, (3,), True)


@pytest.mark.parametrize("letters", [2, 3, 8, 26])
def test_50_random_strings_replay_a_thousand_periods_within_their_bounds(letters):
    for number in range(50):
        period = 5 + number * 55 // 49
        text = random_string(letters, period, number)
        string = PeriodicString.of(text)
        network = Spectral(budget=0.02).build(string)
        assert replay(network, string.codes, 1_000 * period).symbols == 1_000 * period, text
        bound = change_bound(string) if len(string.alphabet) == 2 else period - 1
        assert network.hidden_size <= min(bound, size_bound(string)), text


def test_random_binary_strings_of_period_16_take_five_units_on_average():
    solutions = [Spectral().solve(random_string(2, 16, seed)) for seed in range(100)]
    assert all(solution.minimal for solution in solutions)
    assert np.mean([solution.network.hidden_size for solution in solutions]) <= 5.2


def test_eight_symbols_of_period_16_take_four_units_on_average_and_five_at_most():
    solutions = [Spectral().solve(random_string(8, 16, seed)) for seed in range(60)]
    sizes = [solution.network.hidden_size for solution in solutions]
    assert all(solution.minimal for solution in solutions)
    assert np.mean(sizes) <= 4
    assert max(sizes) <= 5


def test_a_string_of_26_letters_and_period_40_is_decided():
    solution = Spectral().solve(random_string(26, 40, 0))
    assert solution.minimal
    assert solution.search.complete


def test_a_search_without_time_gives_what_the_theorem_gives_and_says_so():
    text = random_string(2, 40, 1)
    solution = Spectral(budget=0.0).solve(text)
    assert not solution.minimal
    assert not solution.search.complete
    assert solution.network.hidden_size <= size_bound(PeriodicString.of(text))
    assert solution.network.replay(80) == 2 * text


def test_where_not_all_sets_can_be_tried_the_search_goes_down_from_the_theorem():
    string = PeriodicString.of(random_string(2, 90, 3))
    orbits, enough, plenty = OrbitTester(string), sufficient(string), Deadline.within(600)
    refuted = search_from_below(orbits, 4, plenty, 600, SILENT).refuted
    assert refuted == 3
    goal = size_of(90, enough) - 8
    found = descend(orbits, orbits.solve_sufficient(enough, 600), goal - 1, plenty, seed=0)
    assert size_of(90, found.frequencies) == goal
    assert replay(_network(string, found), string.codes, 180).symbols == 180


def test_a_budget_too_short_for_all_sets_says_how_far_it_came():
    text = random_string(2, 90, 3)
    solution = Spectral(budget=0.1).solve(text)
    size = solution.network.hidden_size
    assert not solution.minimal
    assert not solution.search.complete
    assert size <= size_bound(PeriodicString.of(text))
    assert solution.search.refuted_size < size - 1
    assert solution.network.replay(180) == 2 * text


def test_sets_that_visit_fewer_states_are_never_chosen():
    for text in necklaces(9):
        assert reduce(gcd, Spectral().solve(text).frequencies, 9) == 1


@pytest.mark.parametrize("budget", [-1.0, float("nan")])
def test_a_budget_that_is_not_a_time_is_refused(budget):
    with pytest.raises(InputError, match="of 0 or more"):
        Spectral(budget=budget).solve("abracadabra")


def test_a_period_that_does_not_fit_is_refused():
    with pytest.raises(InputError, match="a period of 2,001 symbols; expected at most 2,000"):
        Spectral().solve("a" * 2000 + "b")

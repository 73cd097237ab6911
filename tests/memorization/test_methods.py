"""`memorize`: every construction under one contract, and the result as a whole."""

from __future__ import annotations

import math

import numpy as np
import pytest

import memspan as ms
from memspan.errors import EvidenceError, InputError
from memspan.memorization import Cyclic, Feedback, Rotation, Spectral, coprime_powers, memorize
from memspan.memorization.verification import noise_tolerance, replay, replay_length, verify
from memspan.results import LinearNetwork, Memorization

CASES = [
    (Rotation(), "00000111"),
    (Rotation(), "110001"),
    (Rotation(), "ba"),
    (Cyclic(), "abracadabra"),
    (Cyclic(power=7), "abracadabra"),
    (Cyclic(), "z"),
    (Spectral(), "abracadabra"),
    (Spectral(), "0010110"),
    (Spectral(), "ab"),
    (Spectral(), "zzz"),
    (Feedback(), "abracadabra"),
]


@pytest.mark.parametrize(("construction", "text"), CASES, ids=str)
def test_a_network_writes_its_string_for_a_hundred_periods(construction, text):
    network = construction.build(text)
    assert network.replay(100 * len(text)) == 100 * text


@pytest.mark.parametrize(("construction", "text"), CASES, ids=str)
def test_the_compiled_replay_is_the_recurrence(construction, text):
    network = construction.build(text)
    states, symbols = network.run(5 * len(text))
    ran = replay(network, symbols, len(symbols))
    scores = states @ network.W_y.T + network.b_y
    if len(network.alphabet) > 1:
        ordered = np.sort(scores, axis=1)
        assert ran.margin == pytest.approx((ordered[:, -1] - ordered[:, -2]).min(), rel=1e-9)
    assert ran.symbols == len(symbols)


def test_a_replay_stops_at_the_first_wrong_symbol():
    network = Cyclic().build("abcd")
    assert replay(network, np.array([0, 1, 3, 2]), 40).symbols == 2


def test_a_network_that_makes_a_mistake_is_refused():
    with pytest.raises(EvidenceError, match="2 correct symbols and then a wrong one; expected 40 "):
        verify(Cyclic().build("abcd"), np.array([0, 1, 3, 2]), 40)


@pytest.mark.parametrize("d", [5, 8, 12])
def test_every_coprime_power_writes_the_string_and_no_other_is_taken(d):
    text = "abcdefghijkl"[:d]
    for power in coprime_powers(d):
        assert Cyclic(power).build(text).replay(3 * d) == 3 * text
    for power in set(range(d)) - set(coprime_powers(d)):
        with pytest.raises(InputError, match="shares a factor with the period"):
            Cyclic(power).build(text)


def test_a_rotation_refuses_what_it_cannot_do():
    with pytest.raises(InputError, match="5 symbols in 10 runs; use --method spectral"):
        Rotation().build("abracadabra")


def test_abracadabra_in_two_units_and_the_octagon_in_two():
    first, second = memorize("abracadabra"), memorize("00000111")
    assert (first.hidden_size, first.method, first.minimal) == (2, "spectral", True)
    assert (second.hidden_size, second.method, second.minimal) == (2, "rotation", True)
    for found in (first, second):
        assert found.verified_symbols >= max(100_000, 1_000 * found.period)
        assert found.margin > 0.1
        assert found.drift < 1e-9
        assert not found.network.W_x.any()


def test_memorize_is_a_verb_of_the_package():
    net = ms.memorize("abracadabra")
    assert net.replay(33) == 3 * "abracadabra"


@pytest.mark.parametrize("text", ["a", "aaaa"])
def test_one_symbol_takes_one_unit(text):
    found = memorize(text)
    assert (found.hidden_size, found.period, found.minimal) == (1, 1, True)
    assert math.isnan(found.margin)
    assert found.replay(7) == "aaaaaaa"


def test_a_string_that_is_repeated_is_brought_to_its_period_and_says_so():
    found = memorize("abcabcabc")
    assert (found.period, found.length, found.text) == (3, 9, "abc")
    assert "'abc' 3 times" in found.notes[0]


def test_a_finite_string_stops_at_its_end():
    found = memorize("hello", terminate=True)
    assert found.replay(1_000) == "hello<END>"
    assert found.network.replay(12) == "hello<END>hello<END>"


def test_one_pass_of_a_repeated_string_is_as_long_as_it_was_given():
    found = memorize("aabbaabb", method="feedback")
    assert (found.repeats, found.replay(100), found.verified_symbols) == (False, "aabbaabb", 8)


@pytest.mark.parametrize("method", ["auto", "cyclic", "spectral", "feedback"])
@pytest.mark.parametrize("terminate", [False, True])
def test_a_result_comes_back_from_json(method, terminate):
    found = memorize("abracadabra", method=method, terminate=terminate)
    again = Memorization.from_json(found.to_json())
    assert again.to_json() == found.to_json()
    assert np.array_equal(again.network.W_h, found.network.W_h)


def test_auto_is_never_larger_than_the_other_methods_without_input():
    for text in ("00000111", "abracadabra", "ab", "mississippi", "zz"):
        sizes = [memorize(text, method=method).hidden_size for method in ("cyclic", "spectral")]
        assert memorize(text).hidden_size == min(sizes)


def test_an_unknown_method_is_refused_with_the_nearest():
    with pytest.raises(InputError, match="spectral"):
        memorize("abc", method="spectrl")


def test_the_bound_by_counting_runs_is_kept_by_what_is_found():
    for text in ("mississippi", "to be or not to be", "0010110111"):
        found = memorize(text)
        assert found.hidden_size <= found.size_bound


@pytest.mark.parametrize(("period", "symbols"), [(2, 100_000), (7, 100_002), (150, 150_000)])
def test_symbols_are_replayed_as_often_as_promised(period, symbols):
    assert replay_length(Cyclic().build("a" * (period - 1) + "b"), period) == symbols


def test_noise_is_survived_as_far_as_was_found_and_not_much_farther():
    network = Rotation().build("00000111")
    codes = np.repeat([0, 1], [5, 3])
    level = noise_tolerance(network, codes, seed=0)
    assert 1e-4 < level < 1e-1

    def share(size: float) -> float:
        random = np.random.default_rng(5)
        good = 0
        for _ in range(200):
            noisy = [
                w + size * np.sqrt((w**2).mean()) * random.standard_normal(w.shape)
                for w in (network.W_h, network.W_x, network.W_y, network.b_y, network.h_0)
            ]
            good += LinearNetwork(network.alphabet, "", *noisy).replay(80) == 10 * "00000111"
        return good / 200

    # 100 networks determine a share of 0.9 to about 0.03; two hundred others must agree within three errors.
    assert share(level) == pytest.approx(0.9, abs=0.12)
    assert share(4 * level) < 0.6


def test_a_map_that_expands_survives_no_noise_for_ten_periods():
    found = memorize("abracadabra", method="feedback")
    assert found.noise == 0.0


def test_the_same_seed_gives_the_same_result():
    first, second = memorize("mississippi", seed=3), memorize("mississippi", seed=3)
    assert first.noise == second.noise
    assert np.array_equal(first.network.W_y, second.network.W_y)


def test_a_large_network_is_run_without_its_zeros_to_the_same_symbols():
    text = "".join(chr(97 + code) for code in np.random.default_rng(1).integers(0, 26, 150))
    network = Cyclic().build(text)
    states, _ = network.run(300)
    assert network.replay(300) == 2 * text
    assert np.array_equal(states[0], np.eye(150)[0])


def test_a_string_whose_linear_programs_are_too_large_still_comes_out_in_time():
    text = "".join(chr(97 + code) for code in np.random.default_rng(2).integers(0, 26, 300))
    solution = Spectral(budget=0.5).solve(text)
    assert not solution.minimal
    assert solution.network.replay(600) == 2 * text


@pytest.mark.parametrize(
    ("field", "value"), [("period", 0), ("period", 10**9), ("frequencies", [99]), ("frequencies", [0])]
)
def test_a_result_that_was_changed_by_hand_is_refused(field, value):
    plain = memorize("abracadabra").to_json()
    with pytest.raises(InputError, match="expected a period of 1 to 2,000"):
        Memorization.from_json({**plain, field: value})


@pytest.mark.parametrize("budget", [float("inf"), float("nan"), -1.0])
def test_a_budget_must_be_a_time(budget):
    with pytest.raises(InputError, match="expected a finite number"):
        memorize("abracadabra", method="spectral", budget=budget)

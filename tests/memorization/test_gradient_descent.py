"""Training against finite differences, and what it finds against the roots of unity."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memspan.errors import EvidenceError, InputError
from memspan.memorization.constructions import Rotation
from memspan.memorization.gradient_descent import (
    Networks,
    correct_symbols,
    learn,
    loss_and_gradient,
    nearest_roots,
    random_networks,
)
from memspan.memorization.strings import PeriodicString

DIFFERENCE_ERROR = 1e-7
"""A central difference of step 1e-5 is wrong by about 1e-10 times a third derivative, which reaches some hundreds here."""
NEAR_A_ROOT = 0.01
"""A hundredth of a radian; neighboring roots of period 11 lie 0.56 apart, of period 16 0.39. Found: about 0.001."""


def summed_loss(networks: Networks, symbols: np.ndarray, score_penalty: float) -> float:
    return float(loss_and_gradient(networks, symbols, score_penalty)[0].sum())


@given(st.integers(1, 5), st.integers(1, 4), st.integers(1, 13), st.sampled_from([0.0, 0.1]), st.integers(0, 99))
@settings(max_examples=25, deadline=None)
def test_the_gradient_is_that_of_finite_differences(
    d: int, n: int, length: int, score_penalty: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    networks, symbols = random_networks(2, d, n, rng), rng.integers(0, n, length)
    gradient = loss_and_gradient(networks, symbols, score_penalty)[1]
    for weights, by_weight in zip(networks.arrays, gradient.arrays, strict=True):
        place = tuple(rng.integers(0, size) for size in weights.shape)
        original, step = weights[place], 1e-5
        weights[place] = original + step
        above = summed_loss(networks, symbols, score_penalty)
        weights[place] = original - step
        below = summed_loss(networks, symbols, score_penalty)
        weights[place] = original
        assert by_weight[place] == pytest.approx((above - below) / (2 * step), abs=DIFFERENCE_ERROR)


def test_the_loss_is_the_cross_entropy_of_the_recurrence_run_step_by_step() -> None:
    rng = np.random.default_rng(0)
    networks, symbols = random_networks(3, 4, 5, rng), rng.integers(0, 5, 21)
    for place, (W_h, W_y, b_y, h) in enumerate(zip(*networks.arrays, strict=True)):
        surprise = 0.0
        for symbol in symbols:
            h = W_h @ h
            y = W_y @ h + b_y
            surprise -= np.log(np.exp(y[symbol]) / np.exp(y).sum()) / len(symbols)
        assert loss_and_gradient(networks, symbols, 0.0)[0][0, place] == pytest.approx(surprise, rel=1e-12)


@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_training_starts_from_orthogonal_matrices(d: int) -> None:
    W_h = random_networks(5, d, 2, np.random.default_rng(0)).W_h
    np.testing.assert_allclose(W_h @ W_h.transpose(0, 2, 1), np.broadcast_to(np.eye(d), W_h.shape), atol=1e-14)


def test_descent_finds_the_frequency_with_which_two_units_can_write_abracadabra() -> None:
    trained = learn("abracadabra", hidden_size=2, seed=0)
    assert trained.nearest_roots.tolist() == [3, 8]
    assert trained.distances.max() < NEAR_A_ROOT
    assert trained.trained_symbols == 88
    assert trained.trained_symbols < trained.replayed_symbols < trained.tested_symbols == 1100


def test_without_a_penalty_the_angles_are_right_but_the_state_grows() -> None:
    trained = learn("00000111", hidden_size=2, seed=0, updates=1000, restarts=4, score_penalty=0.0)
    penalized = learn("00000111", hidden_size=2, seed=0, updates=1000, restarts=4)
    assert trained.replayed_symbols >= trained.trained_symbols
    assert np.abs(np.angle(trained.eigenvalues) * 8 / (2 * np.pi)).round(2).tolist() == [1.0, 1.0]
    assert np.abs(trained.eigenvalues).min() > 1 + 5 * np.abs(np.abs(penalized.eigenvalues) - 1).max()
    assert trained.loss < penalized.loss


def test_one_unit_learns_to_change_its_sign() -> None:
    trained = learn("ab", hidden_size=1, seed=0, updates=500)
    assert trained.nearest_roots.tolist() == [1]
    assert trained.replayed_symbols >= trained.trained_symbols


def test_what_one_unit_cannot_do_is_reported_as_not_learned() -> None:
    trained = learn("aabb", hidden_size=1, seed=0, updates=300)
    assert trained.replayed_symbols < trained.trained_symbols


def test_a_seed_gives_the_same_network_again_and_another_seed_another() -> None:
    first, again, other = (learn("aabab", hidden_size=3, seed=seed, updates=50) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.eigenvalues, again.eigenvalues)
    assert first.loss == again.loss != other.loss


def test_eigenvalues_come_with_the_largest_modulus_first() -> None:
    modulus = np.abs(learn("aabab", hidden_size=5, seed=0, updates=50).eigenvalues)
    assert (np.diff(modulus) <= 0).all()


def test_every_root_of_unity_is_its_own_nearest() -> None:
    for period in (1, 2, 7, 16):
        k = np.arange(period)
        nearest, distances = nearest_roots(1.1 * np.exp(2j * np.pi * k / period).astype(np.complex128), period)
        assert nearest.tolist() == k.tolist()
        np.testing.assert_allclose(distances, 0.1, rtol=1e-12)


def test_correct_symbols_end_before_the_first_error() -> None:
    network = Rotation().build("00000111")
    assert correct_symbols(network, PeriodicString.of("00000111").codes, 800) == 800
    assert correct_symbols(network, PeriodicString.of("00001111").codes, 800) == 4


@pytest.mark.parametrize("hidden_size", [0, 65])
def test_a_size_out_of_range_is_refused(hidden_size: int) -> None:
    with pytest.raises(InputError, match=f"{hidden_size} hidden units to train; expected 1 to 64"):
        learn("ab", hidden_size=hidden_size, seed=0)


def test_a_period_too_long_for_training_is_refused() -> None:
    with pytest.raises(InputError, match="65 symbols is too long"):
        learn("a" * 64 + "b", hidden_size=2, seed=0)


@pytest.mark.parametrize("name", ["updates", "periods", "restarts"])
def test_a_count_below_one_is_refused(name: str) -> None:
    counts = {"updates": 1, "periods": 1, "restarts": 1, name: 0}
    with pytest.raises(InputError, match=f"{name} is 0; expected 1 or more"):
        learn(
            "ab",
            hidden_size=2,
            seed=0,
            updates=counts["updates"],
            periods=counts["periods"],
            restarts=counts["restarts"],
        )


def test_a_learning_rate_or_a_penalty_out_of_range_is_refused() -> None:
    for rate in (0.0, -1.0, float("nan")):
        with pytest.raises(InputError, match="the learning rate is"):
            learn("ab", hidden_size=2, seed=0, learning_rate=rate)
    with pytest.raises(InputError, match="the score penalty is -1"):
        learn("ab", hidden_size=2, seed=0, score_penalty=-1)


def test_training_that_diverges_says_so() -> None:
    with pytest.raises(EvidenceError, match="diverged with learning rate 1e\\+09"):
        learn("abracadabra", hidden_size=4, seed=0, learning_rate=1e9, updates=40)


@pytest.mark.slow
@pytest.mark.parametrize(("text", "hidden_size"), [("abracadabra", 4), ("1101011010001000", 6), ("00000111", 4)])
def test_strings_are_learned_whatever_the_seed(text: str, hidden_size: int) -> None:
    for seed in range(10):
        trained = learn(text, hidden_size=hidden_size, seed=seed)
        assert trained.replayed_symbols >= trained.trained_symbols
        assert trained.distances[np.abs(trained.eigenvalues) > 0.9].max() < NEAR_A_ROOT

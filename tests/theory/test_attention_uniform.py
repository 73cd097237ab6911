"""Power laws of uniform attention against a plain recursion and the network, and `attention_prediction`."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy import special

from memspan.errors import EvidenceError, InputError
from memspan.theory.attention import (
    AttentiveRNN,
    UniformAlignment,
    attention_prediction,
    inverse_length_bound_holds,
    measured_exponent,
    printed_exponent,
    uniform_attention_exponent,
    uniform_attention_gradient,
)
from memspan.theory.meanfield.activations import Identity

EIGENVALUES = np.array(
    [
        *np.round(np.arange(-0.5, 0.71, 0.1), 1),
        0.8 * np.exp(1j * np.pi / 3),
        0.8 * np.exp(-1j * np.pi / 3),
        0.5 * np.exp(1j * np.pi / 4),
        0.3 * np.exp(2j),
    ]
)
EXPONENT = 0.01
"""What an exponent may be off; the local slope at T = 40,000 is off by 0.0002 at most for these."""


def plainly(eigenvalue: complex, start: int, T: int) -> complex:
    """g_{m+1} = lambda p_m, p_m = g_m + (g_t + … + g_m) / m."""
    g, total = 1.0 + 0j, 1.0 + 0j
    for m in range(start, T):
        g = eigenvalue * (g + total / m)
        total += g
    return g + total / T


def rotation(modulus: float, angle: float) -> np.ndarray:
    return modulus * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


@pytest.mark.parametrize("start", [1, 2, 7])
def test_products_by_halves_give_what_the_plain_recursion_gives(start: int) -> None:
    lengths = [start, start + 1, start + 2, start + 5, 100, 1_001]
    gradients = uniform_attention_gradient(EIGENVALUES, lengths, start=start)
    expected = np.array([[plainly(value, start, T) for value in EIGENVALUES] for T in lengths])
    assert gradients == pytest.approx(expected, rel=1e-11)


def test_blocks_of_steps_join_without_a_seam() -> None:
    """140,000 steps are more than two blocks of matrices."""
    assert uniform_attention_gradient([0.4], [140_000])[0, 0] == pytest.approx(plainly(0.4, 1, 140_000), rel=1e-10)


@pytest.mark.parametrize("t", [1, 4])
def test_the_eigenvalues_give_the_network_s_gradient(t: int) -> None:
    """Along the eigenvectors of a normal V the gradient of the linear network is p_T(lambda) (Eq. 282)."""
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    V = np.zeros((3, 3))
    V[:2, :2], V[2, 2] = rotation(0.8, 1.0), 0.6
    V = basis @ V @ basis.T
    run = AttentiveRNN(V, np.zeros((3, 1)), np.zeros(3), UniformAlignment(), Identity()).run(
        np.zeros((29, 1)), np.ones(3)
    )
    values, vectors = np.linalg.eig(V)
    along = uniform_attention_gradient(values, [30], start=t)[0]
    expected = (vectors * along) @ np.linalg.inv(vectors)
    assert run.gradient(t, 30) == pytest.approx(expected.real, rel=1e-9, abs=1e-12)


def test_measured_exponents_are_the_corrected_ones() -> None:
    assert np.abs(measured_exponent(EIGENVALUES) - uniform_attention_exponent(EIGENVALUES)).max() < EXPONENT


def test_the_start_does_not_change_the_exponent() -> None:
    assert measured_exponent([-0.5, 0.3, 0.7], start=25) == pytest.approx([-4 / 3, -4 / 7, 4 / 3], abs=EXPONENT)


def test_the_constant_of_the_power_law_is_known_for_the_first_state() -> None:
    a, T = EIGENVALUES / (1 - EIGENVALUES), 40_000
    constant = np.exp((a - 2) * np.log(1 - EIGENVALUES)) / special.gamma(a + 1)
    measured = uniform_attention_gradient(EIGENVALUES, [T])[0] / np.exp((a - 1) * np.log(T))
    assert measured == pytest.approx(constant, rel=1e-3)


@pytest.mark.parametrize(
    ("eigenvalue", "corrected", "printed"),
    [(0.3, -0.5714, -0.7), (0.5, 0.0, -0.5), (0.7, 1.3333, -0.3), (-0.5, -1.3333, -1.0), (0.0, -1.0, -1.0)],
)
def test_exponents_are_those_of_the_erratum(eigenvalue: float, corrected: float, printed: float) -> None:
    assert uniform_attention_exponent([eigenvalue])[0] == pytest.approx(corrected, abs=5e-5)
    assert printed_exponent([eigenvalue])[0] == pytest.approx(printed)


def test_a_complex_pair_has_the_exponent_of_the_erratum() -> None:
    exponents = uniform_attention_exponent(rotation(0.8, np.pi / 3))
    assert exponents == pytest.approx([-1.2857, -1.2857], abs=5e-5)


@pytest.mark.parametrize(
    ("eigenvalues", "holds"),
    [
        ([0.3], True),
        ([0.0], True),
        ([-0.5], False),
        ([0.8 * np.exp(1j * np.pi / 3)], False),
        ([-0.5, -0.1], False),
        ([-0.5, 0.1], True),
        (rotation(0.8, np.pi / 3), False),
        (rotation(0.4, np.pi / 3), True),
    ],
)
def test_the_bound_of_theorem_1_holds_if_any_exponent_is_at_least_minus_one(
    eigenvalues: ArrayLike, holds: bool
) -> None:
    assert inverse_length_bound_holds(eigenvalues) is holds
    assert bool(uniform_attention_exponent(eigenvalues).max() >= -1) is holds


def test_no_exponent_is_below_minus_three_halves() -> None:
    rng = np.random.default_rng(1)
    disc = 0.999 * np.sqrt(rng.uniform(size=2_000)) * np.exp(2j * np.pi * rng.uniform(size=2_000))
    exponents = uniform_attention_exponent(disc)
    assert -1.5 < exponents.min() < -1.4


@pytest.mark.parametrize(
    ("V", "message"),
    [
        ([1.0], "modulus 1; expected all below 1"),
        ([0.2, -1.5], "modulus 1.5; expected all below 1"),
        ([0.9 + 0.9j], "expected all below 1"),
        ([[0.5, 0.4], [0.0, 0.5]], "not normal"),
        ([[0.5, 0.4]], "expected a square matrix"),
        ([np.nan], "expected finite"),
        ([], "nothing; expected finite"),
    ],
)
def test_what_has_no_power_law_is_refused(V: list[complex], message: str) -> None:
    for function in (uniform_attention_exponent, printed_exponent, inverse_length_bound_holds, measured_exponent):
        with pytest.raises(InputError, match=message):
            function(V)


@pytest.mark.parametrize("lengths", [[0], [3, 3], [5, 4], [], [2.5], [[1]], [10**9]])
def test_lengths_that_make_no_sense_are_refused(lengths: list[int]) -> None:
    with pytest.raises(InputError):
        uniform_attention_gradient([0.5], lengths)


def test_a_slope_that_has_not_settled_is_not_given() -> None:
    with pytest.raises(EvidenceError, match="use a longer one"):
        measured_exponent([0.95])
    with pytest.raises(InputError, match="four times the start"):
        measured_exponent([0.5], length=100, start=30)


def test_a_gradient_beyond_the_largest_float_is_refused() -> None:
    with pytest.raises(InputError, match="too large for a float"):
        uniform_attention_gradient([0.998], [1_000_000])


def test_the_gradient_is_that_of_the_network_at_each_distance() -> None:
    decay = attention_prediction(0.6, 20)
    network = AttentiveRNN(np.array([[0.6]]), np.zeros((1, 1)), np.zeros(1), UniformAlignment(), Identity())
    run = network.run(np.zeros((20, 1)), np.ones(1))
    expected = [run.gradient(1, 1 + distance)[0, 0] for distance in decay.distances.tolist()]
    assert decay.gradient == pytest.approx(expected, rel=1e-11)


def test_without_attention_the_gradient_is_a_power_of_the_eigenvalue() -> None:
    decay = attention_prediction(-0.5j, 30)
    assert decay.without_attention == pytest.approx(0.5**decay.distances)


def test_the_gradient_ends_on_the_corrected_power_law() -> None:
    decay = attention_prediction(0.8 * np.exp(1j * np.pi / 3), 1_000_000)
    lengths = decay.distances[-2:] + 1.0
    slope = np.diff(np.log(decay.gradient[-2:]))[0] / np.diff(np.log(lengths))[0]
    assert decay.exponent == pytest.approx(slope, abs=1e-4)
    assert decay.printed_exponent == pytest.approx(-0.6)


@pytest.mark.parametrize("steps", [1, 2, 11, 12, 13, 100, 12_345])
def test_distances_run_from_one_to_the_steps_asked_for(steps: int) -> None:
    distances = attention_prediction(0.3, steps).distances
    assert (distances[0], distances[-1]) == (1, steps)
    assert (np.diff(distances) > 0).all()
    assert distances[:12].tolist() == list(range(1, min(steps, 12) + 1))


def test_without_recurrence_attention_alone_is_left() -> None:
    decay = attention_prediction(0.0, 1_000)
    assert decay.gradient == pytest.approx(1 / (decay.distances + 1))
    assert not decay.without_attention.any()
    assert decay.exponent == -1


def test_the_sparse_bound_is_given_if_asked_for() -> None:
    assert attention_prediction(0.5, 10).sparse_bound is None
    assert attention_prediction(0.5, 10, kappa=4, depth=2).sparse_bound == pytest.approx(0.25 / 64)


@pytest.mark.parametrize(
    ("eigenvalue", "steps", "kappa", "depth", "message"),
    [
        (1.0, 10, None, None, "modulus 1; expected all below 1"),
        (complex(np.inf, 0), 10, None, None, "expected finite"),
        (np.nan, 10, None, None, "expected finite"),
        (0.5, 0, None, None, "0 steps; expected at least 1"),
        (0.5, 10**9, None, None, "expected at most"),
        (0.5, 10, 2, None, "expected both or neither"),
        (-0.5, 10, 2, 1, "positive real"),
    ],
)
def test_questions_without_an_answer_are_refused_in_one_line(
    eigenvalue: complex, steps: int, kappa: int | None, depth: int | None, message: str
) -> None:
    with pytest.raises(InputError, match=message) as refusal:
        attention_prediction(eigenvalue, steps, kappa=kappa, depth=depth)
    assert "\n" not in str(refusal.value)

"""Power-law binary sequences: the inversion of Eq. 46, the two ways to draw, and what cannot be drawn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.sequences.sources import PowerLawBinary, correlation_of_information, information_of_correlation, power_law
from memspan.sequences.sources.power_law import CholeskySequence, CirculantSequence, embedding, gaussian_sequence

EXPONENTS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]


def printed(theta: float) -> float:
    """Eq. 46 as it stands in the paper."""
    return (np.pi * np.log(2 / np.pi) + (np.pi - theta) * np.log(np.pi - theta) + theta * np.log(theta)) / np.pi


@pytest.mark.parametrize("c", [0.05, 0.3, 0.7, 0.99, -0.4])
def test_information_of_signs_is_equation_46(c: float) -> None:
    assert information_of_correlation(c) == pytest.approx(printed(np.arccos(c)), abs=1e-14)


def test_the_expansion_is_28_percent_off_at_a_correlation_of_0_7() -> None:
    exact, expansion = float(information_of_correlation(0.7)), 2 * 0.7**2 / np.pi**2
    assert (round(exact, 4), round(expansion, 4)) == (0.1273, 0.0993)
    assert exact / expansion == pytest.approx(1.28, abs=0.005)


def test_information_of_signs_at_its_ends() -> None:
    np.testing.assert_allclose(information_of_correlation([-1, 0, 1]), [np.log(2), 0.0, np.log(2)])
    np.testing.assert_allclose(correlation_of_information([0.0, np.log(2)]), [0.0, 1.0])


@settings(deadline=None)
@given(st.floats(1e-300, 0.69))
def test_inversion_is_exact(information: float) -> None:
    c = correlation_of_information(information)
    assert information_of_correlation(c) == pytest.approx(information, rel=1e-12)


def test_inversion_of_small_information_is_the_corrected_expansion() -> None:
    tiny = np.array([1e-8, 1e-12, 1e-30])
    np.testing.assert_allclose(correlation_of_information(tiny), np.pi * np.sqrt(tiny / 2), rtol=1e-8)


@pytest.mark.parametrize("value", [-0.1, 0.7, np.nan])
def test_information_that_two_bits_cannot_share_is_refused(value: float) -> None:
    with pytest.raises(InputError, match="ln 2"):
        correlation_of_information([0.1, value])


def test_correlations_beyond_one_are_refused() -> None:
    with pytest.raises(InputError, match="-1 to 1"):
        information_of_correlation([0.0, 1.01])


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_the_law_holds_at_every_lag(exponent: float) -> None:
    source = PowerLawBinary(0.1, exponent)
    lags = np.array([1, 2, 3, 10, 1000, 10**6])
    law = 0.1 * lags.astype(np.float64) ** -exponent
    np.testing.assert_allclose(source.information(lags), law, rtol=1e-14)
    np.testing.assert_allclose(information_of_correlation(source.correlation(lags)), law, rtol=1e-12)


def test_the_approximate_law_is_reached_at_large_lags_with_the_corrected_constant() -> None:
    source = PowerLawBinary(0.1, 0.5, approximate=True)
    lags = np.array([1, 10**12])
    ratio = source.information(lags) / PowerLawBinary(0.1, 0.5).information(lags)
    assert ratio[0] > 1.25
    assert ratio[1] == pytest.approx(1.0, abs=1e-6)
    as_printed = np.sqrt(0.1 / (2 * np.pi)) * lags[1] ** -0.25  # Eq. 47
    off_by = information_of_correlation(as_printed) / PowerLawBinary(0.1, 0.5).information(lags[1:])
    assert off_by[0] == pytest.approx(np.pi**-3, rel=1e-6)


def covariance(documents: NDArray[np.float64], lags: range) -> list[float]:
    """Mean product at each lag; means are known to be zero."""
    length = documents.shape[1]
    return [float(np.mean(documents[:, : length - lag] * documents[:, lag:])) for lag in lags]


def test_both_ways_of_drawing_have_the_covariance_of_the_law() -> None:
    source, length, n_documents = PowerLawBinary(0.1, 0.5), 64, 20_000
    amplitudes = embedding(source.correlation, length)
    assert amplitudes is not None
    exact = np.concatenate([[1.0], source.correlation(range(1, 10))])
    # A product of two unit normals has variance at most 2; taking a document as one draw is on the safe side.
    five_sigma = 5 * np.sqrt(2 / n_documents)
    for way in (gaussian_sequence(source.correlation, length, law=""), CirculantSequence(amplitudes, length)):
        documents = way.draw(n_documents, np.random.default_rng(0))
        np.testing.assert_allclose(covariance(documents, range(10)), exact, atol=five_sigma)


def test_the_ring_and_the_factor_hold_the_same_covariance() -> None:
    source, length = PowerLawBinary(0.1, 0.3), 400
    amplitudes = embedding(source.correlation, length)
    assert amplitudes is not None
    eigenvalues = 2 * amplitudes**2
    eigenvalues[[0, -1]] /= 2
    from_ring = np.fft.irfft(eigenvalues)[:length]
    factored = gaussian_sequence(source.correlation, length, law="")
    assert isinstance(factored, CholeskySequence)
    np.testing.assert_allclose((factored.upper.T @ factored.upper)[0], from_ring, atol=1e-12)


def test_long_documents_are_drawn_by_fft() -> None:
    assert isinstance(gaussian_sequence(PowerLawBinary(0.1, 0.5).correlation, 513, law=""), CirculantSequence)


def noisy_wave(lags: NDArray[np.int64]) -> NDArray[np.float64]:
    """Half noise, half a wave: positive definite at every length, but a ring cuts the wave."""
    return 0.5 * np.cos(1.234 * lags)


def test_what_no_ring_holds_is_drawn_by_a_factor() -> None:
    assert all(embedding(noisy_wave, 600, enlargement) is None for enlargement in power_law.ENLARGEMENTS)
    way = gaussian_sequence(noisy_wave, 600, law="a wave")
    assert isinstance(way, CholeskySequence)
    np.testing.assert_allclose((way.upper.T @ way.upper)[0, 1:], noisy_wave(np.arange(1, 600)), atol=1e-12)


def test_what_neither_a_ring_nor_a_factor_can_hold_is_refused() -> None:
    with pytest.raises(InputError, match=r"a wave cannot be drawn at 5,000 symbols.*at most 4,096"):
        gaussian_sequence(noisy_wave, 5000, law="a wave")


@pytest.mark.parametrize("length", [20, 1000, 100_000])
def test_a_law_without_a_gaussian_sequence_is_refused(length: int) -> None:
    # The refusal names the length where it breaks; shorter documents exist.
    with pytest.raises(InputError, match=r"PowerLawBinary\(0.3, 1.0\).*of 5 symbols.*not positive definite"):
        PowerLawBinary(0.3, 1.0).sample(1, length, seed=0)
    assert PowerLawBinary(0.3, 1.0).sample(1, 4, seed=0).length == 4
    assert PowerLawBinary(0.3, 1.0).sample(3, 1, seed=0).n_documents == 3


def test_the_named_length_is_where_the_smallest_eigenvalue_turns_negative() -> None:
    c = np.concatenate([[1.0], PowerLawBinary(0.3, 1.0).correlation(range(1, 5))])
    matrix = c[np.abs(np.subtract.outer(np.arange(5), np.arange(5)))]
    assert np.linalg.eigvalsh(matrix[:4, :4]).min() > 0 > np.linalg.eigvalsh(matrix).min()


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_the_laws_of_the_paper_can_be_drawn(exponent: float) -> None:
    assert embedding(PowerLawBinary(0.1, exponent).correlation, 1000) is not None


@pytest.mark.parametrize("exponent", [0.1, 0.5, 1.0])
def test_a_million_symbols_can_be_one_document(exponent: float) -> None:
    assert embedding(PowerLawBinary(0.1, exponent).correlation, 1_000_000) is not None


def test_neighbours_in_a_document_of_a_million_symbols_agree_as_often_as_the_law_says() -> None:
    source = PowerLawBinary(0.1, 1.0)
    x = source.sample(1, 1_000_000, seed=0).store.read(0, 1_000_000)
    agree = 1 - np.arccos(source.correlation([1])[0]) / np.pi
    # Agreements d apart are correlated about as c(d)^2 = 0.5/d, which sums to 7 over a million symbols: the
    # mean has at most 15 times the variance it would have if they were independent.
    five_sigma = 5 * np.sqrt(15 * agree * (1 - agree) / 1_000_000)
    assert abs(np.mean(x[1:] == x[:-1]) - agree) < five_sigma


@pytest.mark.parametrize(
    ("amplitude", "exponent", "approximate"),
    [(0.7, 0.5, False), (0.0, 0.5, False), (0.21, 0.5, True), (0.1, 0.0, False), (0.1, np.inf, False)],
)
def test_impossible_parameters_are_refused(amplitude: float, exponent: float, approximate: bool) -> None:
    with pytest.raises(InputError, match="expected"):
        PowerLawBinary(amplitude, exponent, approximate)

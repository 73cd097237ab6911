"""Markov chains, the Ising chain and independent symbols against what can be worked out by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.sequences.sources import Independent, IsingChain, MarkovChain
from memspan.sequences.sources.stationary import stationary

ROUNDING = 1e-12
"""Sums of a few terms of order one."""


def fair_bits(u: float) -> float:
    """The equation written plainly; it loses digits where u is small."""
    return 0.5 * ((1 + u) * np.log(1 + u) + (1 - u) * np.log(1 - u))


def plain_information(joint: NDArray[np.float64]) -> float:
    independent = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    seen = joint > 0
    return float(np.sum(joint[seen] * np.log(joint[seen] / independent[seen])))


def stochastic(n: int) -> st.SearchStrategy[NDArray[np.float64]]:
    weights = arrays(np.float64, (n, n), elements=st.floats(0.01, 1.0))
    return weights.map(lambda w: w / w.sum(axis=1, keepdims=True))


matrices = st.integers(2, 5).flatmap(stochastic)


def test_two_states_by_hand() -> None:
    chain = MarkovChain(np.array([[0.9, 0.1], [0.3, 0.7]]))
    np.testing.assert_allclose(chain.stationary, [0.75, 0.25], atol=1e-15)
    by_hand = (
        0.675 * np.log(0.675 / 0.5625) + 2 * 0.075 * np.log(0.075 / 0.1875) + 0.175 * np.log(0.175 / 0.0625)
    )
    assert chain.information([1])[0] == pytest.approx(by_hand, abs=ROUNDING)


@settings(deadline=None)
@given(matrices)
def test_information_agrees_with_matrix_powers_written_plainly(p: NDArray[np.float64]) -> None:
    pi = stationary(p)
    np.testing.assert_allclose(pi @ p, pi, atol=ROUNDING)
    lags = [1, 2, 3, 10, 50]
    plain = [plain_information(pi[:, None] * np.linalg.matrix_power(p, lag)) for lag in lags]
    np.testing.assert_allclose(MarkovChain(p).information(lags), plain, atol=ROUNDING)


@settings(deadline=None)
@given(matrices)
def test_information_of_a_chain_never_grows_with_the_lag(p: NDArray[np.float64]) -> None:
    information = MarkovChain(p).information(range(1, 40))
    assert np.all(np.diff(information) <= ROUNDING * information[:-1])


@pytest.mark.parametrize(("n_symbols", "stay"), [(2, 0.9), (20, 0.9), (5, 0.0), (300, 0.5)])
def test_lazy_chain_has_one_eigenvalue(n_symbols: int, stay: float) -> None:
    lags = np.arange(1, 12)
    memory = ((n_symbols * stay - 1) / (n_symbols - 1)) ** lags
    same, other = 1 + (n_symbols - 1) * memory, 1 - memory
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.nan_to_num(same * np.log(same)) + (n_symbols - 1) * other * np.log(other)
    np.testing.assert_allclose(
        MarkovChain.lazy(n_symbols, stay).information(lags), terms / n_symbols, atol=ROUNDING
    )


def test_tiny_information_keeps_its_digits() -> None:
    # For small memory l^tau the information is (n - 1) l^(2 tau) / 2 up to a relative error of n l^tau.
    lags = np.array([150, 200, 300, 1000])
    memory = (17 / 19) ** lags.astype(np.float64)
    information = MarkovChain.lazy(20, stay=0.9).information(lags)
    assert information[1] < 1e-17
    np.testing.assert_allclose(information / (9.5 * memory**2), 1.0, atol=20 * memory[0])
    np.testing.assert_allclose(information[2:] / (9.5 * memory[2:] ** 2), 1.0, rtol=1e-11)


def test_a_chain_that_alternates_never_forgets() -> None:
    alternating = MarkovChain.lazy(2, stay=0.0)
    np.testing.assert_allclose(alternating.information([1, 2, 999]), np.log(2), atol=ROUNDING)
    document = alternating.sample(1, 100, seed=0).store.read(0, 100)
    assert np.all(document[1:] != document[:-1])


def test_a_constant_law_of_rows_has_no_information() -> None:
    chain = MarkovChain(np.array([[0.2, 0.3, 0.5]] * 3))
    assert chain.information([1, 5]).max() < 1e-30


def test_stationary_law_keeps_small_probabilities() -> None:
    # Detailed balance: pi_1 / pi_0 = 1e-14 / 0.5.
    pi = stationary(np.array([[1 - 1e-14, 1e-14], [0.5, 0.5]]))
    assert pi[1] == pytest.approx(2e-14, rel=1e-12)


@pytest.mark.parametrize(
    ("matrix", "why"),
    [
        ([[0.5, 0.4], [0.5, 0.5]], "sums to 0.9"),
        ([[1.5, -0.5], [0.5, 0.5]], "negative"),
        ([[np.nan, 1.0], [0.5, 0.5]], "no number"),
        ([[0.5, 0.5]], "square"),
        ([[1.0]], "two or more states"),
        ([[1.0, 0.0], [0.0, 1.0]], "reducible"),
        ([[1.0, 0.0], [0.5, 0.5]], "reducible"),
        ([[0.5, 0.5], [0.0, 1.0]], "reducible"),
        ([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.2, 0.3, 0.5]], "reducible"),
    ],
)
def test_what_is_no_irreducible_transition_matrix_is_refused(matrix: list, why: str) -> None:
    with pytest.raises(InputError, match=why):
        MarkovChain(np.array(matrix))


@pytest.mark.parametrize(("n_symbols", "stay"), [(1, 0.5), (3, 1.0), (3, -0.1)])
def test_impossible_lazy_chains_are_refused(n_symbols: int, stay: float) -> None:
    with pytest.raises(InputError, match="expected two or more"):
        MarkovChain.lazy(n_symbols, stay)


def test_a_chain_does_not_see_later_changes_of_the_matrix_it_was_given() -> None:
    matrix = np.array([[0.9, 0.1], [0.3, 0.7]])
    chain = MarkovChain(matrix)
    matrix[:] = 0.5
    assert chain.transition[0, 0] == 0.9
    with pytest.raises(ValueError, match="read-only"):
        chain.transition[0, 0] = 0.5


@pytest.mark.parametrize("beta_j", [-1.0, -0.3, 0.3, 1.0])
def test_ising_chain_has_its_closed_form_and_is_a_markov_chain(beta_j: float) -> None:
    ising = IsingChain(beta_j)
    memory = -np.tanh(beta_j)
    lags = [1, 2, 5, 9]
    np.testing.assert_allclose(
        ising.information(lags), [fair_bits(memory**lag) for lag in lags], atol=ROUNDING
    )
    far = [1, 2, 5, 20, 40]
    np.testing.assert_allclose(ising.information(far), ising.chain().information(far), rtol=1e-10)


def test_ising_sign_is_that_of_the_equation() -> None:
    # Eq. 62 with J > 0 and H = +J s s': unequal neighbours are the likelier ones.
    same = np.exp(-0.5) / (2 * np.cosh(0.5))
    np.testing.assert_allclose(IsingChain(0.5).chain().transition, [[same, 1 - same], [1 - same, same]])
    document = IsingChain(0.5).sample(1, 10_000, seed=0).store.read(0, 10_000)
    five_sigma = 5 * np.sqrt(same * (1 - same) / 10_000)
    assert abs(np.mean(document[1:] == document[:-1]) - same) < five_sigma


def test_frozen_spins_are_refused() -> None:
    for beta_j in (19.0, -np.inf, np.nan):
        with pytest.raises(InputError, match="beta J"):
            IsingChain(beta_j)


def test_independent_symbols_follow_their_law_and_share_nothing() -> None:
    p = np.array([0.6, 0.3, 0.1, 0.0])
    source = Independent(p)
    n = 100_000
    seen = np.bincount(source.sample(4, n // 4, seed=0).store.read(0, n), minlength=4) / n
    assert np.all(np.abs(seen - p) <= 5 * np.sqrt(p * (1 - p) / n))
    assert source.information([1, 2]).tolist() == [0.0, 0.0]


def test_successive_independent_symbols_fill_the_product_law() -> None:
    x = Independent.uniform(5).sample(1, 200_001, seed=0).store.read(0, 200_001).astype(np.int64)
    observed = np.bincount(5 * x[:-1] + x[1:], minlength=25)
    # Chi squared with 16 degrees of freedom exceeds 45 with probability 1e-4.
    rows, columns = observed.reshape(5, 5).sum(axis=1), observed.reshape(5, 5).sum(axis=0)
    expected = np.outer(rows, columns).ravel() / observed.sum()
    assert np.sum((observed - expected) ** 2 / expected) < 45


@pytest.mark.parametrize("p", [[1.0], [0.5, 0.4], [1.5, -0.5], [[0.5, 0.5]], []])
def test_what_is_no_law_of_symbols_is_refused(p: list) -> None:
    with pytest.raises(InputError):
        Independent(np.array(p))
    with pytest.raises(InputError, match="two or more"):
        Independent.uniform(1)

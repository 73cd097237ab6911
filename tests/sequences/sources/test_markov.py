"""Markov, sticky and bigram chains, the Ising chain and independent symbols against what can be worked out by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.sequences import Sequence
from memspan.sequences.sources import BigramChain, Independent, IsingChain, MarkovChain, StickyChain, markov
from memspan.sequences.sources.source import stationary

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
    by_hand = 0.675 * np.log(0.675 / 0.5625) + 2 * 0.075 * np.log(0.075 / 0.1875) + 0.175 * np.log(0.175 / 0.0625)
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
    np.testing.assert_allclose(MarkovChain.lazy(n_symbols, stay).information(lags), terms / n_symbols, atol=ROUNDING)


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
        ([[np.nan, 1.0], [0.5, 0.5]], "non-finite"),
        ([[0.5, 0.5]], "square"),
        ([[1.0]], "two or more states"),
        ([[1.0, 0.0], [0.0, 1.0]], "reducible"),
        ([[1.0, 0.0], [0.5, 0.5]], "reducible"),
        ([[0.5, 0.5], [0.0, 1.0]], "reducible"),
        ([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.2, 0.3, 0.5]], "reducible"),
    ],
)
def test_invalid_and_reducible_transition_matrices_are_refused(matrix: list, why: str) -> None:
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
    np.testing.assert_allclose(ising.information(lags), [fair_bits(memory**lag) for lag in lags], atol=ROUNDING)
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
def test_invalid_symbol_distributions_are_refused(p: list) -> None:
    with pytest.raises(InputError):
        Independent(np.array(p))
    with pytest.raises(InputError, match="two or more"):
        Independent.uniform(1)


LAWS = st.integers(2, 6).flatmap(
    lambda n: arrays(np.float64, n, elements=st.floats(0.01, 1.0)).map(lambda w: w / w.sum())
)


@settings(deadline=None)
@given(LAWS, st.floats(0.0, 0.99))
def test_a_sticky_chain_has_the_information_of_its_joint_table(p: NDArray[np.float64], stay: float) -> None:
    lags = [1, 2, 5, 40]
    tables = [stay**lag * np.diag(p) + (1 - stay**lag) * np.outer(p, p) for lag in lags]
    plain = [plain_information(table) for table in tables]
    np.testing.assert_allclose(StickyChain(p, stay).information(lags), plain, atol=ROUNDING)


@pytest.mark.parametrize("stay", [0.0, 0.3, 0.8])
def test_a_sticky_chain_is_the_markov_chain_that_repeats_or_draws(stay: float) -> None:
    sticky = StickyChain.zipf(30, stay)
    p = sticky.probabilities
    chain = MarkovChain(stay * np.eye(30) + (1 - stay) * p)
    lags = [1, 2, 10, 60]
    # atol: without memory the matrix power leaves rounding where the closed form is zero.
    np.testing.assert_allclose(sticky.information(lags), chain.information(lags), rtol=1e-9, atol=1e-28)


def test_a_sticky_chain_of_50_000_symbols_has_all_digits_at_far_lags() -> None:
    chain = StickyChain.zipf(50_000, stay=0.5)
    # For small s = stay^tau, e(r) = r^2/2 and I = s^2 (number of symbols - 1)/2 up to a relative error s / min(p).
    far = np.array([100, 200])
    expected = 0.5 * 49_999 * 0.25**far
    np.testing.assert_allclose(chain.information(far), expected, rtol=1e-9)


def test_a_sticky_chain_repeats_as_often_as_it_says_and_draws_from_its_law() -> None:
    source, n = StickyChain.zipf(1_000, stay=0.8), 200_000
    symbols = source.sample(1, n, seed=0).store.read(0, n).astype(np.int64)
    p = source.probabilities
    repeats = 0.8 + 0.2 * float(p @ p)
    assert abs(np.mean(symbols[1:] == symbols[:-1]) - repeats) < 5 * np.sqrt(repeats * (1 - repeats) / n)
    seen = np.bincount(symbols, minlength=1_000) / n
    # Runs of symbols make frequencies (1 + stay)/(1 - stay) = 9 times as variable as independent draws.
    assert np.all(np.abs(seen - p) <= 5 * np.sqrt(9 * p / n) + 5 / n)


def test_every_document_of_a_sticky_chain_starts_independently() -> None:
    first = np.array([d[0] for d in StickyChain.zipf(3, stay=0.99).sample(30_000, 2, seed=0).documents()])
    # Were the last symbol of the document before repeated, neighbors would be equal in 99 % of cases.
    equal = float(np.sum(StickyChain.zipf(3, stay=0.99).probabilities ** 2))
    assert abs(np.mean(first[1:] == first[:-1]) - equal) < 5 * np.sqrt(equal * (1 - equal) / 30_000)


@pytest.mark.parametrize(("p", "stay"), [([0.5, 0.5], 1.0), ([0.5, 0.5], -0.1), ([1.0], 0.5), ([0.5, 0.4], 0.5)])
def test_impossible_sticky_chains_are_refused(p: list, stay: float) -> None:
    with pytest.raises(InputError, match="expected"):
        StickyChain(np.array(p), stay)


def test_zipf_frequencies_fall_with_the_rank() -> None:
    np.testing.assert_allclose(Independent.zipf(4).probabilities, np.array([12, 6, 4, 3]) / 25)
    with pytest.raises(InputError, match="two or more"):
        StickyChain.zipf(1, 0.5)


def test_a_cycle_keeps_the_logarithm_of_its_period() -> None:
    np.testing.assert_allclose(MarkovChain.cycle(7).information([1, 7, 12_345]), np.log(7), atol=ROUNDING)
    document = MarkovChain.cycle(7).sample(1, 50, seed=0).store.read(0, 50).astype(np.int64)
    assert np.all((document[1:] - document[:-1]) % 7 == 1)
    with pytest.raises(InputError, match="period 1"):
        MarkovChain.cycle(1)


@pytest.mark.parametrize("documents", [["abracadabra"], ["abc", "d", "ea"], [[3, 1, 3, 9], [9, 9]]])
def test_a_bigram_chain_is_the_markov_chain_of_the_closed_walk(documents: list) -> None:
    sequence = Sequence.from_documents(documents)
    walk = [int(symbol) for document in sequence.documents() for symbol in document]
    counts = np.zeros((len(sequence.alphabet),) * 2)
    for a, b in zip(walk, walk[1:] + walk[:1], strict=True):
        counts[a, b] += 1
    chain = BigramChain.fit(sequence)
    np.testing.assert_array_equal(chain.counts, counts)
    plain = MarkovChain(counts / counts.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(chain.stationary, plain.stationary, atol=ROUNDING)
    np.testing.assert_allclose(chain.information([1, 2, 5]), plain.information([1, 2, 5]), atol=ROUNDING)


def test_a_bigram_chain_counts_the_same_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    sequence = MarkovChain.lazy(5, stay=0.6).sample(3, 100, seed=0)
    whole = BigramChain.fit(sequence).counts
    monkeypatch.setattr(markov, "PIECE", 7)
    np.testing.assert_array_equal(BigramChain.fit(sequence).counts, whole)


def test_rare_symbols_are_merged_into_one() -> None:
    sequence = Sequence.from_documents(["aaabaaacaaadbbb"])
    merged = BigramChain.fit(sequence, n_symbols=3)  # a, b, and c with d
    by_hand = Sequence.from_documents(["aaabaaacaaacbbb"])
    np.testing.assert_array_equal(merged.counts, BigramChain.fit(by_hand).counts)
    np.testing.assert_array_equal(BigramChain.fit(sequence, n_symbols=4).counts, BigramChain.fit(sequence).counts)


def test_symbols_that_do_not_occur_have_no_place_in_a_bigram_chain() -> None:
    sequence = Independent(np.array([0.5, 0.0, 0.5])).sample(1, 100, seed=0)
    assert BigramChain.fit(sequence).counts.shape == (2, 2)


def test_a_large_bigram_chain_is_sampled_by_its_own_transitions() -> None:
    chain = BigramChain.fit(StickyChain.zipf(1_000, stay=0.5).sample(1, 100_000, seed=0))
    n = 200_000
    symbols = chain.sample(1, n, seed=1).store.read(0, n).astype(np.int64)
    again = np.bincount(len(chain.counts) * symbols[:-1] + symbols[1:], minlength=chain.counts.size)
    expected = (n - 1) * chain.counts.ravel() / chain.counts.sum()
    assert np.all(again[expected == 0] == 0)
    # Each count is near Poisson, a little wider because symbols come in runs.
    often = expected > 25
    assert np.abs((again - expected)[often] / np.sqrt(expected[often])).max() < 10


def test_counts_that_are_not_a_closed_walk_are_refused() -> None:
    for counts in ([[1, 2], [1, 1]], [[1, 0], [0, 0]], [[1.5, 0.5], [0.5, 1.5]], [[1, -1], [-1, 1]], [[3]]):
        with pytest.raises(InputError, match=r"use BigramChain\.fit"):
            BigramChain(np.array(counts))
    with pytest.raises(InputError, match="n_symbols 1"):
        BigramChain.fit(Sequence.from_documents(["abc"]), n_symbols=1)
    with pytest.raises(InputError, match="pass n_symbols"):
        BigramChain.fit(Sequence.from_documents([np.arange(5_000)]))

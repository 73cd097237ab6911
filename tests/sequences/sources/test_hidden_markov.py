"""Hidden Markov sources against the sum over all hidden paths, and the source that never forgets."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.sequences.sources import HiddenMarkov, MarkovChain, repeated_pair_information
from memspan.sequences.sources.source import stationary

ROUNDING = 1e-12
"""Sums of a few hundred terms of order one."""


def plain_information(joint: NDArray[np.float64]) -> float:
    independent = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    seen = joint > 0
    return float(np.sum(joint[seen] * np.log(joint[seen] / independent[seen])))


def over_all_paths(source: HiddenMarkov, lag: int) -> float:
    """The joint law of the first and the last symbol, summed over every path of hidden states."""
    p, e = source.transition, source.emission
    joint = np.zeros((e.shape[2], e.shape[2]))
    for path in itertools.product(range(len(p)), repeat=lag + 2):
        weight = stationary(p)[path[0]] * np.prod([p[a, b] for a, b in itertools.pairwise(path)])
        joint += weight * np.outer(e[path[0], path[1]], e[path[-2], path[-1]])
    return plain_information(joint)


def random_source(n_states: int, n_symbols: int, seed: int) -> HiddenMarkov:
    rng = np.random.default_rng(seed)
    return HiddenMarkov(
        rng.dirichlet(np.ones(n_states), n_states), rng.dirichlet(np.full(n_symbols, 0.3), (n_states, n_states))
    )


@settings(max_examples=15, deadline=None)
@given(st.integers(2, 3), st.integers(2, 4), st.integers(0, 2**32 - 1))
def test_information_is_that_of_all_hidden_paths(n_states: int, n_symbols: int, seed: int) -> None:
    source = random_source(n_states, n_symbols, seed)
    lags = [1, 2, 3]
    np.testing.assert_allclose(source.information(lags), [over_all_paths(source, lag) for lag in lags], atol=ROUNDING)


def test_a_chain_that_shows_its_state_is_a_markov_chain() -> None:
    p = np.array([[0.7, 0.2, 0.1], [0.05, 0.9, 0.05], [0.6, 0.0, 0.4]])
    shows_where_it_goes = np.broadcast_to(np.eye(3), (3, 3, 3))
    lags = np.array([1, 2, 10, 100])
    np.testing.assert_allclose(
        HiddenMarkov(p, shows_where_it_goes).information(lags), MarkovChain(p).information(lags), rtol=1e-9
    )


@pytest.mark.parametrize("p", [0.05, 0.3, 0.5, 0.9])
def test_repeated_pairs_have_constant_information_above_lag_one(p: float) -> None:
    printed = 4 * p * (p - 1) * np.arctanh((1 - 2 * p) ** 2) + np.log(2 + 4 * p * (p - 1))  # Eq. 52
    assert repeated_pair_information(p) == pytest.approx(printed, abs=ROUNDING)
    information = HiddenMarkov.periodic_pairs(p).information([2, 3, 4, 101, 10_000])
    np.testing.assert_allclose(information, printed, atol=ROUNDING)


@pytest.mark.parametrize("p", [0.05, 0.5, 0.9])
def test_lag_one_of_repeated_pairs_is_different(p: float) -> None:
    # Half of the neighbours are one pair (always unequal), half lie across pairs (correlation -(1 - 2p)^2).
    u = -(1 + (1 - 2 * p) ** 2) / 2
    by_hand = 0.5 * ((1 + u) * np.log(1 + u) + (1 - u) * np.log(1 - u))
    first = HiddenMarkov.periodic_pairs(p).information([1])[0]
    assert first == pytest.approx(by_hand, abs=ROUNDING)
    assert first > repeated_pair_information(p) + 0.05


def test_equal_pairs_share_nothing_and_certain_pairs_one_bit() -> None:
    assert repeated_pair_information(0.5) == 0.0
    np.testing.assert_allclose(repeated_pair_information([0.0, 1.0]), np.log(2))


def test_documents_are_pairs_in_both_phases() -> None:
    documents = np.stack(list(HiddenMarkov.periodic_pairs(0.5).sample(200, 40, seed=0).documents()))
    even = np.all(documents[:, 0::2] != documents[:, 1::2], axis=1)
    odd = np.all(documents[:, 1:-1:2] != documents[:, 2::2], axis=1)
    assert np.logical_or(even, odd).all()
    assert 60 < even.sum() < 140, "fair coin: 100 with standard deviation 7"


def test_a_symbol_that_is_never_emitted_changes_nothing() -> None:
    source = random_source(2, 2, seed=0)
    padded = HiddenMarkov(source.transition, np.pad(source.emission, ((0, 0), (0, 0), (0, 1))))
    np.testing.assert_allclose(padded.information([1, 5]), source.information([1, 5]), rtol=1e-12)
    assert padded.sample(1, 50, seed=0).alphabet == (0, 1, 2)


def test_emission_of_impossible_transitions_is_not_looked_at() -> None:
    source = HiddenMarkov.periodic_pairs(0.3)
    emission = np.array(source.emission)
    emission[0, 0] = 7.0
    np.testing.assert_array_equal(HiddenMarkov(source.transition, emission).emission, source.emission)


@pytest.mark.parametrize(
    ("emission", "why"),
    [
        (np.full((2, 2), 0.5), "shape"),
        (np.full((2, 3, 2), 0.5), "shape"),
        (np.ones((2, 2, 1)), "two or more"),
        (np.full((2, 2, 2), 0.4), "sums to 0.8"),
        (np.full((2, 2, 2), np.nan), "non-finite"),
    ],
)
def test_invalid_emissions_are_refused(emission: NDArray[np.float64], why: str) -> None:
    with pytest.raises(InputError, match=why):
        HiddenMarkov(np.full((2, 2), 0.5), emission)


def test_impossible_pair_probabilities_are_refused() -> None:
    for p in (0.0, 1.0, -0.1, np.nan):
        with pytest.raises(InputError, match="pair probability"):
            HiddenMarkov.periodic_pairs(p)
    with pytest.raises(InputError, match="from 0 to 1"):
        repeated_pair_information([0.5, 1.1])

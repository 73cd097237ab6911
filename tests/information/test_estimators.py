"""Entropy estimators under one contract, and against values computed by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import psi

from memspan.information import ESTIMATORS, Digamma, EntropyEstimator, Grassberger, MillerMadow, Plugin
from memspan.information.estimators import informations
from memspan.information.floor import excess, expected_information

every = pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS)
EXACT = 1e-12


@pytest.mark.parametrize("count", [1, 2, 7, 1000, 10**6])
def test_a_constant_has_no_plugin_entropy(count: int) -> None:
    assert Plugin().entropy(np.array([count])) == pytest.approx(0, abs=EXACT)
    assert MillerMadow().entropy(np.array([count])) == pytest.approx(0, abs=EXACT)


@every
def test_a_constant_of_many_symbols_has_almost_no_entropy(estimator: EntropyEstimator) -> None:
    assert estimator.entropy(np.array([10**6])) == pytest.approx(0, abs=1e-6)


@every
def test_a_fair_die_has_ln_6(estimator: EntropyEstimator) -> None:
    assert estimator.entropy(np.full(6, 10**5)) == pytest.approx(math.log(6), abs=1e-4)


@every
def test_empty_cells_and_order_do_not_matter(estimator: EntropyEstimator) -> None:
    counts = np.array([3, 1, 4, 1, 5, 9, 2, 6])
    spread = np.zeros((4, 4), np.int64)
    spread.flat[::2] = counts[::-1]
    assert estimator.entropy(spread) == pytest.approx(estimator.entropy(counts), abs=EXACT)


@every
@given(counts=st.lists(st.integers(0, 20_000), min_size=1, max_size=30).filter(any))
def test_tabulated_counts_equal_the_formula_term_by_term(estimator: EntropyEstimator, counts: list[int]) -> None:
    n = np.array([c for c in counts if c], dtype=np.float64)
    total = n.sum()
    expected = (
        math.log(total)
        - np.sum(n * estimator.weight(n)) / total
        + float(estimator.offset(np.array(len(n)), np.array(total)))
    )
    assert estimator.entropy(np.array(counts)) == pytest.approx(expected, abs=1e-9)


def test_the_formulas_by_hand() -> None:
    counts = np.array([1, 3])
    assert Plugin().entropy(counts) == pytest.approx(math.log(4) - 3 * math.log(3) / 4, abs=EXACT)
    assert MillerMadow().entropy(counts) == pytest.approx(Plugin().entropy(counts) + 1 / 8, abs=EXACT)
    assert Digamma().entropy(counts) == pytest.approx(math.log(4) - (psi(1) + 3 * psi(3)) / 4, abs=EXACT)
    # Grassberger's G: G(1) = -gamma - ln 2, G(2) = 2 - gamma - ln 2, G(2k + 1) = G(2k).
    g1 = -np.euler_gamma - math.log(2)
    assert Grassberger().weight(np.array([1.0, 2.0, 3.0])) == pytest.approx([g1, g1 + 2, g1 + 2], abs=1e-10)


@every
def test_names_are_the_words_of_the_command_line(estimator: EntropyEstimator) -> None:
    assert ESTIMATORS[estimator.name] == estimator


@every
def test_the_expected_information_of_independent_symbols_is_what_simulation_shows(estimator: EntropyEstimator) -> None:
    """Sparse and well-filled tables alike: 27 kinds with frequencies 1/k, 300 to 30,000 pairs."""
    generator = np.random.default_rng(0)
    share = 1 / np.arange(1.0, 28)
    share /= share.sum()
    margin = np.rint(1e7 * share).astype(np.int64)
    numbers = np.array([300.0, 3000.0, 30_000.0])
    expected = [expected_information(margin, margin, np.array([n]), estimator)[0] for n in numbers]
    for pairs, value in zip(numbers, expected, strict=True):
        tables = generator.multinomial(int(pairs), np.outer(share, share).ravel(), size=200)
        found = informations(None, tables, 27, estimator)[0]
        assert found.mean() == pytest.approx(value, abs=4 * found.std() / np.sqrt(200) + 0.02 * abs(value) + 1e-5)
    between = expected_information(margin, margin, np.array([300.0, 1000.0, 30_000.0]), estimator)[1]
    assert between == pytest.approx(
        expected_information(margin, margin, np.array([1000.0]), estimator)[0], abs=0.02 * expected[1] + 5e-3
    )


def test_the_excess_of_a_full_cell_is_one_half() -> None:
    assert excess(np.array([1e3]), Plugin())[0] == pytest.approx(0.5, abs=1e-3)
    assert excess(np.array([1e-6]), Plugin())[0] == pytest.approx(0, abs=1e-4)

"""The information formula that keeps its digits, against exact arithmetic."""

from decimal import Decimal, localcontext

import numpy as np
import pytest

from memspan.sequences.sources.exact import information_of_deviation, powers
from memspan.sequences.sources.sampler import alias_tables


def exactly(p: float, deviation: float) -> float:
    """Information of the joint law [[p p + d, p q - d], [q p - d, q q + d]] with sixty digits."""
    with localcontext() as context:
        context.prec = 60
        first, d = (Decimal(p), 1 - Decimal(p)), Decimal(deviation)
        total = Decimal(0)
        for i in range(2):
            for j in range(2):
                independent = first[i] * first[j]
                joint = independent + (d if i == j else -d)
                if joint > 0:
                    total += joint * (joint / independent).ln()
        return float(total)


@pytest.mark.parametrize("p", [0.5, 0.25])
@pytest.mark.parametrize("deviation", [0.0625, 0.01, 1.3e-3, 1.2e-3, 1e-6, -1e-9, 1e-100])
def test_information_has_all_its_digits_whatever_its_size(p: float, deviation: float) -> None:
    law = np.array([p, 1 - p])
    matrix = deviation * np.array([[1.0, -1.0], [-1.0, 1.0]])
    assert information_of_deviation(matrix, law, law) == pytest.approx(exactly(p, deviation), rel=1e-13)


def test_cells_without_mass_count_nothing() -> None:
    half = np.array([0.5, 0.5])
    always_equal = np.array([[0.25, -0.25], [-0.25, 0.25]])
    assert information_of_deviation(always_equal, half, half) == pytest.approx(np.log(2), abs=1e-15)


def test_powers_bridge_any_gap() -> None:
    rng = np.random.default_rng(0)
    left, matrix = rng.random((2, 3)), rng.dirichlet(np.ones(3), 3)
    exponents = np.array([0, 1, 2, 7, 8, 64, 100])
    for exponent, power in zip(exponents.tolist(), powers(left, matrix, exponents), strict=True):
        np.testing.assert_allclose(power, left @ np.linalg.matrix_power(matrix, exponent), rtol=1e-12)


@pytest.mark.parametrize("n_outcomes", [2, 5, 64])
def test_alias_tables_hold_exactly_the_law(n_outcomes: int) -> None:
    laws = np.random.default_rng(n_outcomes).dirichlet(np.full(n_outcomes, 0.3), 20)
    laws[0] = np.eye(n_outcomes)[1]
    keep, alias = alias_tables(laws)
    recovered = keep.copy()
    for row in range(len(laws)):
        np.add.at(recovered[row], alias[row], 1.0 - keep[row])
    np.testing.assert_allclose(recovered / n_outcomes, laws, atol=1e-14)

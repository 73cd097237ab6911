"""The smallest rational matrix of a given order, against every product of cyclotomic polynomials and against real powers."""

from __future__ import annotations

from itertools import product
from math import gcd, lcm, prod

import numpy as np
import pytest
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.memorization.rational import cyclotomic_polynomial, rational_matrix, rational_orders, rational_size


def phi(number: int) -> int:
    return sum(gcd(number, k) == 1 for k in range(1, number + 1))


def smallest_by_trying_all(order: int) -> int:
    """The least sum of phi(j) over all sets of divisors j whose lcm is the order."""
    cheapest = {1: 0}
    for divisor in (j for j in range(1, order + 1) if order % j == 0):
        for reached, cost in list(cheapest.items()):
            common = lcm(reached, divisor)
            cheapest[common] = min(cheapest.get(common, order), cost + phi(divisor))
    return max(1, cheapest[order])


def order_of(matrix: NDArray[np.int64], limit: int) -> int | None:
    """The first power that is the identity, multiplying whole numbers of any size."""
    exact, identity = matrix.astype(object), np.eye(len(matrix), dtype=object)
    power = exact
    for exponent in range(1, limit + 1):
        if np.array_equal(power, identity):
            return exponent
        power = power @ exact
    return None


@pytest.mark.parametrize(
    ("order", "size"), [(1, 1), (2, 1), (3, 2), (5, 4), (6, 2), (8, 4), (12, 4), (30, 6), (997, 996)]
)
def test_the_size_of_known_orders(order: int, size: int) -> None:
    assert rational_size(order) == size


def test_no_other_product_of_cyclotomic_polynomials_is_smaller() -> None:
    assert [rational_size(p) for p in range(1, 201)] == [smallest_by_trying_all(p) for p in range(1, 201)]


def test_the_matrix_has_the_order_and_the_smallest_size() -> None:
    for order in range(1, 61):
        matrix = rational_matrix(order)
        assert matrix.shape == (rational_size(order), rational_size(order))
        assert order_of(matrix, order) == order


def test_the_orders_of_a_size_are_those_that_need_no_more() -> None:
    for size in range(1, 11):
        assert rational_orders(size) == [order for order in range(1, 200) if rational_size(order) <= size]


def test_the_largest_orders_are_the_published_ones() -> None:
    # Largest finite order of a matrix of whole numbers with 2 n or 2 n + 1 rows, n = 1, 2 …: OEIS A005417.
    published = [6, 12, 30, 60, 120, 210, 420, 840, 1260, 2520, 2520, 5040, 9240, 13860, 27720, 32760, 55440]
    for n, largest in enumerate(published, start=1):
        assert rational_orders(2 * n)[-1] == rational_orders(2 * n + 1)[-1] == largest


def test_no_three_by_three_rational_matrix_has_order_eight() -> None:
    assert rational_orders(3) == [1, 2, 3, 4, 6]


def test_no_three_by_three_matrix_of_small_whole_numbers_has_order_eight() -> None:
    matrices = np.array(list(product((-1, 0, 1), repeat=9))).reshape(-1, 3, 3)
    assert len(matrices) == 19_683
    found = np.zeros(len(matrices), dtype=np.int64)
    power = matrices
    for exponent in range(1, 25):  # entries stay below 3^24, so whole numbers of 64 bits are exact
        identical = (power == np.eye(3, dtype=np.int64)).all(axis=(1, 2))
        found[identical & (found == 0)] = exponent
        power = power @ matrices
    assert set(found.tolist()) == {0, 1, 2, 3, 4, 6}


def test_a_four_by_four_matrix_has_order_eight() -> None:
    assert rational_matrix(8).shape == (4, 4)
    assert order_of(rational_matrix(8), 8) == 8


def test_the_cyclotomic_polynomials_of_the_divisors_multiply_to_one_less_than_a_power() -> None:
    for index in (1, 2, 12, 30, 64, 105, 120):
        divisors = [j for j in range(1, index + 1) if index % j == 0]
        polynomials = [np.array(cyclotomic_polynomial(j), dtype=object) for j in divisors]
        whole = prod((np.polynomial.Polynomial(p) for p in polynomials), start=np.polynomial.Polynomial([1]))
        assert list(whole.coef) == [-1, *[0] * (index - 1), 1]


def test_coefficients_leave_minus_one_to_one_at_index_105_and_not_before() -> None:
    # The note says that they always lie in {-1, 0, 1}.
    outside = [n for n in range(1, 200) if not set(cyclotomic_polynomial(n)) <= {-1, 0, 1}]
    assert outside[:2] == [105, 165]
    assert cyclotomic_polynomial(105)[7] == -2
    assert len(cyclotomic_polynomial(105)) == phi(105) + 1


@pytest.mark.parametrize("order", [0, -3, 10**9 + 1])
def test_an_order_out_of_range_is_refused(order: int) -> None:
    with pytest.raises(InputError, match=r"order .* is out of range; expected a whole number from 1 to"):
        rational_size(order)


def test_a_size_out_of_range_is_refused() -> None:
    with pytest.raises(InputError, match=r"size 61 is out of range; expected a whole number from 1 to 60"):
        rational_orders(61)


def test_a_matrix_too_large_to_write_out_is_refused() -> None:
    with pytest.raises(InputError, match=r"order 1,009 has 1,008 rows; expected an order that needs at most"):
        rational_matrix(1009)


def test_a_polynomial_too_long_to_multiply_out_is_refused() -> None:
    with pytest.raises(InputError, match=r"index 10,001 is out of range"):
        cyclotomic_polynomial(10_001)

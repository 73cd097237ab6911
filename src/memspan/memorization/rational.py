"""Hidden units that a period needs if every weight of W_h is rational: a sum of Euler's phi over prime powers."""

from __future__ import annotations

from itertools import takewhile
from math import isqrt, prod

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError

# Orders are factored by trial division, which takes a few milliseconds up to here.
LARGEST_ORDER = 10**9
# Rows of the largest matrix that is built: 8 MB.
LARGEST_MATRIX = 1_000
# Index of the largest cyclotomic polynomial that is expanded; takes up to a second.
LARGEST_POLYNOMIAL = 10_000
# Rows up to which all orders are listed: 3,886 of them, up to 6,846,840.
LARGEST_SIZE = 60


def rational_size(order: int) -> int:
    """The sum of phi(q) over the prime powers q that exactly divide `order`, where a single factor 2 is free; at least 1.

    This is the smallest d for which a rational d x d matrix of this multiplicative order exists. Memorization note 2023,
    last section, which shows it for order 8. In general: A^p = 1 makes the minimal polynomial of A a product of different
    cyclotomic polynomials Phi_j, irreducible over the rationals and of degree phi(j), and A has the order lcm of the j.
    Since phi(j k) = phi(j) phi(k) >= phi(j) + phi(k) for coprime j, k > 2, one polynomial for each prime power is the
    cheapest way to reach the lcm. The factor 2 of an order that is twice an odd number is the exception: if A has the odd
    order q, then -A has the order 2 q, so the factor costs nothing. Order 2 itself needs one row, as any matrix does.

    >>> [rational_size(order) for order in (1, 2, 5, 6, 8, 12, 30)]
    [1, 1, 4, 2, 4, 4, 6]
    """
    return max(1, sum(_cost(q) for q in _prime_powers(_checked("order", order, LARGEST_ORDER))))


def rational_orders(size: int) -> list[int]:
    """Every finite order that a rational matrix of `size` rows can have, in increasing order.

    A smaller matrix can be padded with ones on the diagonal, so these are the orders p with rational_size(p) <= size.

    >>> rational_orders(3), rational_orders(4)
    ([1, 2, 3, 4, 6], [1, 2, 3, 4, 5, 6, 8, 10, 12])
    """
    _checked("size", size, LARGEST_SIZE)
    costs = {1: 0}
    for prime in (number for number in range(2, size + 2) if _root(number) == number):
        powers = list(takewhile(lambda q: _cost(q) <= size, (prime**exponent for exponent in range(1, 64))))
        costs |= {
            order * q: cost + _cost(q) for order, cost in costs.items() for q in powers if cost + _cost(q) <= size
        }
    return sorted(costs)


def rational_matrix(order: int) -> NDArray[np.int64]:
    """An integer matrix of the given order with `rational_size(order)` rows.

    Companion matrices of the cyclotomic polynomials of the order's prime powers along the diagonal; where the order is
    twice an odd number, the first of them is negated.

    >>> rational_matrix(6).tolist()
    [[0, 1], [-1, 1]]
    """
    size = rational_size(order)
    if size > LARGEST_MATRIX:
        raise InputError(
            f"the smallest rational matrix of order {order:,} has {size:,} rows; "
            f"expected an order that needs at most {LARGEST_MATRIX:,}"
        )
    # Companion matrices of different prime powers have coprime orders, so their direct sum has the product as order.
    powers = _prime_powers(order)
    blocks = [_companion(cyclotomic_polynomial(q)) for q in powers if q != 2] or [np.eye(1, dtype=np.int64)]
    if 2 in powers:
        blocks[0] = -blocks[0]
    matrix = np.zeros((size, size), dtype=np.int64)
    start = 0
    for block in blocks:
        matrix[start : start + len(block), start : start + len(block)] = block
        start += len(block)
    return matrix


def cyclotomic_polynomial(index: int) -> list[int]:
    """The coefficients of Phi_index, the product of x - exp(2 pi i k / index) over k coprime to index; constant first.

    Phi_{p m}(x) = Phi_m(x^p) / Phi_m(x) for a prime p that does not divide m, and Phi_m(x^p) for one that does. The note
    says that the coefficients lie in {-1, 0, 1}; that holds up to index 104, and Phi_105 has a -2.

    >>> cyclotomic_polynomial(12), min(cyclotomic_polynomial(105))
    ([1, 0, -1, 0, 1], -2)
    """
    _checked("index", index, LARGEST_POLYNOMIAL)
    primes = [_root(q) for q in _prime_powers(index)]
    polynomial = [-1, 1]
    for prime in primes:
        polynomial = _quotient(_stretched(polynomial, prime), polynomial)
    return _stretched(polynomial, index // prod(primes))


def _checked(name: str, number: int, largest: int) -> int:
    if not 1 <= number <= largest:
        raise InputError(f"{name} {number:,} is out of range; expected a whole number from 1 to {largest:,}")
    return number


def _prime_powers(number: int) -> list[int]:
    """The prime powers whose product is `number`, by increasing prime."""
    powers: list[int] = []
    divisor = 2
    while divisor <= isqrt(number):
        power = 1
        while number % divisor == 0:
            number, power = number // divisor, power * divisor
        if power > 1:
            powers.append(power)
        divisor += 1
    return [*powers, number] if number > 1 else powers


def _root(prime_power: int) -> int:
    """The smallest prime divisor: the prime whose power this is."""
    return next((n for n in range(2, isqrt(prime_power) + 1) if prime_power % n == 0), prime_power)


def _cost(prime_power: int) -> int:
    """Rows that this factor of the order adds: its phi, and none for a single 2."""
    return 0 if prime_power == 2 else prime_power - prime_power // _root(prime_power)


def _stretched(polynomial: list[int], step: int) -> list[int]:
    """P(x^step)."""
    stretched = [0] * ((len(polynomial) - 1) * step + 1)
    stretched[::step] = polynomial
    return stretched


def _quotient(dividend: list[int], divisor: list[int]) -> list[int]:
    """dividend / divisor in exact integers, for a monic divisor that leaves no remainder."""
    rest, degree = list(dividend), len(divisor) - 1
    for top in range(len(rest) - 1, degree - 1, -1):
        for place in range(degree):
            rest[top - degree + place] -= rest[top] * divisor[place]
    return rest[degree:]


def _companion(polynomial: list[int]) -> NDArray[np.int64]:
    """The matrix with this minimal polynomial: ones below the diagonal, negated coefficients in the last column."""
    companion = np.eye(len(polynomial) - 1, k=-1, dtype=np.int64)
    companion[:, -1] = [-coefficient for coefficient in polynomial[:-1]]
    return companion

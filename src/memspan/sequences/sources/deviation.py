"""Information from how far a joint law lies from independence, without losing digits where that is little."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

SERIES_BELOW = 0.02
"""Where |r| is smaller, eight terms of the series are exact to rounding (0.02^8 / 45 < 1e-15)."""

_SERIES = [(-1.0) ** k / (k * (k - 1)) for k in range(10, 1, -1)]


def information_of_deviation(
    deviation: NDArray[np.float64], first: NDArray[np.float64], second: NDArray[np.float64]
) -> float:
    """I = sum_ab p_a q_b [(1+r) ln(1+r) - r], with r = d_ab/(p_a q_b) for the joint law p_a q_b + d_ab.

    The deviations d sum to zero, so the term -r adds nothing and makes every summand non-negative: 1e-12 nats
    come out as exact as one nat. Symbols that never occur may be in p and q.

    >>> p = np.array([0.5, 0.5])
    >>> information_of_deviation(np.array([[1e-9, -1e-9], [-1e-9, 1e-9]]), p, p)
    8e-18
    """
    independent = np.outer(first, second)
    r = np.divide(deviation, independent, out=np.zeros_like(deviation), where=independent > 0.0)
    # Rounding may leave 1 + r a little below zero where the joint law has no mass.
    return float(np.sum(independent * excess(np.maximum(r, -1.0))))


def excess(r: NDArray[np.float64]) -> NDArray[np.float64]:
    """(1+r) ln(1+r) - r = r^2/2 - r^3/6 + r^4/12 - …, the series where r is small."""
    value = np.polyval(_SERIES, r) * r * r
    large = np.abs(r) >= SERIES_BELOW
    if large.any():
        ratio = 1.0 + r[large]
        value[large] = ratio * np.log(np.maximum(ratio, np.finfo(np.float64).tiny)) - r[large]
    return value


def powers(
    left: NDArray[np.float64], matrix: NDArray[np.float64], exponents: NDArray[np.integer[Any]]
) -> Iterator[NDArray[np.float64]]:
    """left @ matrix^e for each of the ascending exponents; squares of the matrix bridge the gaps."""
    squares = [matrix]
    current, reached = left, 0
    for exponent in exponents.tolist():
        gap, bit = exponent - reached, 0
        while gap:
            if bit == len(squares):
                squares.append(squares[-1] @ squares[-1])
            if gap & 1:
                current = current @ squares[bit]
            gap, bit = gap >> 1, bit + 1
        reached = exponent
        yield current

"""Exact mutual information: of a joint distribution close to independence, and of two fair bits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memspan.errors import InputError

# Where |r| is smaller, the series is exact to rounding: its first omitted term is 0.02^9 / 55 < 1e-16 of the sum.
SERIES_BELOW = 0.02

_SERIES = [(-1.0) ** k / (k * (k - 1)) for k in range(10, 1, -1)]

# The largest float below one.
ALMOST_ONE = 1.0 - 2.0**-53

# More than any start needs: I is convex and the start lies above the root, so the iteration cannot diverge.
NEWTON_STEPS = 60


def information_of_deviation(
    deviation: NDArray[np.float64], first: NDArray[np.float64], second: NDArray[np.float64]
) -> float:
    """I = sum_ab p_a q_b [(1+r) ln(1+r) - r], with r = d_ab/(p_a q_b) for the joint distribution p_a q_b + d_ab.

    The deviations d sum to zero, so the term -r adds nothing and makes every summand non-negative: 1e-12 nats
    have the same relative accuracy as one nat. p and q may be zero for symbols that never occur.

    >>> p = np.array([0.5, 0.5])
    >>> information_of_deviation(np.array([[1e-9, -1e-9], [-1e-9, 1e-9]]), p, p)
    8e-18
    """
    independent = np.outer(first, second)
    r = np.divide(deviation, independent, out=np.zeros_like(deviation), where=independent > 0.0)
    # Rounding may leave 1 + r slightly below zero where the joint distribution has no mass.
    return float(np.sum(independent * excess(np.maximum(r, -1.0))))


def excess(r: NDArray[np.float64]) -> NDArray[np.float64]:
    """(1+r) ln(1+r) - r = r^2/2 - r^3/6 + r^4/12 - …, by the series where r is small."""
    value = np.polyval(_SERIES, r) * r * r
    large = np.abs(r) >= SERIES_BELOW
    if large.any():
        ratio = 1.0 + r[large]
        value[large] = ratio * np.log(np.maximum(ratio, np.finfo(np.float64).tiny)) - r[large]
    return value


def powers(
    left: NDArray[np.float64], matrix: NDArray[np.float64], exponents: NDArray[np.integer[Any]]
) -> Iterator[NDArray[np.float64]]:
    """left @ matrix^e for each of the ascending exponents; repeated squares of the matrix bridge the gaps."""
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


def fair_bit_information(correlation: ArrayLike) -> NDArray[np.float64]:
    """I(u) = 1/2 [(1+u) ln(1+u) + (1-u) ln(1-u)], u the correlation of two fair ±1 symbols, in nats.

    Computed as u arctanh(u) + 1/2 ln(1-u^2), which loses no digits at small u, where I is close to u^2/2.

    >>> fair_bit_information([0.0, 0.5, 1.0]).round(6).tolist()
    [0.0, 0.130812, 0.693147]
    """
    u = np.abs(np.asarray(correlation, dtype=np.float64))
    inside = np.minimum(u, ALMOST_ONE)
    return np.where(u >= 1.0, np.log(2.0), _fair_bits(inside, np.arctanh(inside)))


def information_of_correlation(correlation: ArrayLike) -> NDArray[np.float64]:
    """I(theta) = ln(2/pi) + [(pi-theta) ln(pi-theta) + theta ln(theta)]/pi.  Shen 2019, Eq. 46.

    The information in nats between the signs of two Gaussians of correlation c = cos(theta). The signs have
    correlation u = 1 - 2 theta/pi = (2/pi) arcsin(c). At small c it is 2 c^2/pi^2; at c = 0.7 it is already larger:

    >>> information_of_correlation(0.7).round(4), round(2 * 0.7**2 / np.pi**2, 4)
    (np.float64(0.1273), 0.0993)
    """
    c = np.asarray(correlation, dtype=np.float64)
    if not np.all(np.abs(c) <= 1.0):
        raise InputError(f"correlation {correlation}; expected numbers from -1 to 1")
    return fair_bit_information(2.0 / np.pi * np.arcsin(c))


def correlation_of_information(information: ArrayLike) -> NDArray[np.float64]:
    """The Gaussian correlation c >= 0 at which the signs share this information.  Inverse of Shen 2019, Eq. 46.

    >>> correlation_of_information([0.0, 0.1, np.log(2)]).round(4).tolist()
    [0.0, 0.6369, 1.0]
    """
    target = np.asarray(information, dtype=np.float64)
    if not np.all((target >= 0.0) & (target <= np.log(2.0))):
        raise InputError(f"information {information}; two binary symbols can share from 0 to ln 2 = 0.6931 nats")
    return np.sin(0.5 * np.pi * _sign_correlation(target))


def _sign_correlation(target: NDArray[np.float64]) -> NDArray[np.float64]:
    """u with I(u) = target by Newton's method; the derivative is arctanh(u)."""
    # I = u^2/2 + u^4/12 + u^6/30 + … gives the start.
    u = np.minimum(np.sqrt(2.0 * target * (1.0 - target / 3.0)), ALMOST_ONE)
    for _ in range(NEWTON_STEPS):
        slope = np.arctanh(u)
        step = np.divide(_fair_bits(u, slope) - target, slope, out=np.zeros_like(u), where=slope > 0.0)
        u = np.clip(u - step, 0.0, ALMOST_ONE)
        # Convergence is quadratic: after a step this small, u is exact to rounding.
        if np.all(np.abs(step) <= 1e-14 * u):
            break
    return np.where(target >= np.log(2.0), 1.0, u)


def _fair_bits(u: NDArray[np.float64], slope: NDArray[np.float64]) -> NDArray[np.float64]:
    """I(u) for 0 <= u < 1 and slope = arctanh(u); each form of ln(1-u^2) is accurate where it is used."""
    return u * slope + 0.5 * np.where(u < 0.5, np.log1p(-u * u), np.log((1.0 - u) * (1.0 + u)))

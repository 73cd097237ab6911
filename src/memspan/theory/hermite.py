"""E[f(z1) f(z2)] of two correlated normal variables as a power series in their correlation (Mehler's formula).

With a_k the coefficients of f(sqrt(q) z + mu) in normalised Hermite polynomials,

    E[f(z1) f(z2)] = sum_k a_k^2 c^k,

so two-point functions need no second dimension. What is left of E[f^2] after the last term is counted as one more
term of the next order: then the series is exact at c = 1, and for 0 <= c <= 1 it is never off by more than that term.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.theory.activations import Activation
from memspan.theory.gaussian import chunked

Array = NDArray[np.float64]

_LIMIT = 12.0
"""Half width of the interval: high polynomials reach farther than the normal density does."""
MOST_TERMS = 4096
_ROOM = 1 << 22
_PI = np.pi
_NOTHING = 1e-18
_LOOK = 16
"""Terms between two looks at whether the powers have become nothing."""


@final
@dataclass(frozen=True, eq=False)
class TwoPoint:
    """E[f f'] as a function of d = 1 - c, for many points at once; `squares[k]` is a_k^2 (terms, points)."""

    squares: Array
    whole: Array
    """E[f^2], exactly (points,)."""

    def select(self, points: NDArray[np.bool_] | NDArray[np.intp]) -> TwoPoint:
        """The same for some of the points only."""
        return TwoPoint(self.squares[:, points], self.whole[points])

    def loss(self, d: Array) -> Array:
        """E[f^2] - E[f f'] = sum_k a_k^2 (1 - c^k), without cancellation when c is near 1.

        1 - c^(k+1) = (1 - c^k) + c^k d is a sum of positive terms for 0 <= d <= 1.
        """
        lost, power, total, rest = np.zeros_like(d), np.ones_like(d), np.zeros_like(d), self.whole.copy()
        c, term = 1 - d, np.empty_like(d)
        for k, square in enumerate(self.squares):
            total += np.multiply(square, lost, out=term)
            rest -= square
            lost += np.multiply(power, d, out=term)
            power *= c
            if k % _LOOK == 0 and np.abs(power).max() < _NOTHING:
                break  # from here on 1 - c^k does not change any more
        return total + np.maximum(rest, 0.0) * lost

    def value(self, d: Array) -> Array:
        """E[f f'] = E[f^2] - loss."""
        return self.whole - self.loss(d)

    @property
    def tail(self) -> Array:
        """What the terms leave of E[f^2]; never negative but for rounding."""
        return np.maximum(self.whole - self.squares.sum(axis=0), 0.0)

    def error(self, d: Array) -> Array:
        """Largest possible error of `value`: all of the tail at the next order or at none, of either sign for c < 0."""
        return np.where(d > 1, 2.0, 1.0) * self.tail * np.abs(1 - d) ** len(self.squares)


def two_point(
    activation: Activation, q: Array, mean: Array, whole: tuple[Array, Array], *, digits: int = 10
) -> tuple[TwoPoint, TwoPoint]:
    """The series of phi and of phi' at variances `q` and means `mean` (points,).

    `whole` is E[phi^2] and E[phi'^2] by quadrature; `digits` is how small the tail shall be (1e-6 or 1e-10).
    """
    terms = term_count(float(q.max()), activation.strip, digits)
    first, second = np.zeros((terms, q.size)), np.zeros((terms, q.size))
    order = np.argsort(q, kind="stable")
    for chunk, z, weights in chunked(q[order], activation.strip, limit=_LIMIT, room=_ROOM):
        points = order[chunk]
        count = term_count(float(q[points[-1]]), activation.strip, digits)
        polynomials = _hermite(z, count) * np.sqrt(weights)
        e = np.sqrt(q[points])[:, None] * z + mean[points, None]
        first[:count, points] = _squares(polynomials, activation.value(e) * np.sqrt(weights))
        second[:count, points] = _squares(polynomials, activation.slopes(e)[0] * np.sqrt(weights))
    return TwoPoint(first, whole[0]), TwoPoint(second, whole[1])


def term_count(q: float, strip: float, digits: int) -> int:
    """About 9q terms for 6 digits and 21q for 10, for poles at ± i pi; poles at half of that need four times as many.

    >>> term_count(16.0, np.pi, 6), term_count(16.0, np.pi, 10)
    (168, 360)
    """
    if not np.isfinite(strip):
        return 4
    per_variance = 9.0 if digits <= 6 else 21.0
    return min(MOST_TERMS, 24 + int(np.ceil(per_variance * q * (_PI / strip) ** 2)))


def _squares(polynomials: Array, function: Array) -> Array:
    return (polynomials @ function.T) ** 2


def _hermite(z: Array, terms: int) -> Array:
    """He_k(z) / sqrt(k!) for k < terms, each orthonormal under the normal density: (terms, nodes)."""
    rows = np.empty((terms, z.size))
    rows[0] = 1.0
    if terms > 1:
        rows[1] = z
    for k in range(1, terms - 1):
        rows[k + 1] = (z * rows[k] - np.sqrt(k) * rows[k - 1]) / np.sqrt(k + 1)
    return rows

"""Gaussian expectations: E[f(z)] by the trapezoidal rule, E[f(z1) f(z2)] by a Hermite series.

**One variable.** For a function analytic on a strip of width s around the real line, the trapezoidal rule with step h
has an error of about exp(-2 pi s / (sqrt(q) h)); a step of s / (2 pi sqrt(q)) is exact to double precision. Gauss-Hermite
quadrature is unsuitable: for a saturated gate (q = 16) it has an error of 2.5e-4 with 100 nodes.

**Two variables of correlation c** (Mehler's formula). With a_k the coefficients of f(sqrt(q) z + mu) in normalized Hermite
polynomials, E[f(z1) f(z2)] = sum_k a_k^2 c^k, so no two-dimensional quadrature is needed. The remainder of E[f^2] after the
last term counts as one more term of the next order. The series is then exact at c = 1, and for 0 <= c <= 1 its error is at
most that term.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from memspan.errors import EvidenceError
from memspan.theory.meanfield.activations import Activation, Array

Integrand = Callable[[Array], tuple[Array, ...]]
"""Maps pre-activations (points, nodes) to one array of that shape per integral."""

# Half widths of the integration interval in standard deviations: P(|z| > 9) is 2e-19, but high Hermite
# polynomials grow.
_LIMIT, _SERIES_LIMIT = 9.0, 12.0
# Largest error of the rule with twice the step; the error of the rule itself is about the square of that.
COARSE_TOLERANCE = 1e-6
QUADRATURE_ERROR = COARSE_TOLERANCE**2
# Only variances of several million need more, far beyond any useful network.
_MOST_NODES = 1 << 16
_MOST_REFINEMENT = 16
# Numbers in memory at a time: 512 kB stay in the cache; the series needs larger blocks for its matrix
# products.
_BLOCK, _SERIES_BLOCK = 1 << 16, 1 << 22
# Points per chunk, evenly spaced, whose integrals are compared with those of twice the step.
_CHECKED_POINTS = 32
_STEPS_PER_STRIP = 2 * np.pi
_LARGEST_STEP = 0.5
MOST_TERMS = 4096
_NEGLIGIBLE_POWER = 1e-18
# Terms of the series between two checks whether c^k is negligible.
_POWER_CHECKS = 16


def expectation(
    integrand: Integrand, q: Array, mean: Array, *, strip: float, refine: int = 1
) -> tuple[tuple[Array, ...], float]:
    """E[f(sqrt(q) z + mean)] of every function that `integrand` returns, for q and mean of shape (points,).

    Also returns the largest difference from the rule with twice the step. The step is halved, up to four times, until that
    difference is small; raises EvidenceError if it never is.

    >>> (square,), error = expectation(lambda e: (e**2,), np.array([4.0]), np.array([1.0]), strip=np.inf)
    >>> round(float(square[0]), 12), error < 1e-6
    (5.0, True)
    """
    # Sorted, neighboring points need about the same number of nodes.
    order = np.argsort(q, kind="stable")
    values, error = _by_chunks(integrand, q[order], mean[order], strip, refine)
    scale = 1 + max((float(np.max(np.abs(value))) for value in values if value.size), default=0.0)
    if error > COARSE_TOLERANCE * scale:
        if refine >= _MOST_REFINEMENT:
            raise EvidenceError(
                f"the quadrature does not converge: halving the step still changes an integral by {error:.2g}; expected at "
                f"most {COARSE_TOLERANCE:g}; use a smoother activation, or correct its strip"
            )
        return expectation(integrand, q, mean, strip=strip, refine=2 * refine)
    back = np.empty_like(order)
    back[order] = np.arange(order.size)
    return tuple(value[back] for value in values), error


def _by_chunks(
    integrand: Integrand, q: Array, mean: Array, strip: float, refine: int
) -> tuple[tuple[Array, ...], float]:
    """Points in ascending q, so that each chunk uses only as many nodes as its largest q needs."""
    parts: list[tuple[Array, ...]] = []
    error = 0.0
    for chunk, z, weights in _chunks(q, strip, refine=refine):
        functions = integrand(np.sqrt(q[chunk])[:, None] * z + mean[chunk, None])
        parts.append(tuple(function @ weights for function in functions))
        checked = slice(None, None, max(1, (chunk.stop - chunk.start) // _CHECKED_POINTS))
        # Every second node is the rule with twice the step, at no extra evaluations.
        coarse = weights[::2] / weights[::2].sum()
        differences = (
            np.abs(function[checked, ::2] @ coarse - fine[checked])
            for function, fine in zip(functions, parts[-1], strict=True)
        )
        error = max(error, *(float(difference.max()) for difference in differences))
    return tuple(np.concatenate(columns) for columns in zip(*parts, strict=True)), error


def _chunks(
    q: Array, strip: float, *, limit: float = _LIMIT, refine: int = 1, block: int = _BLOCK
) -> Iterator[tuple[slice, Array, Array]]:
    """Slices of the ascending `q` that fit in memory, each with the nodes and weights for its largest value."""
    start = 0
    while start < q.size:
        first, _ = _nodes(float(q[start]), strip, limit, refine)
        stop = min(q.size, start + max(1, block // first.size))
        z, weights = _nodes(float(q[stop - 1]), strip, limit, refine)
        # Large variances at the end of a chunk would make all of it expensive: end it where the nodes have doubled.
        while z.size > 2 * first.size and stop - start > 1:
            stop = start + (stop - start + 1) // 2
            z, weights = _nodes(float(q[stop - 1]), strip, limit, refine)
        yield slice(start, stop), z, weights
        start = stop


def _nodes(q: float, strip: float, limit: float, refine: int) -> tuple[Array, Array]:
    """Standard normal nodes and weights with a step for pre-activations of variance up to `q`."""
    step = min(_LARGEST_STEP, strip / (_STEPS_PER_STRIP * np.sqrt(max(q, 1e-300)))) / refine
    needed = 2 * limit / step
    if needed > _MOST_NODES:
        raise EvidenceError(
            f"the quadrature does not converge: pre-activations of variance {q:.3g} need {needed:,.4g} nodes; expected at "
            f"most {_MOST_NODES:,}; use smaller sigma_w, sigma_v, sigma_b or input variance"
        )
    # An even number of steps on each side, so that every second node includes 0 and both ends.
    half = 2 * int(np.ceil(limit / step / 2))
    z = np.linspace(-limit, limit, 2 * half + 1)
    weights = np.exp(-(z**2) / 2)
    return z, weights / weights.sum()


@final
@dataclass(frozen=True, eq=False)
class TwoPoint:
    """E[f f'] as a function of d = 1 - c, for many points at once; `squares[k]` is a_k^2 (terms, points)."""

    squares: Array
    whole: Array
    """E[f^2], exactly (points,)."""

    def loss(self, d: Array) -> Array:
        """E[f^2] - E[f f'] = sum_k a_k^2 (1 - c^k), without cancellation for c near 1.

        1 - c^(k+1) = (1 - c^k) + c^k d is a sum of positive terms for 0 <= d <= 1.
        """
        lost, power, total, rest = np.zeros_like(d), np.ones_like(d), np.zeros_like(d), self.whole.copy()
        c, term = 1 - d, np.empty_like(d)
        for k, square in enumerate(self.squares):
            total += np.multiply(square, lost, out=term)
            rest -= square
            lost += np.multiply(power, d, out=term)
            power *= c
            if k % _POWER_CHECKS == 0 and np.abs(power).max() < _NEGLIGIBLE_POWER:
                break  # 1 - c^k does not change any more
        return total + np.maximum(rest, 0.0) * lost

    def value(self, d: Array) -> Array:
        """E[f f'] = E[f^2] - loss."""
        return self.whole - self.loss(d)

    @property
    def tail(self) -> Array:
        """Remainder of E[f^2] after all terms; non-negative up to rounding."""
        return np.maximum(self.whole - self.squares.sum(axis=0), 0.0)

    def error(self, d: Array) -> Array:
        """Bound on the error of `value`: all of the tail at the next order or beyond, of either sign for c < 0."""
        return np.where(d > 1, 2.0, 1.0) * self.tail * np.abs(1 - d) ** len(self.squares)


def two_point(
    activation: Activation, q: Array, mean: Array, whole: tuple[Array, Array], *, digits: int = 10
) -> tuple[TwoPoint, TwoPoint]:
    """The series of phi and of phi' at variances `q` and means `mean` (points,).

    `whole` is E[phi^2] and E[phi'^2] by quadrature; `digits` sets the size of the tail (6: 1e-6, 10: 1e-10).
    """
    terms = term_count(float(q.max()), activation.strip, digits)
    first, second = np.zeros((terms, q.size)), np.zeros((terms, q.size))
    order = np.argsort(q, kind="stable")
    for chunk, z, weights in _chunks(q[order], activation.strip, limit=_SERIES_LIMIT, block=_SERIES_BLOCK):
        points = order[chunk]
        count = term_count(float(q[points[-1]]), activation.strip, digits)
        # sqrt(weights) on both factors keeps high polynomials, which grow fast, within range.
        polynomials = _hermite(z, count) * np.sqrt(weights)
        e = np.sqrt(q[points])[:, None] * z + mean[points, None]
        first[:count, points] = (polynomials @ (activation.value(e) * np.sqrt(weights)).T) ** 2
        second[:count, points] = (polynomials @ (activation.slopes(e)[0] * np.sqrt(weights)).T) ** 2
    return TwoPoint(first, whole[0]), TwoPoint(second, whole[1])


def term_count(q: float, strip: float, digits: int) -> int:
    """About 9q terms for 6 digits and 21q for 10, for poles at ± i pi; poles half as far need four times as many.

    >>> term_count(16.0, np.pi, 6), term_count(16.0, np.pi, 10)
    (168, 360)
    """
    if not np.isfinite(strip):
        return 4
    per_variance = 9.0 if digits <= 6 else 21.0
    return min(MOST_TERMS, 24 + int(np.ceil(per_variance * q * (np.pi / strip) ** 2)))


def _hermite(z: Array, terms: int) -> Array:
    """He_k(z) / sqrt(k!) for k < terms, orthonormal under the normal density: (terms, nodes)."""
    rows = np.empty((terms, z.size))
    rows[0] = 1.0
    if terms > 1:
        rows[1] = z
    for k in range(1, terms - 1):
        rows[k + 1] = (z * rows[k] - np.sqrt(k) * rows[k - 1]) / np.sqrt(k + 1)
    return rows

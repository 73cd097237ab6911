"""E[f(sqrt(q) z + mu)] for a standard normal z, by the trapezoidal rule, with an error estimate.

For a function that is analytic on a strip of width s around the real line the rule with step h is off by about
exp(-2 pi s / (sqrt(q) h)), so a step of s / (2 pi sqrt(q)) leaves nothing that double precision could see.
Gauss-Hermite is the wrong rule here: for a saturated gate (q = 16) it is off by 2.5e-4 with 100 nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import EvidenceError
from memspan.theory.meanfield.activations import Activation

Array = NDArray[np.float64]
Integrand = Callable[[Array], tuple[Array, ...]]
"""Pre-activations (points, nodes) to one array of that shape per integral."""

LIMIT = 9.0
"""Half width of the interval: beyond it a normal variable has a probability of 2e-19."""
COARSE_TOLERANCE = 1e-6
"""How far the rule with twice the step may be off; the rule itself is off by about the square of that."""
QUADRATURE_ERROR = COARSE_TOLERANCE**2
MOST_NODES = 1 << 16
_ROOM = 1 << 16
"""Numbers held at a time (512 kB, so that they stay in the cache)."""
_CHECKED = 32
"""Points of a chunk, evenly spread, whose integrals are compared with those of twice the step."""
_STEPS_PER_STRIP = 2 * np.pi
_LARGEST_STEP = 0.5


def nodes(q: float, strip: float, *, limit: float = LIMIT, refine: int = 1) -> tuple[Array, Array]:
    """Standard normal nodes and weights whose step suits pre-activations of variance up to `q`."""
    step = min(_LARGEST_STEP, strip / (_STEPS_PER_STRIP * np.sqrt(max(q, 1e-300)))) / refine
    needed = 2 * limit / step
    if needed > MOST_NODES:
        raise EvidenceError(
            f"the quadrature does not converge: pre-activations of variance {q:.3g} need {needed:,.4g} nodes, more than "
            f"{MOST_NODES:,}; use smaller sigma_w, sigma_v, sigma_b or input variance"
        )
    half = 2 * int(np.ceil(limit / step / 2))
    z = np.linspace(-limit, limit, 2 * half + 1)
    weights = np.exp(-(z**2) / 2)
    return z, weights / weights.sum()


def expectation(
    integrand: Integrand, q: Array, mean: Array, *, strip: float, refine: int = 1
) -> tuple[tuple[Array, ...], float]:
    """E[f(sqrt(q) z + mean)] of every function that `integrand` returns, for arrays q and mean of one shape (points,).

    Also returns the largest difference to the rule with twice the step. The step is halved, up to four times,
    until that is small; otherwise the integral is refused.

    >>> (square,), error = expectation(lambda e: (e**2,), np.array([4.0]), np.array([1.0]), strip=np.inf)
    >>> round(float(square[0]), 12), error < 1e-6
    (5.0, True)
    """
    order = np.argsort(q, kind="stable")
    values, error = _by_chunks(integrand, q[order], mean[order], strip, refine)
    scale = 1 + max((float(np.max(np.abs(value))) for value in values if value.size), default=0.0)
    if error > COARSE_TOLERANCE * scale:
        if refine >= 16:
            raise EvidenceError(
                f"the quadrature does not converge: halving the step still changes an integral by {error:.2g} (at most "
                f"{COARSE_TOLERANCE:g} expected); use a smoother activation, or one whose strip is right"
            )
        return expectation(integrand, q, mean, strip=strip, refine=2 * refine)
    back = np.empty_like(order)
    back[order] = np.arange(order.size)
    return tuple(value[back] for value in values), error


def _by_chunks(
    integrand: Integrand, q: Array, mean: Array, strip: float, refine: int
) -> tuple[tuple[Array, ...], float]:
    """Points in ascending q, so that each chunk has the few nodes that its largest q needs."""
    parts: list[tuple[Array, ...]] = []
    error = 0.0
    for chunk, z, weights in chunked(q, strip, refine=refine):
        functions = integrand(np.sqrt(q[chunk])[:, None] * z + mean[chunk, None])
        parts.append(tuple(function @ weights for function in functions))
        checked = slice(None, None, max(1, (chunk.stop - chunk.start) // _CHECKED))
        coarse = weights[::2] / weights[::2].sum()
        differences = (
            np.abs(function[checked, ::2] @ coarse - fine[checked])
            for function, fine in zip(functions, parts[-1], strict=True)
        )
        error = max(error, *(float(difference.max()) for difference in differences))
    return tuple(np.concatenate(columns) for columns in zip(*parts, strict=True)), error


def chunked(
    q: Array, strip: float, *, limit: float = LIMIT, refine: int = 1, room: int = _ROOM
) -> Iterator[tuple[slice, Array, Array]]:
    """Slices of the ascending `q` that fit in memory, each with the nodes and weights of its largest."""
    start = 0
    while start < q.size:
        first, _ = nodes(float(q[start]), strip, limit=limit, refine=refine)
        stop = min(q.size, start + max(1, room // first.size))
        z, weights = nodes(float(q[stop - 1]), strip, limit=limit, refine=refine)
        # Large variances at the chunk's end would make all of it expensive: it ends where they are doubled.
        while z.size > 2 * first.size and stop - start > 1:
            stop = start + (stop - start + 1) // 2
            z, weights = nodes(float(q[stop - 1]), strip, limit=limit, refine=refine)
        yield slice(start, stop), z, weights
        start = stop


_SERIES_LIMIT = 12.0
"""Half width of the interval: high polynomials reach farther than the normal density does."""
MOST_TERMS = 4096
_SERIES_ROOM = 1 << 22
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
    for chunk, z, weights in chunked(q[order], activation.strip, limit=_SERIES_LIMIT, room=_SERIES_ROOM):
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

"""Uniform attention over a linear recurrence: gradients fall (or grow) as a power of the length.

With alpha_{i,t} = 1/t, h_{t+1} = V s_t + … and a normal V, every eigenvalue lambda of V can be treated separately. Let
g_m and p_m be dh_m/dh_t and ds_m/dh_t along its eigenvector, and G_m = g_t + … + g_m. Then

    g_t = 1,   p_m = g_m + G_m / m,   g_{m+1} = lambda p_m.

For t = 1 the generating function D(z) = sum_m (G_m / m) z^m obeys D' (1 - z)(1 - lambda z) = 1 + lambda D, so

    sum_m p_m z^m = ((1 - lambda z)^(a-1) (1 - z)^(-a) - 1) / lambda,   a = lambda / (1 - lambda).

For |lambda| < 1 the singularity nearest to the origin is z = 1, hence p_T ~ (1 - lambda)^(a-2) / Gamma(a+1) T^(a-1).
Intuitively, G changes slowly, so G' = lambda (G' + G / m), hence G ~ m^a. The start t changes the constant, not the
exponent. Kerg 2020, Proposition 4, has T^(lambda-1) and T^-1 instead (errata 11): Eq. 261 treats the sum over s' as a
constant, but it grows with q as (1 - lambda)^(-q), which turns the exponent lambda into lambda / (1 - lambda).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memspan.errors import EvidenceError, InputError
from memspan.theory.attention.sparse import sparse_attention_bound

# Largest difference of V V^T and V^T V relative to the squared norm of V: rounding of an orthogonal basis change.
NORMAL_TOLERANCE = 1e-10
# Largest difference of two successive local slopes. They approach the exponent as 1/T, so the later is as close to it.
CONVERGED = 0.005
# About ten seconds for one eigenvalue; the power law holds long before.
MOST_STEPS = 10**8
# Transfer matrices in memory at a time: 4 MB.
_BLOCK = 1 << 16


def uniform_attention_exponent(V: ArrayLike) -> NDArray[np.float64]:
    """Re(lambda / (1 - lambda)) - 1: the exponent of |ds_T/dh_t| in T along each eigenvector of V.

    Kerg 2020, Proposition 4, corrected (errata 11). `V` is a normal matrix or a list of its eigenvalues, all of modulus
    below 1. Then Re(1 / (1 - lambda)) > 1/2, so no exponent is below -3/2.

    >>> uniform_attention_exponent([0.3, 0.5, 0.7, -0.5]).round(4).tolist()
    [-0.5714, 0.0, 1.3333, -1.3333]
    """
    eigenvalues = contracting_eigenvalues(V)
    return np.real(eigenvalues / (1 - eigenvalues)) - 1


def printed_exponent(V: ArrayLike) -> NDArray[np.float64]:
    """max(-1, Re(lambda) - 1), the exponent as printed in Kerg 2020 (Proposition 4, Eq. 248 and 265).

    >>> printed_exponent([0.3, -0.5]).tolist()
    [-0.7, -1.0]
    """
    return np.maximum(-1.0, np.real(contracting_eigenvalues(V)) - 1)


def inverse_length_bound_holds(V: ArrayLike) -> bool:
    """Whether |ds_T/dh_t| = Omega(1/T), Theorem 1 of Kerg 2020: if and only if Re(lambda) >= |lambda|^2 for some lambda.

    This is equivalent to an exponent of at least -1 (errata 11); the theorem claims it for every normal V.

    >>> inverse_length_bound_holds([0.3, -0.5]), inverse_length_bound_holds([-0.5])
    (True, False)
    """
    eigenvalues = contracting_eigenvalues(V)
    return bool(np.any(np.real(eigenvalues) >= np.abs(eigenvalues) ** 2))


def uniform_attention_gradient(V: ArrayLike, lengths: ArrayLike, *, start: int = 1) -> NDArray[np.complex128]:
    """p_T(lambda): ds_T/dh_t along each eigenvector of V, at each T of `lengths`, for t = `start`.

    Shape lengths × eigenvalues. `V` is a normal matrix or a list of eigenvalues, of modulus below 1; `lengths` are
    increasing and at least `start`. The pair (g, G) advances by a product of 2 × 2 matrices, multiplied pairwise, so that
    a million steps take a fraction of a second.

    >>> uniform_attention_gradient([0.0, 0.5], [1, 2, 4]).real.tolist()
    [[2.0, 2.0], [0.5, 2.0], [0.25, 2.0]]
    """
    eigenvalues, ends = contracting_eigenvalues(V), _checked_lengths(lengths, start)
    pair = np.ones((len(eigenvalues), 2, 1), np.complex128)
    gradients, reached = np.empty((len(ends), len(eigenvalues)), np.complex128), start
    # Overflow is detected once at the end instead of in every product.
    with np.errstate(over="ignore", invalid="ignore"):
        for row, end in enumerate(ends):
            pair, reached = _advance(pair, eigenvalues, reached, end), end
            gradients[row] = pair[:, 0, 0] + pair[:, 1, 0] / end
    if not np.isfinite(gradients).all():
        raise InputError(
            f"the gradient over {ends[-1]:,} steps is too large for a float; use fewer steps or smaller eigenvalues"
        )
    return gradients


def measured_exponent(V: ArrayLike, *, length: int = 40_000, start: int = 1) -> NDArray[np.float64]:
    """log2 |p_T / p_{T/2}| at T = `length`: the exponent measured on the exact gradient, for each eigenvector of V.

    For a complex eigenvalue the phase of p_T rotates with log T; its modulus is still a power. Raises EvidenceError if
    the slope has not converged, that is if it differs from the one at T/2 by more than 0.005.

    >>> measured_exponent([0.3, -0.5]).round(3).tolist()
    [-0.571, -1.333]
    """
    if length < 4 * start:
        raise InputError(f"length {length:,}; expected at least four times the start {start:,}")
    # Exact doublings, so that the slopes are logarithms to base 2.
    lengths = [length // 4, 2 * (length // 4), 4 * (length // 4)]
    sizes = np.abs(uniform_attention_gradient(V, lengths, start=start))
    earlier, slope = np.diff(np.log2(sizes), axis=0)
    change = float(np.max(np.abs(slope - earlier)))
    if change > CONVERGED:
        raise EvidenceError(
            f"the slope still changes by {change:.2g} at length {length:,}; expected at most {CONVERGED}; use a longer one"
        )
    return slope


def contracting_eigenvalues(V: ArrayLike) -> NDArray[np.complex128]:
    """The eigenvalues of a normal V (or a list of them); raises InputError unless all have modulus below 1."""
    values = np.atleast_1d(np.asarray(V, np.complex128))
    if not values.size or not np.isfinite(values).all():
        wrong = values[~np.isfinite(values)]
        raise InputError(
            f"{wrong[0] if wrong.size else 'nothing'}; expected finite eigenvalues, or a matrix of finite numbers"
        )
    eigenvalues = values if values.ndim == 1 else _eigenvalues_of_normal(values)
    largest = float(np.max(np.abs(eigenvalues)))
    if largest >= 1:
        raise InputError(
            f"an eigenvalue of modulus {largest:.4g}; expected all below 1, where the gradient is a power of the length"
        )
    return eigenvalues


def _eigenvalues_of_normal(V: NDArray[np.complex128]) -> NDArray[np.complex128]:
    if V.ndim != 2 or V.shape[0] != V.shape[1]:
        raise InputError(f"V has shape {V.shape}; expected a square matrix, or its eigenvalues in one dimension")
    departure = np.linalg.norm(V @ V.conj().T - V.conj().T @ V)
    if departure > NORMAL_TOLERANCE * np.linalg.norm(V) ** 2:
        raise InputError(
            f"V is not normal (|V V* - V* V| = {departure:.2g}); expected a normal matrix, for example a symmetric "
            "or scaled orthogonal one"
        )
    return np.linalg.eigvals(V).astype(np.complex128)


def _checked_lengths(lengths: ArrayLike, start: int) -> list[int]:
    ends = np.asarray(lengths)
    if start < 1 or ends.ndim != 1 or not np.issubdtype(ends.dtype, np.integer) or not ends.size:
        raise InputError(
            f"lengths {lengths!r} from start {start}; expected whole numbers in one dimension, and start >= 1"
        )
    if ends[-1] > MOST_STEPS:
        raise InputError(f"{int(ends[-1]):,} steps; expected at most {MOST_STEPS:,}")
    if ends[0] < start or np.any(np.diff(ends) <= 0):
        raise InputError(f"lengths {lengths!r}; expected them to increase, from the start {start:,} on")
    return [int(end) for end in ends]


def _advance(
    pair: NDArray[np.complex128], eigenvalues: NDArray[np.complex128], begin: int, end: int
) -> NDArray[np.complex128]:
    """(g, G) at step `end` from (g, G) at step `begin`, for every eigenvalue: shape eigenvalues × 2 × 1."""
    size = max(_BLOCK // len(eigenvalues), 1)
    for first in range(begin, end, size):
        pair = _product(_transfer(eigenvalues, np.arange(first, min(first + size, end)))) @ pair
    return pair


def _transfer(eigenvalues: NDArray[np.complex128], steps: NDArray[np.int64]) -> NDArray[np.complex128]:
    """M_m = [[lambda, lambda/m], [lambda, 1 + lambda/m]] takes (g_m, G_m) to m + 1; steps × eigenvalues × 2 × 2."""
    matrices = np.empty((len(steps), len(eigenvalues), 2, 2), np.complex128)
    matrices[..., 0] = eigenvalues[:, None]
    matrices[..., 1] = (eigenvalues / steps[:, None])[..., None]
    matrices[..., 1, 1] += 1
    return matrices


def _product(matrices: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """M_last … M_first along the first axis, pairwise, so that numpy multiplies many at once."""
    while len(matrices) > 1:
        pairs = matrices[1::2] @ matrices[: len(matrices) // 2 * 2 : 2]
        # An odd matrix at the end waits for the next round.
        matrices = np.concatenate([pairs, matrices[-1:]]) if len(matrices) % 2 else pairs
    return matrices[0]


# Distances per decade at which the gradient is computed.
_PER_DECADE = 12


@final
@dataclass(frozen=True, eq=False)
class AttentionDecay:
    """|ds_T/dh_1| along one eigenvector of V against the distance T - 1, with uniform attention and without.

    The recurrence is linear and V normal (Kerg 2020, appendix A.3).
    """

    eigenvalue: complex
    """The eigenvalue lambda of V, of modulus below 1."""
    steps: int
    """The largest distance."""
    distances: NDArray[np.int64]
    """T - 1 in steps, from 1 to `steps`: all up to 12, then about 12 per decade."""
    gradient: NDArray[np.float64]
    """|ds_T/dh_1| under uniform attention, exact, at each distance."""
    without_attention: NDArray[np.float64]
    """|dh_T/dh_1| = |lambda|^(T-1) of the plain recurrence at each distance; underflows to 0."""
    exponent: float
    """Asymptotic exponent of `gradient` in T: Re(lambda / (1 - lambda)) - 1."""
    printed_exponent: float
    """As printed in Kerg 2020: max(-1, Re(lambda) - 1); wrong (errata 11)."""
    sparse_bound: float | None
    """Lower bound under sparse attention of the given kappa and depth, at any distance; None if not requested."""


def attention_prediction(
    eigenvalue: complex, steps: int, *, kappa: int | None = None, depth: int | None = None
) -> AttentionDecay:
    """Decay of a gradient over 1 to `steps` steps with uniform attention, with sparse attention, and without.

    `kappa` (attended states per step) and `depth` (dependency depth) together request the bound of Theorem 2, which
    requires a positive real eigenvalue.

    >>> attention_prediction(0.5, 100, kappa=2, depth=1).sparse_bound
    0.125
    """
    if steps < 1:
        raise InputError(f"{steps} steps; expected at least 1")
    if (kappa is None) != (depth is None):
        raise InputError(f"kappa {kappa}, depth {depth}; expected both or neither, for the bound of sparse attention")
    value, distances = complex(eigenvalue), _distances(steps)
    return AttentionDecay(
        eigenvalue=value,
        steps=steps,
        distances=distances,
        gradient=np.abs(uniform_attention_gradient([value], distances + 1)[:, 0]),
        without_attention=abs(value) ** distances.astype(np.float64),
        exponent=float(uniform_attention_exponent([value])[0]),
        printed_exponent=float(printed_exponent([value])[0]),
        sparse_bound=None if kappa is None or depth is None else sparse_attention_bound(value, kappa, depth),
    )


def _distances(steps: int) -> NDArray[np.int64]:
    count = int(_PER_DECADE * np.log10(steps)) + 2
    spaced = np.unique(np.rint(np.geomspace(1, steps, count)).astype(np.int64))
    return np.union1d(spaced, np.arange(1, min(steps, _PER_DECADE) + 1))

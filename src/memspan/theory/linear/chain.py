"""Gaussian Markov chains observed through a linear map: recursions over many steps at once, without cancellation.

s_t = A s_{t-1} + B y_t and x_t = C s_t with y_t ~ N(0, I). A linear RNN is such a chain with s = (h, x).

>>> chain = Chain(A=np.array([[0.9]]), B=np.eye(1), C=np.eye(1), F=np.array([[0.19**-0.5]]))
>>> np.allclose(chain_information(chain, np.array([1, 1000])), [-0.5 * np.log(0.19), 0.5 * 0.9**2000], rtol=1e-12, atol=0)
True
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike, NDArray

from memspan.errors import EvidenceError, InputError

if TYPE_CHECKING:
    from memspan.theory.linear import LinearRNN, Start

Floats = NDArray[np.float64]

# Directions smaller than this share of their matrix are rounding errors.
NEGLIGIBLE = 1e-12

# Largest relative error of an information, estimated from the condition of cov(x_t | x_0).
PRECISION = 1e-6


@final
@dataclass(frozen=True, eq=False)
class Chain:
    """s_t = A s_{t-1} + B y_t, x_t = C s_t, s_0 = F z, with independent standard normal y_t and z."""

    A: Floats
    B: Floats
    C: Floats
    F: Floats


def minimal(chain: Chain) -> Chain:
    """The smallest chain with the same x: only the modes that B or F excites and C observes.

    Other modes may decay more slowly than all the rest. Their rounding errors would then hide the covariances at large
    lags, and their eigenvalues would be mistaken for the rate.
    """
    reached = _reachable(chain.A, chain.B, chain.F)
    within = reached.T @ chain.A @ reached
    observed = _reachable(within.T, (chain.C @ reached).T)
    basis = reached @ observed
    return Chain(basis.T @ chain.A @ basis, basis.T @ chain.B, chain.C @ basis, basis.T @ chain.F)


def _reachable(A: Floats, *inputs: Floats) -> Floats:
    """Orthonormal columns that span B, A B, A^2 B, … for every input B."""
    # Normalized, so that a small noise or start is not mistaken for rounding.
    sizes = [np.linalg.norm(B) for B in inputs]
    new = np.hstack([B / size for B, size in zip(inputs, sizes, strict=True) if size > 0.0])
    basis, size = np.zeros((len(A), 0)), 1.0
    while True:
        left, share, _ = np.linalg.svd(_without(basis, new), full_matrices=False)
        found = left[:, share > NEGLIGIBLE * size]
        if not found.size:
            return basis
        basis = np.linalg.qr(np.hstack([basis, found]))[0]
        if len(basis) == basis.shape[1]:
            return np.eye(len(A))  # all of the space: the original coordinates preserve exact zeros
        new, size = A @ basis[:, -found.shape[1] :], float(np.linalg.norm(A, 2))


def _without(basis: Floats, columns: Floats) -> Floats:
    """The part of the columns orthogonal to the basis; projected twice, because once leaves rounding errors."""
    for _ in range(2):
        columns = columns - basis @ (basis.T @ columns)
    return columns


def chain_covariances(chain: Chain, lags: NDArray[np.int64]) -> Floats:
    """cov(x_t, x_0) = C A^t F F^T C^T at each lag, of shape (lags, d, d)."""
    distinct, place = np.unique(lags, return_inverse=True)
    found = np.empty((len(distinct), len(chain.C), len(chain.C)))
    product = chain.F @ (chain.C @ chain.F).T
    for number, gap in enumerate(np.diff(distinct, prepend=0)):
        product = np.linalg.matrix_power(chain.A, int(gap)) @ product
        found[number] = chain.C @ product
    return found[place]


def chain_information(chain: Chain, lags: NDArray[np.int64]) -> Floats:
    """I(x_0; x_t) = 1/2 sum_i ln(1 + r_i^2), in nats, with r the singular values of L^{-1} G.

    G is the coefficient of the whitened x_0 in x_t, L a triangular root of cov(x_t | x_0). This equals
    -1/2 ln det(I - S_00^{-1} S_0t S_tt^{-1} S_0t^T), Shen 2019, Eq. 8, but nothing is subtracted, so it is accurate
    whether the information is 1e-30 or 30. For a growing A everything is in units of its growth.
    """
    distinct, place = np.unique(lags, return_inverse=True)
    # Without this scaling a growing chain would overflow long before the lags of interest.
    growth = max(1.0, float(np.abs(np.linalg.eigvals(chain.A)).max()))
    known, unknown = _split(chain)
    found, time = np.empty(len(distinct)), 0
    for number, lag in enumerate(distinct.tolist()):
        step = _steps(_ChainStep(chain.A / growth, chain.B / growth, 1, growth), lag - time)
        known = step.power @ known
        unknown = _root(np.hstack([step.power @ unknown, growth**-time * step.noise]))
        found[number] = _information(chain.C @ known, _root(chain.C @ unknown), lag)
        time = lag
    return found[place]


def _split(chain: Chain) -> tuple[Floats, Floats]:
    """M and N of s_0 = M a + N b with independent normals a, b, where x_0 determines a and is independent of b."""
    _, size, turn = np.linalg.svd(chain.C @ chain.F)
    rank = int(np.sum(size > NEGLIGIBLE * size.max(initial=0.0)))
    turned = chain.F @ turn.T
    return turned[:, :rank], turned[:, rank:]


def _root(factor: Floats) -> Floats:
    """A lower triangular L with L L^T = factor factor^T."""
    return np.asarray(np.linalg.qr(factor.T, mode="r")).T


def _information(signal: Floats, noise: Floats, lag: int) -> float:
    smallest = np.abs(np.diag(noise)).min()
    # np.linalg.cond divides by the smallest singular value, so a vanishing noise is caught first.
    condition = np.linalg.cond(noise) if smallest > 1e-150 * max(1.0, np.abs(signal).max(initial=0.0)) else np.inf
    if condition * np.finfo(np.float64).eps > PRECISION:
        raise EvidenceError(
            f"at lag {lag:,} the state is too large for double precision to resolve the noise; use smaller lags"
        )
    ratio = scipy.linalg.solve_triangular(noise, signal, lower=True)
    return float(0.5 * np.log1p(np.linalg.svd(ratio, compute_uv=False) ** 2).sum())


@final
@dataclass(frozen=True, eq=False)
class _ChainStep:
    """`count` steps at once: s -> power s + noise y, in units of growth^count."""

    power: Floats
    noise: Floats
    count: int
    growth: float


def _steps(one: _ChainStep, count: int) -> _ChainStep:
    """`count` steps by doubling: about 2 log2(count) products."""
    whole, doubled = None, one
    while True:
        if count & 1:
            whole = doubled if whole is None else _then(whole, doubled)
        count >>= 1
        if count == 0:
            assert whole is not None, "lags are distinct, so at least one step apart"
            return whole
        doubled = _then(doubled, doubled)


def _then(first: _ChainStep, second: _ChainStep) -> _ChainStep:
    # The second noise has not grown with the first steps, hence its smaller weight.
    noise = np.hstack([second.power @ first.noise, first.growth**-first.count * second.noise])
    return _ChainStep(second.power @ first.power, _root(noise), first.count + second.count, first.growth)


def covariance_printed(network: LinearRNN, start: Start, lags: ArrayLike) -> Floats:
    """S_t = U_o U_h^t S_h + sum_{i=0}^{t-2} U_o U_h^{t-1-i} W_h S_i, as printed in Shen 2019, Eq. 6 and 21.

    S_t = cov(x_t, x_0), S_h = cov(h_0, x_0). It has one factor U_h too many: see `covariance_corrected` (errata 1).
    """
    return _covariance_sums(network, start, lags, surplus=1)


def covariance_corrected(network: LinearRNN, start: Start, lags: ArrayLike) -> Floats:
    """S_t = U_o U_h^{t-1} S_h + sum_{i=0}^{t-2} U_o U_h^{t-2-i} W_h S_i: Eq. 6 and 21 with errata 1.

    h_t = U_h^t h_0 + sum_{i<t} U_h^{t-1-i} W_h x_i and x_t has the mean U_o h_{t-1}, not U_o h_t.
    """
    return _covariance_sums(network, start, lags, surplus=0)


def _covariance_sums(network: LinearRNN, start: Start, lags: ArrayLike, *, surplus: int) -> Floats:
    distances = checked_lags(lags, least=0)
    powers = [np.linalg.matrix_power(network.U_h, k) for k in range(int(distances.max(initial=0)) + surplus + 1)]
    S_h, S_0 = np.split(start.covariance[:, network.hidden :], [network.hidden])
    S = [S_0]
    for t in range(1, int(distances.max(initial=0)) + 1):
        past = sum((powers[t - 2 - i + surplus] @ network.W_h @ S[i] for i in range(t - 1)), np.zeros_like(S_h))
        S.append(network.U_o @ (powers[t - 1 + surplus] @ S_h + past))
    return np.array(S)[distances]


def checked_lags(lags: ArrayLike, *, least: int) -> NDArray[np.int64]:
    """Lags as a one-dimensional array; raises InputError for lags below `least`."""
    array = np.atleast_1d(np.asarray(lags))
    if array.ndim != 1 or array.dtype.kind not in "iu" or np.any(array < least):
        raise InputError(f"lags are {lags}; expected a list of whole numbers from {least} on")
    return array.astype(np.int64)

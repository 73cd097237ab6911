"""Gaussian Markov chains seen through a linear map: their recursions, many steps at a time and without cancellation.

s_t = A s_{t-1} + B y_t and x_t = C s_t with y_t ~ N(0, I). A linear RNN is such a chain with s = (h, x).

>>> chain = Chain(A=np.array([[0.9]]), B=np.eye(1), C=np.eye(1), F=np.array([[0.19**-0.5]]))
>>> np.allclose(information(chain, np.array([1, 1000])), [-0.5 * np.log(0.19), 0.5 * 0.9**2000], rtol=1e-12, atol=0)
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

NEGLIGIBLE = 1e-12
"""A direction that is smaller than this share of the matrix it comes from is taken for rounding."""

PRECISION = 1e-6
"""Relative error, estimated from the condition of x_t, up to which an information is told."""


@final
@dataclass(frozen=True, eq=False)
class Chain:
    """s_t = A s_{t-1} + B y_t, x_t = C s_t, beginning with s_0 = F z; y_t and z are independent normals."""

    A: Floats
    B: Floats
    C: Floats
    F: Floats


def minimal(chain: Chain) -> Chain:
    """The smallest chain with the same x: only what B or F excites and C observes.

    What is never excited or never observed can decay more slowly than all the rest; its rounding errors would then
    hide the covariances at large lags, and its eigenvalues would be taken for the rate.
    """
    reached = _reachable(chain.A, chain.B, chain.F)
    within = reached.T @ chain.A @ reached
    observed = _reachable(within.T, (chain.C @ reached).T)
    basis = reached @ observed
    return Chain(basis.T @ chain.A @ basis, basis.T @ chain.B, chain.C @ basis, basis.T @ chain.F)


def _reachable(A: Floats, *inputs: Floats) -> Floats:
    """Orthonormal columns that span B, A B, A^2 B, … for every input B."""
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
            return np.eye(len(A))  # everything: the coordinates stay, and with them zeros that are exact
        new, size = A @ basis[:, -found.shape[1] :], float(np.linalg.norm(A, 2))


def _without(basis: Floats, columns: Floats) -> Floats:
    """What of the columns is orthogonal to the basis; taken off twice, since once leaves rounding errors."""
    for _ in range(2):
        columns = columns - basis @ (basis.T @ columns)
    return columns


def covariances(chain: Chain, lags: NDArray[np.int64]) -> Floats:
    """cov(x_t, x_0) = C A^t F F^T C^T at each lag, of shape (lags, d, d)."""
    distinct, place = np.unique(lags, return_inverse=True)
    found = np.empty((len(distinct), len(chain.C), len(chain.C)))
    product = chain.F @ (chain.C @ chain.F).T
    for number, gap in enumerate(np.diff(distinct, prepend=0)):
        product = np.linalg.matrix_power(chain.A, int(gap)) @ product
        found[number] = chain.C @ product
    return found[place]


def information(chain: Chain, lags: NDArray[np.int64]) -> Floats:
    """I(x_0; x_t) = 1/2 sum_i ln(1 + r_i^2), in nats, with r the singular values of L^{-1} G.

    G is what of x_t is linear in the whitened x_0, L a triangular root of cov(x_t | x_0). This equals
    -1/2 ln det(I - S_00^{-1} S_0t S_tt^{-1} S_0t^T), Shen 2019, Eq. 8, but nothing is subtracted, so that it is exact
    both when it is 1e-30 and when it is 30. Where A grows, all is kept in units of its growth.
    """
    distinct, place = np.unique(lags, return_inverse=True)
    growth = max(1.0, float(np.abs(np.linalg.eigvals(chain.A)).max()))
    told, untold = _split(chain)
    found, time = np.empty(len(distinct)), 0
    for number, lag in enumerate(distinct.tolist()):
        step = _steps(_Step(chain.A / growth, chain.B / growth, 1, growth), lag - time)
        told = step.power @ told
        untold = _root(np.hstack([step.power @ untold, growth**-time * step.noise]))
        found[number] = _information(chain.C @ told, _root(chain.C @ untold), lag)
        time = lag
    return found[place]


def _split(chain: Chain) -> tuple[Floats, Floats]:
    """s_0 = M a + N b with independent normals a, b, where x_0 tells a exactly and nothing about b."""
    _, size, turn = np.linalg.svd(chain.C @ chain.F)
    rank = int(np.sum(size > NEGLIGIBLE * size.max(initial=0.0)))
    turned = chain.F @ turn.T
    return turned[:, :rank], turned[:, rank:]


def _root(factor: Floats) -> Floats:
    """A lower triangular L with L L^T = factor factor^T."""
    return np.asarray(np.linalg.qr(factor.T, mode="r")).T


def _information(signal: Floats, noise: Floats, lag: int) -> float:
    smallest = np.abs(np.diag(noise)).min()
    condition = (
        np.linalg.cond(noise) if smallest > 1e-150 * max(1.0, np.abs(signal).max(initial=0.0)) else np.inf
    )
    if condition * np.finfo(np.float64).eps > PRECISION:
        raise EvidenceError(
            f"at lag {lag:,} the network has grown so much that double precision loses the noise beside it; "
            "ask for smaller lags"
        )
    ratio = scipy.linalg.solve_triangular(noise, signal, lower=True)
    return float(0.5 * np.log1p(np.linalg.svd(ratio, compute_uv=False) ** 2).sum())


@final
@dataclass(frozen=True, eq=False)
class _Step:
    """`count` steps at once: s -> power s + noise y, in units of growth^count."""

    power: Floats
    noise: Floats
    count: int
    growth: float


def _steps(one: _Step, count: int) -> _Step:
    """`count` times `one` step, by doubling: about 2 log2(count) products."""
    whole, doubled = None, one
    while True:
        if count & 1:
            whole = doubled if whole is None else _then(whole, doubled)
        count >>= 1
        if count == 0:
            assert whole is not None, "a lag is at least one step after the one before"
            return whole
        doubled = _then(doubled, doubled)


def _then(first: _Step, second: _Step) -> _Step:
    # The second noise is fresh: it has not grown with the first steps, hence its smaller share.
    noise = np.hstack([second.power @ first.noise, first.growth**-first.count * second.noise])
    return _Step(second.power @ first.power, _root(noise), first.count + second.count, first.growth)


def covariance_printed(network: LinearRNN, start: Start, lags: ArrayLike) -> Floats:
    """S_t = U_o U_h^t S_h + sum_{i=0}^{t-2} U_o U_h^{t-1-i} W_h S_i, as printed in Shen 2019, Eq. 6 and 21.

    S_t = cov(x_t, x_0), S_h = cov(h_0, x_0). One factor U_h too many: see `covariance_corrected` (errata 1).
    """
    return _covariance_sums(network, start, lags, surplus=1)


def covariance_corrected(network: LinearRNN, start: Start, lags: ArrayLike) -> Floats:
    """S_t = U_o U_h^{t-1} S_h + sum_{i=0}^{t-2} U_o U_h^{t-2-i} W_h S_i: Eq. 6 and 21 with errata 1.

    h_t = U_h^t h_0 + sum_{i<t} U_h^{t-1-i} W_h x_i and x_t has the mean U_o h_{t-1}, not U_o h_t.
    """
    return _covariance_sums(network, start, lags, surplus=0)


def _covariance_sums(network: LinearRNN, start: Start, lags: ArrayLike, *, surplus: int) -> Floats:
    distances = checked_lags(lags, least=0)
    powers = [
        np.linalg.matrix_power(network.U_h, k) for k in range(int(distances.max(initial=0)) + surplus + 1)
    ]
    S_h, S_0 = np.split(start.covariance[:, network.hidden :], [network.hidden])
    S = [S_0]
    for t in range(1, int(distances.max(initial=0)) + 1):
        past = sum(
            (powers[t - 2 - i + surplus] @ network.W_h @ S[i] for i in range(t - 1)), np.zeros_like(S_h)
        )
        S.append(network.U_o @ (powers[t - 1 + surplus] @ S_h + past))
    return np.array(S)[distances]


def checked_lags(lags: ArrayLike, *, least: int) -> NDArray[np.int64]:
    """Lags as an array of one dimension, none below `least`."""
    array = np.atleast_1d(np.asarray(lags))
    if array.ndim != 1 or array.dtype.kind not in "iu" or np.any(array < least):
        raise InputError(f"lags are {lags}; expected whole numbers from {least} on, in one list")
    return array.astype(np.int64)

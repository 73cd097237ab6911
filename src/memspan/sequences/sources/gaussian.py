"""Stationary Gaussian sequences of given correlations, drawn exactly: by FFT or by a Cholesky factor."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast, final

import numpy as np
import scipy.fft
import scipy.linalg
from numpy.typing import NDArray

from memspan.errors import InputError

SHORT = 512
"""Up to this length a matrix product with the Cholesky factor is faster than an FFT of twice the length."""

FACTORABLE = 4096
"""Up to this length a Cholesky factor is tried where the embedding fails (134 MB, under a second)."""

ENLARGEMENTS = (1, 2, 4)
"""Sizes of the embedding that are tried, relative to the smallest."""

ROUNDING = 1e-12
"""Negative eigenvalues down to this share of the largest come from rounding."""

BATCH = 1 << 18
"""Normal numbers drawn at a time: they stay in the cache, and memory stays bounded."""

Correlations = Callable[[NDArray[np.int64]], NDArray[np.float64]]


class GaussianSequence(ABC):
    """A way to draw stationary Gaussian documents of unit variance."""

    @abstractmethod
    def draw(self, n_documents: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Documents as rows."""

    @property
    @abstractmethod
    def normals(self) -> int:
        """Normal numbers that one document takes."""


@final
@dataclass(frozen=True, eq=False)
class Factored(GaussianSequence):
    """x = z U with U^T U the covariance matrix and z independent normals."""

    upper: NDArray[np.float64]

    @property
    def normals(self) -> int:
        return len(self.upper)

    def draw(self, n_documents: int, rng: np.random.Generator) -> NDArray[np.float64]:
        return rng.standard_normal((n_documents, self.normals)) @ self.upper


@final
@dataclass(frozen=True, eq=False)
class Embedded(GaussianSequence):
    """x_t = M^(-1/2) sum_k sqrt(lambda_k) w_k exp(2 pi i k t/M), a stretch of a sequence on a ring of M.

    lambda are the eigenvalues of the ring's covariance, w complex normals, independent but for
    w_{M-k} = conj(w_k).  Dietrich and Newsam 1997.
    """

    amplitudes: NDArray[np.float64]
    """sqrt(lambda_k / 2) at frequencies 0 … M/2; without the half at the two ends, where w_k is real."""
    length: int

    @property
    def normals(self) -> int:
        return 2 * len(self.amplitudes)

    def draw(self, n_documents: int, rng: np.random.Generator) -> NDArray[np.float64]:
        w = rng.standard_normal((n_documents, self.normals)).view(np.complex128)
        w *= self.amplitudes
        ring = scipy.fft.irfft(w, 2 * (len(self.amplitudes) - 1), norm="ortho", overwrite_x=True)
        return np.asarray(ring)[:, : self.length]


def gaussian_sequence(correlation: Correlations, length: int, *, law: str) -> GaussianSequence:
    """The fastest way to draw documents of this length, or a refusal that says where the law breaks.

    >>> gaussian = gaussian_sequence(lambda lags: 0.5**lags, 1000, law="AR(1)")
    >>> gaussian.draw(2, np.random.default_rng(0)).shape
    (2, 1000)
    """
    if length <= SHORT:
        return Factored(_factor(correlation, length, law))
    for enlargement in ENLARGEMENTS:
        amplitudes = embedding(correlation, length, enlargement)
        if amplitudes is not None:
            return Embedded(amplitudes, length)
        _factor(correlation, SHORT, law)  # refuses at once what no larger ring can mend
    if length > FACTORABLE:
        raise InputError(
            f"{law} cannot be drawn at {length:,} symbols: no ring of up to {2 * ENLARGEMENTS[-1]} times "
            "that has its correlations; take a smaller amplitude, or documents of at most "
            f"{FACTORABLE:,} symbols"
        )
    return Factored(_factor(correlation, length, law))


def embedding(correlation: Correlations, length: int, enlargement: int = 1) -> NDArray[np.float64] | None:
    """Amplitudes of the covariance c(0), …, c(M/2), …, c(1) on a ring of M >= 2 (length - 1).

    None where an eigenvalue is negative; never so for correlations that are convex and falling from lag 0 on.
    """
    half = cast(int, scipy.fft.next_fast_len(enlargement * max(length - 1, 1)))
    c = np.concatenate([[1.0], correlation(np.arange(1, half + 1))])
    eigenvalues = np.fft.rfft(np.concatenate([c, c[-2:0:-1]])).real
    if eigenvalues.min() < -ROUNDING * eigenvalues.max():
        return None
    amplitudes = np.sqrt(np.maximum(eigenvalues, 0.0) / 2.0)
    amplitudes[[0, -1]] *= np.sqrt(2.0)
    return amplitudes


def _factor(correlation: Correlations, length: int, law: str) -> NDArray[np.float64]:
    """U with U^T U the covariance of the first symbols."""
    c = np.concatenate([[1.0], correlation(np.arange(1, length))])
    (potrf,) = scipy.linalg.get_lapack_funcs(("potrf",), (c,))
    upper, order = potrf(scipy.linalg.toeplitz(c), lower=False, clean=True, overwrite_a=True)
    if order > 0:
        start = ", ".join(f"{value:.3f}" for value in c[1:4])
        raise InputError(
            f"{law} cannot be drawn: no Gaussian sequence of {order} symbols or more has its correlations "
            f"{start}, … (not positive definite); take a smaller amplitude"
        )
    return upper


def draw_signs(
    gaussian: GaussianSequence, n_documents: int, length: int, rng: np.random.Generator
) -> NDArray[np.uint8]:
    """1 where the sequence is positive, else 0; document after document."""
    signs = np.empty((n_documents, length), dtype=np.uint8)
    rows = max(1, BATCH // gaussian.normals)
    for start in range(0, n_documents, rows):
        part = signs[start : start + rows]
        np.greater(gaussian.draw(len(part), rng), 0.0, out=part.view(np.bool_))
    return signs.reshape(-1)

"""Binary sequences whose information falls as a power law: I(d) = A d^-gamma.

They are the signs of stationary Gaussian sequences of given correlations, drawn exactly by FFT or by a Cholesky factor.
scipy takes long to load and I(tau) does not need it, so only the functions that draw import it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memspan.errors import InputError
from memspan.sequences.sequence import Sequence
from memspan.sequences.sources.exact import correlation_of_information, information_of_correlation
from memspan.sequences.sources.source import Source, as_documents, check_size, checked_lags

# Up to this length a matrix product with the Cholesky factor is faster than an FFT of twice the length.
SHORT = 512

# Up to this length a Cholesky factor is tried if the embedding fails (134 MB, under a second).
FACTORABLE = 4096

# Sizes of the embedding that are tried, relative to the smallest.
ENLARGEMENTS = (1, 2, 4)

# Negative eigenvalues down to this share of the largest come from rounding.
ROUNDING = 1e-12

# Normal numbers drawn at a time: they stay in the cache, and memory stays bounded.
BATCH = 1 << 18

Correlations = Callable[[NDArray[np.int64]], NDArray[np.float64]]


@final
@dataclass(frozen=True)
class PowerLawBinary(Source):
    """I(d) = A d^-gamma at every lag d: the signs of a stationary Gaussian sequence.  Shen 2019, appendix B.

    The Gaussian's correlation at lag d is Eq. 46 inverted at A d^-gamma. With `approximate` it is the small-c
    form c(d) = pi sqrt(A/2) d^(-gamma/2) instead, and the information approaches A d^-gamma only at large d.
    (Eq. 47 prints the constant as sqrt(A / 2 pi); I(c) = 2 c^2/pi^2 + … needs pi sqrt(A/2).)

    >>> PowerLawBinary(0.1, 0.5).information([1, 4, 100]).round(6).tolist()
    [0.1, 0.05, 0.01]
    >>> PowerLawBinary(0.1, 0.5, approximate=True).information([1, 4, 100]).round(6).tolist()
    [0.128543, 0.055804, 0.010204]
    """

    amplitude: float
    """A, the information at lag one, in nats."""
    exponent: float
    """gamma; below one, the sum of the information over lags diverges."""
    approximate: bool = False

    def __post_init__(self) -> None:
        # The small-c form reaches c(1) = 1, where all symbols would be equal, at A = 2/pi^2.
        largest = 2.0 / np.pi**2 if self.approximate else np.log(2.0)
        if not 0.0 < self.amplitude <= largest:
            raise InputError(f"amplitude {self.amplitude}; expected more than 0 and at most {largest:.4f} nats")
        if not (self.exponent > 0.0 and np.isfinite(self.exponent)):
            raise InputError(f"exponent {self.exponent}; expected a finite number above 0")

    def correlation(self, lags: ArrayLike) -> NDArray[np.float64]:
        """The correlation of the Gaussian sequence at each lag >= 1."""
        law = self._law(lags)
        return np.pi * np.sqrt(law / 2.0) if self.approximate else correlation_of_information(law)

    def information(self, lags: ArrayLike) -> NDArray[np.float64]:
        return information_of_correlation(self.correlation(lags)) if self.approximate else self._law(lags)

    def sample(self, n_documents: int, length: int, *, seed: int | np.random.Generator) -> Sequence:
        """Signs of Gaussian documents; refused if no Gaussian sequence has these correlations.

        >>> PowerLawBinary(0.1, 0.5).sample(2, 10, seed=0).alphabet
        (0, 1)
        """
        check_size(n_documents, length)
        gaussian = gaussian_sequence(self.correlation, length, law=f"PowerLawBinary({self.amplitude}, {self.exponent})")
        signs = draw_signs(gaussian, n_documents, length, np.random.default_rng(seed))
        return as_documents(signs, length, 2)

    def _law(self, lags: ArrayLike) -> NDArray[np.float64]:
        return self.amplitude * checked_lags(lags).astype(np.float64) ** -self.exponent


def draw_signs(
    gaussian: GaussianSequence, n_documents: int, length: int, rng: np.random.Generator
) -> NDArray[np.uint8]:
    """1 where the sequence is positive, otherwise 0; concatenated documents."""
    signs = np.empty((n_documents, length), dtype=np.uint8)
    rows = max(1, BATCH // gaussian.normals)
    for start in range(0, n_documents, rows):
        part = signs[start : start + rows]
        np.greater(gaussian.draw(len(part), rng), 0.0, out=part.view(np.bool_))
    return signs.reshape(-1)


class GaussianSequence(ABC):
    """A method to draw stationary Gaussian documents of unit variance."""

    @abstractmethod
    def draw(self, n_documents: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Documents as rows."""

    @property
    @abstractmethod
    def normals(self) -> int:
        """Number of normal variates per document."""


@final
@dataclass(frozen=True, eq=False)
class CholeskySequence(GaussianSequence):
    """x = z U with U^T U the covariance matrix and z independent normals."""

    upper: NDArray[np.float64]

    @property
    def normals(self) -> int:
        return len(self.upper)

    def draw(self, n_documents: int, rng: np.random.Generator) -> NDArray[np.float64]:
        return rng.standard_normal((n_documents, self.normals)) @ self.upper


@final
@dataclass(frozen=True, eq=False)
class CirculantSequence(GaussianSequence):
    """x_t = M^(-1/2) sum_k sqrt(lambda_k) w_k exp(2 pi i k t/M), a slice of a sequence on a ring of M.

    lambda are the eigenvalues of the ring's covariance, w independent complex normals except for
    w_{M-k} = conj(w_k).  Circulant embedding, Dietrich and Newsam 1997.
    """

    amplitudes: NDArray[np.float64]
    """sqrt(lambda_k / 2) at frequencies 0 … M/2; sqrt(lambda_k) at the two ends, where w_k is real."""
    length: int

    @property
    def normals(self) -> int:
        return 2 * len(self.amplitudes)

    def draw(self, n_documents: int, rng: np.random.Generator) -> NDArray[np.float64]:
        import scipy.fft

        w = rng.standard_normal((n_documents, self.normals)).view(np.complex128)
        w *= self.amplitudes
        ring = scipy.fft.irfft(w, 2 * (len(self.amplitudes) - 1), norm="ortho", overwrite_x=True)
        return np.asarray(ring)[:, : self.length]


def gaussian_sequence(correlation: Correlations, length: int, *, law: str) -> GaussianSequence:
    """The fastest method to draw documents of this length; an error says where `law` is not positive definite.

    >>> gaussian = gaussian_sequence(lambda lags: 0.5**lags, 1000, law="AR(1)")
    >>> gaussian.draw(2, np.random.default_rng(0)).shape
    (2, 1000)
    """
    if length <= SHORT:
        return CholeskySequence(_factor(correlation, length, law))
    for enlargement in ENLARGEMENTS:
        amplitudes = embedding(correlation, length, enlargement)
        if amplitudes is not None:
            return CirculantSequence(amplitudes, length)
        _factor(correlation, SHORT, law)  # refuses early what no larger ring can fix
    if length > FACTORABLE:
        raise InputError(
            f"{law} cannot be drawn at {length:,} symbols: no ring of up to {2 * ENLARGEMENTS[-1]} times "
            "that length has its correlations; use a smaller amplitude, or documents of at most "
            f"{FACTORABLE:,} symbols"
        )
    return CholeskySequence(_factor(correlation, length, law))


def embedding(correlation: Correlations, length: int, enlargement: int = 1) -> NDArray[np.float64] | None:
    """Amplitudes of the covariance c(0), …, c(M/2), …, c(1) on a ring of M >= 2 (length - 1).

    None if an eigenvalue is negative, which never happens for convex, decreasing correlations.
    """
    import scipy.fft

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
    import scipy.linalg

    c = np.concatenate([[1.0], correlation(np.arange(1, length))])
    (potrf,) = scipy.linalg.get_lapack_funcs(("potrf",), (c,))
    upper, order = potrf(scipy.linalg.toeplitz(c), lower=False, clean=True, overwrite_a=True)
    if order > 0:
        start = ", ".join(f"{value:.3f}" for value in c[1:4])
        raise InputError(
            f"{law} cannot be drawn: no Gaussian sequence of {order} symbols or more has its correlations "
            f"{start}, … (not positive definite); use a smaller amplitude"
        )
    return upper

"""Binary sequences whose information falls as a power of the lag: I(d) = A d^-gamma."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memspan.errors import InputError
from memspan.sequences.sequence import Sequence
from memspan.sequences.sources.fair_bits import correlation_of_information, information_of_correlation
from memspan.sequences.sources.source import Source, as_documents, check_size, checked_lags


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
    """gamma; below one the information, summed over lags, grows without bound."""
    approximate: bool = False

    def __post_init__(self) -> None:
        # The small-c form reaches c(1) = 1, where all symbols would be equal, at A = 2/pi^2.
        largest = 2.0 / np.pi**2 if self.approximate else np.log(2.0)
        if not 0.0 < self.amplitude <= largest:
            raise InputError(
                f"amplitude {self.amplitude}; expected more than 0 and at most {largest:.4f} nats"
            )
        if not (self.exponent > 0.0 and np.isfinite(self.exponent)):
            raise InputError(f"exponent {self.exponent}; expected a finite number above 0")

    def correlation(self, lags: ArrayLike) -> NDArray[np.float64]:
        """The correlation of the Gaussian sequence at each lag >= 1."""
        law = self._law(lags)
        return np.pi * np.sqrt(law / 2.0) if self.approximate else correlation_of_information(law)

    def information(self, lags: ArrayLike) -> NDArray[np.float64]:
        return information_of_correlation(self.correlation(lags)) if self.approximate else self._law(lags)

    def sample(self, n_documents: int, length: int, *, seed: int | np.random.Generator) -> Sequence:
        """Signs of Gaussian documents; refused where no Gaussian sequence has these correlations.

        >>> PowerLawBinary(0.1, 0.5).sample(2, 10, seed=0).alphabet
        (0, 1)
        """
        # Imported here: scipy takes long to load, and I(tau) does not need it.
        from memspan.sequences.sources.gaussian import draw_signs, gaussian_sequence

        check_size(n_documents, length)
        gaussian = gaussian_sequence(
            self.correlation, length, law=f"PowerLawBinary({self.amplitude}, {self.exponent})"
        )
        signs = draw_signs(gaussian, n_documents, length, np.random.default_rng(seed))
        return as_documents(signs, length, 2)

    def _law(self, lags: ArrayLike) -> NDArray[np.float64]:
        return self.amplitude * checked_lags(lags).astype(np.float64) ** -self.exponent

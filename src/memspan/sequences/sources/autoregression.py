"""A first-order autoregression in levels: numbers with memory, quantized as `memspan measure` does."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memspan.errors import InputError
from memspan.sequences.sequence import Sequence
from memspan.sequences.sources.exact import information_of_deviation
from memspan.sequences.sources.source import Source, as_documents, check_size, checked_lags

# Gauss-Legendre nodes of the integral; more nodes change I by less than 1e-12 nats up to correlation 0.9999.
NODES = 128


@final
@dataclass(frozen=True)
class QuantizedAR1(Source):
    """x_t = a x_{t-1} + sqrt(1 - a^2) z_t with independent normal z, cut at its quantiles into K equally likely levels.

    Values at lag tau are jointly normal with correlation a^tau, so the joint distribution of two levels consists of
    rectangles of the bivariate normal distribution, by dPhi_2(h, k; r)/dr = phi_2(h, k; r) (Plackett 1954).

    >>> QuantizedAR1(0.9, levels=4).information([1, 10, 100]).round(4).tolist()
    [0.54, 0.0476, 0.0]
    """

    coefficient: float
    """a, the correlation of neighboring values; -1 < a < 1."""
    levels: int = 4
    """K, two or more."""

    def __post_init__(self) -> None:
        if not -1.0 < self.coefficient < 1.0:
            raise InputError(f"coefficient {self.coefficient}; expected a number between -1 and 1")
        if self.levels < 2:
            raise InputError(f"{self.levels} levels; expected two or more")

    @property
    def thresholds(self) -> NDArray[np.float64]:
        """The quantiles 1/K, …, (K - 1)/K of the normal distribution."""
        normal = NormalDist()
        return np.array([normal.inv_cdf(k / self.levels) for k in range(1, self.levels)])

    def information(self, lags: ArrayLike) -> NDArray[np.float64]:
        uniform = np.full(self.levels, 1.0 / self.levels)
        correlations = self.coefficient ** checked_lags(lags).astype(np.float64)
        # Computing the nodes (eigenvalues of a matrix) takes longer than everything else, so all lags share them.
        rule = np.polynomial.legendre.leggauss(NODES)
        deviations = (_rectangle_deviations(self.thresholds, float(r), rule) for r in correlations)
        return np.array([information_of_deviation(deviation, uniform, uniform) for deviation in deviations])

    def sample(self, n_documents: int, length: int, *, seed: int | np.random.Generator) -> Sequence:
        from memspan.sequences.sources.sampler import draw_levels

        check_size(n_documents, length)
        rng = np.random.default_rng(seed)
        symbols = draw_levels(self.coefficient, self.thresholds, n_documents, length, rng)
        return as_documents(symbols, length, self.levels)


def _rectangle_deviations(
    thresholds: NDArray[np.float64], correlation: float, rule: tuple[NDArray[np.float64], NDArray[np.float64]]
) -> NDArray[np.float64]:
    """P(level a, level b) - P(level a) P(level b) of normal variables, shape levels × levels.

    With r = sin(theta) the integrand of Phi_2(h, k; rho) - Phi(h) Phi(k) is exp(-(h^2 - 2 h k r + k^2)/(2 cos^2
    theta))/(2 pi), bounded up to correlation one. The integral starts at 0, so small deviations lose no digits.
    """
    nodes, weights = rule
    end = np.arcsin(correlation)
    theta = 0.5 * end * (nodes + 1.0)
    h, k = thresholds[:, np.newaxis, np.newaxis], thresholds[np.newaxis, :, np.newaxis]
    exponent = (h * h - 2.0 * h * k * np.sin(theta) + k * k) / (2.0 * np.cos(theta) ** 2)
    joint = np.exp(-exponent) @ weights * (end / (4.0 * np.pi))
    # The deviation of the distribution function vanishes at -infinity and +infinity.
    cumulative = np.pad(joint, 1)
    return np.diff(np.diff(cumulative, axis=0), axis=1)

"""Sources driven by a hidden process: hidden Markov chains, and a quantized autoregression."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memspan.errors import InputError
from memspan.sequences.sequence import Sequence
from memspan.sequences.sources.exact import fair_bit_information, information_of_deviation, powers
from memspan.sequences.sources.source import (
    Source,
    as_documents,
    check_size,
    checked_lags,
    checked_probabilities,
    checked_transition,
    stationary,
)


@final
@dataclass(frozen=True, eq=False)
class HiddenMarkov(Source):
    """p(x_t = a, x_{t+tau} = b) = pi M_a M^(tau-1) M_b 1, M_a[s, s'] = p(s' | s) p(a | s, s'), M = sum_a M_a.

    The hidden state starts from its stationary distribution pi, so the symbols are stationary too.

    >>> source = HiddenMarkov.periodic_pairs(0.9)
    >>> source.information([1, 2, 3, 1000]).round(4).tolist()
    [0.3906, 0.2218, 0.2218, 0.2218]
    """

    transition: NDArray[np.float64]
    """p(s' | s), shape states × states, irreducible."""
    emission: NDArray[np.float64]
    """p(symbol | s, s'), shape states × states × symbols; ignored where p(s' | s) = 0."""

    def __post_init__(self) -> None:
        transition = checked_transition(self.transition)
        emission = np.array(self.emission, dtype=np.float64)
        if emission.ndim != 3 or emission.shape[:2] != transition.shape or emission.shape[2] < 2:
            states = len(transition)
            raise InputError(
                f"the emission has shape {emission.shape}; "
                f"expected ({states}, {states}, symbols) with two or more symbols"
            )
        # Emissions of impossible transitions may be anything, so they are not checked.
        possible = transition > 0.0
        emission[possible] = checked_probabilities(emission[possible], "the emission")
        emission[~possible] = 0.0
        emission.setflags(write=False)
        object.__setattr__(self, "transition", transition)
        object.__setattr__(self, "emission", emission)

    @classmethod
    def periodic_pairs(cls, p: float) -> HiddenMarkov:
        """Independent pairs 01 (probability p) and 10 (1 - p) in a row.  Shen 2019, appendix C.

        Three states: A to B emits 0, A to C emits 1, B to A emits 1, C to A emits 0. The start is stationary,
        so half of the documents begin in the middle of a pair, and the information pools both phases.
        """
        if not 0.0 < p < 1.0:
            raise InputError(f"pair probability {p}; expected more than 0 and less than 1")
        emission = np.zeros((3, 3, 2))
        emission[0, 1, 0] = emission[0, 2, 1] = emission[1, 0, 1] = emission[2, 0, 0] = 1.0
        return cls(np.array([[0.0, p, 1.0 - p], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]), emission)

    def information(self, lags: ArrayLike) -> NDArray[np.float64]:
        """M^k = 1 pi + (M - 1 pi)^k, and the second term is the deviation from independence."""
        ordered, place = np.unique(checked_lags(lags), return_inverse=True)
        pi = stationary(self.transition)
        joint = self._joint()
        before = np.einsum("s,sta->at", pi, joint)  # p(a, state after it)
        after = joint.sum(axis=1)  # p(b | state before it)
        single = before.sum(axis=1)
        deviations = powers(before - np.outer(single, pi), self.transition - pi, ordered - 1)
        values = [information_of_deviation(deviation @ after, single, single) for deviation in deviations]
        return np.array(values)[place]

    def sample(self, n_documents: int, length: int, *, seed: int | np.random.Generator) -> Sequence:
        from memspan.sequences.sources.sampler import draw_walks

        check_size(n_documents, length)
        joint = self._joint()
        n_states, _, n_symbols = joint.shape
        first = np.tensordot(stationary(self.transition), joint, axes=1)
        laws = np.vstack([joint.reshape(n_states, -1), first.reshape(1, -1)])
        # An outcome is a pair of next state and symbol, numbered row by row.
        state_of, symbol_of = np.divmod(np.arange(n_states * n_symbols), n_symbols)
        rng = np.random.default_rng(seed)
        return as_documents(draw_walks(laws, state_of, symbol_of, n_documents, length, rng), length, n_symbols)

    def _joint(self) -> NDArray[np.float64]:
        """p(s', symbol | s), shape states × states × symbols."""
        return self.transition[:, :, np.newaxis] * self.emission


def repeated_pair_information(p: ArrayLike) -> NDArray[np.float64]:
    """I = 4p(p-1) arctanh[(1-2p)^2] + ln[2 + 4p(p-1)] at every lag above one.  Shen 2019, Eq. 52.

    The information of `HiddenMarkov.periodic_pairs(p)`: two symbols in different pairs are fair bits with
    correlation ±(1-2p)^2 at any lag. It does not decay, although the memory is one pair long.

    >>> repeated_pair_information([0.1, 0.5]).round(4).tolist()
    [0.2218, 0.0]
    """
    probability = np.asarray(p, dtype=np.float64)
    if not np.all((probability >= 0.0) & (probability <= 1.0)):
        raise InputError(f"pair probability {p}; expected numbers from 0 to 1")
    return fair_bit_information((1.0 - 2.0 * probability) ** 2)


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

"""Chains in which the next symbol depends on the last one only: information falls exponentially."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memspan.errors import InputError
from memspan.sequences.sequence import Sequence
from memspan.sequences.sources.deviation import information_of_deviation, powers
from memspan.sequences.sources.drawing import draw_walks
from memspan.sequences.sources.source import Source, as_documents, check_size, checked_lags
from memspan.sequences.sources.stationary import checked_transition, stationary


@final
@dataclass(frozen=True, eq=False)
class MarkovChain(Source):
    """p(x_t = a, x_{t+tau} = b) = pi_a (P^tau)_ab, started from the stationary law pi.

    >>> chain = MarkovChain(np.array([[0.9, 0.1], [0.3, 0.7]]))
    >>> chain.stationary.round(2).tolist(), chain.information([1]).round(4).tolist()
    ([0.75, 0.25], [0.1658])
    """

    transition: NDArray[np.float64]
    """P[a, b] = p(b | a), shape symbols × symbols, irreducible; rows are scaled to sum to one."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "transition", checked_transition(self.transition))

    @classmethod
    def lazy(cls, n_symbols: int, stay: float) -> MarkovChain:
        """Stays with probability `stay`, otherwise moves to one of the other symbols, each as likely.

        >>> MarkovChain.lazy(3, stay=0.5).transition.tolist()
        [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]
        """
        if n_symbols < 2 or not 0.0 <= stay < 1.0:
            raise InputError(f"{n_symbols} symbols, stay {stay}; expected two or more, and 0 <= stay < 1")
        transition = np.full((n_symbols, n_symbols), (1.0 - stay) / (n_symbols - 1))
        np.fill_diagonal(transition, stay)
        return cls(transition)

    @property
    def stationary(self) -> NDArray[np.float64]:
        """pi = pi P, the law of a single symbol."""
        return stationary(self.transition)

    def information(self, lags: ArrayLike) -> NDArray[np.float64]:
        """P^tau = 1 pi + (P - 1 pi)^tau, and the second term is the deviation from independence."""
        ordered, place = np.unique(checked_lags(lags), return_inverse=True)
        pi = self.stationary
        deviations = powers(np.diag(pi), self.transition - pi, ordered)
        return np.array([information_of_deviation(deviation, pi, pi) for deviation in deviations])[place]

    def sample(self, n_documents: int, length: int, *, seed: int | np.random.Generator) -> Sequence:
        check_size(n_documents, length)
        states = np.arange(len(self.transition))
        laws = np.vstack([self.transition, self.stationary])
        rng = np.random.default_rng(seed)
        return as_documents(draw_walks(laws, states, states, n_documents, length, rng), length, len(states))

"""The Ising chain with nearest-neighbour interaction: a Markov chain of two symbols."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memspan.errors import InputError
from memspan.sequences.sequence import Sequence
from memspan.sequences.sources.fair_bits import fair_bit_information
from memspan.sequences.sources.markov import MarkovChain
from memspan.sequences.sources.source import Source, checked_lags


@final
@dataclass(frozen=True)
class IsingChain(Source):
    """p(s_t | s_{t-1}) = exp(-beta J s_{t-1} s_t) / (2 cosh(beta J)).  Shen 2019, Eq. 62.

    With this sign a positive J favours unequal neighbours; symbol 0 is spin -1, symbol 1 is spin +1. Spins at
    distance tau have correlation l^tau, l = -tanh(beta J), and both spins are as likely, so
    I(tau) = 1/2 [(1 + l^tau) ln(1 + l^tau) + (1 - l^tau) ln(1 - l^tau)].

    >>> IsingChain(-1.0).information([1, 10]).round(4).tolist()
    [0.3278, 0.0022]
    """

    beta_j: float
    """Interaction over temperature."""

    def __post_init__(self) -> None:
        # Beyond 18, tanh(beta J) is one in floating point: the chain would never change, or change always.
        if not abs(self.beta_j) <= 18.0:
            raise InputError(f"beta J is {self.beta_j}; expected a number from -18 to 18")

    def chain(self) -> MarkovChain:
        """The same law as a Markov chain of two symbols."""
        equal = 1.0 / (1.0 + np.exp(2.0 * self.beta_j))
        unequal = 1.0 / (1.0 + np.exp(-2.0 * self.beta_j))
        return MarkovChain(np.array([[equal, unequal], [unequal, equal]]))

    def information(self, lags: ArrayLike) -> NDArray[np.float64]:
        return fair_bit_information(np.tanh(abs(self.beta_j)) ** checked_lags(lags))

    def sample(self, n_documents: int, length: int, *, seed: int | np.random.Generator) -> Sequence:
        return self.chain().sample(n_documents, length, seed=seed)

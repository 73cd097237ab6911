"""Independent symbols: no memory at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memspan.errors import InputError
from memspan.sequences.sequence import Sequence
from memspan.sequences.sources.source import Source, as_documents, check_size, checked_distribution, checked_lags


@final
@dataclass(frozen=True, eq=False)
class Independent(Source):
    """I(tau) = 0 at every lag: each symbol is drawn independently from p.

    >>> Independent.uniform(4).information([1, 100]).tolist()
    [0.0, 0.0]
    """

    probabilities: NDArray[np.float64]
    """p, shape symbols."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "probabilities", checked_distribution(self.probabilities))

    @classmethod
    def uniform(cls, n_symbols: int) -> Independent:
        """All symbols equally likely."""
        if n_symbols < 2:
            raise InputError(f"{n_symbols} symbols; expected two or more")
        return cls(np.full(n_symbols, 1.0 / n_symbols))

    @classmethod
    def zipf(cls, n_symbols: int) -> Independent:
        """Symbol k = 0, 1, … with a probability proportional to 1/(k + 1), roughly as words of a language."""
        return cls(zipf_law(n_symbols))

    def information(self, lags: ArrayLike) -> NDArray[np.float64]:
        return np.zeros(len(checked_lags(lags)))

    def sample(self, n_documents: int, length: int, *, seed: int | np.random.Generator) -> Sequence:
        from memspan.sequences.sources.sampler import draw_walks

        check_size(n_documents, length)
        n_symbols = len(self.probabilities)
        # Every outcome leads to the same state, so nothing is remembered.
        same_state = np.zeros(n_symbols, dtype=np.int64)
        laws = np.vstack([self.probabilities, self.probabilities])
        rng = np.random.default_rng(seed)
        symbols = draw_walks(laws, same_state, np.arange(n_symbols), n_documents, length, rng)
        return as_documents(symbols, length, n_symbols)


def zipf_law(n_symbols: int) -> NDArray[np.float64]:
    """p(k) proportional to 1/k over k = 1 … n_symbols.

    >>> zipf_law(3).round(4).tolist()
    [0.5455, 0.2727, 0.1818]
    """
    if n_symbols < 2:
        raise InputError(f"{n_symbols} symbols; expected two or more")
    weight = 1.0 / np.arange(1.0, n_symbols + 1.0)
    return weight / weight.sum()

"""Leaves of a random tree: distant symbols share an ancestor only a few generations up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memspan.errors import InputError
from memspan.sequences.sequence import Sequence
from memspan.sequences.sources.exact import information_of_deviation, powers
from memspan.sequences.sources.source import (
    Source,
    as_documents,
    check_size,
    checked_lags,
    checked_transition,
    stationary,
)

# Largest number of leaves: a 64-bit integer counts them, with a margin for sums.
LONGEST = 1 << 62


@final
@dataclass(frozen=True, eq=False)
class TreeGrammar(Source):
    """Each node's children are drawn independently from P(child | parent); the leaves are the document.

    Lin and Tegmark 2017. The root follows P's stationary distribution pi, so every node does. Leaves whose last common
    ancestor is h generations up have the joint distribution sum_a pi_a (P^h)_ax (P^h)_ay, and h grows as the logarithm
    of the lag, so information falls as a power law. Pairs at one lag have ancestors at several heights; I(tau) is the
    information of the joint distribution of all pairs in a document, as counted, not a mean over heights.

    >>> grammar = TreeGrammar(2, np.array([[0.9, 0.1], [0.1, 0.9]]), depth=10)
    >>> grammar.length, grammar.information([1, 2, 4, 8]).round(4).tolist()
    (1024, [0.1155, 0.0462, 0.0188, 0.0077])
    """

    branching: int
    """Children of every node, two or more."""
    transition: NDArray[np.float64]
    """P[parent, child], shape symbols × symbols, irreducible."""
    depth: int
    """Generations below the root, one or more."""

    def __post_init__(self) -> None:
        if self.branching < 2 or self.depth < 1:
            raise InputError(
                f"branching {self.branching}, depth {self.depth}; "
                "expected two or more children and one or more generations"
            )
        if self.length > LONGEST:
            raise InputError(f"{self.branching}**{self.depth} leaves; expected at most 2**62; lower the depth")
        object.__setattr__(self, "transition", checked_transition(self.transition))

    @property
    def length(self) -> int:
        """Leaves of one tree, the length of every document."""
        return self.branching**self.depth

    def information(self, lags: ArrayLike) -> NDArray[np.float64]:
        checked = checked_lags(lags)
        if np.any(checked >= self.length):
            raise InputError(f"lag {checked.max()}; expected less than the length of a document, {self.length} symbols")
        pi = stationary(self.transition)
        heights = np.arange(1, self.depth + 1)
        paths = powers(np.diag(np.sqrt(pi)), self.transition - pi, heights)
        by_height = np.stack([path.T @ path for path in paths])
        pooled = np.tensordot(self._shares(checked), by_height, axes=1)
        return np.array([information_of_deviation(deviation, pi, pi) for deviation in pooled])

    def _shares(self, lags: NDArray[np.int64]) -> NDArray[np.float64]:
        """The share of the pairs at each lag whose last common ancestor is 1, 2, …, depth generations up."""
        below = self.branching ** np.arange(self.depth + 1, dtype=np.int64)
        # A subtree with b leaves holds b - lag pairs; those of its own subtrees have a lower ancestor.
        within = self.length // below * np.maximum(below - lags[:, np.newaxis], 0)
        return np.diff(within, axis=1) / (self.length - lags[:, np.newaxis])

    def sample(self, n_documents: int, length: int, *, seed: int | np.random.Generator) -> Sequence:
        """One tree per document; `length` must be branching ** depth."""
        from memspan.sequences.sources.sampler import draw_leaves

        check_size(n_documents, length)
        if length != self.length:
            raise InputError(
                f"length {length}; a tree of depth {self.depth} with {self.branching} children per node has "
                f"{self.length} leaves; use that length, or change the depth"
            )
        laws = np.vstack([self.transition, stationary(self.transition)])
        rng = np.random.default_rng(seed)
        leaves = draw_leaves(laws, self.branching, self.depth, n_documents, rng)
        return as_documents(leaves, length, len(self.transition))

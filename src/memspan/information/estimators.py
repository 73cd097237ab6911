"""Entropy from counts, in nats: four estimators, one contract.

>>> import numpy as np
>>> round(Plugin().entropy(np.array([5, 5])), 4), Plugin().entropy(np.array([7])) == 0
(0.6931, True)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import psi

from memspan.information.tables import marginals

Counts = NDArray[np.integer[Any]]

TABULATED = 4096
"""Rows of more cells than this are summed by how many cells hold each count below it."""


class EntropyEstimator(ABC):
    """H from the counts n_i of N observations, as ln N - (1/N) sum n_i g(n_i) + constant."""

    @abstractmethod
    def weight(self, n: NDArray[np.float64]) -> NDArray[np.float64]:
        """g(n) for n >= 1: what stands for ln n."""

    def offset(self, kinds: NDArray[Any], total: NDArray[Any]) -> NDArray[np.float64]:
        """What is added in the end, from the numbers of kinds seen and of observations."""
        return np.zeros(np.broadcast(kinds, total).shape)

    @property
    def name(self) -> str:
        """The word for the command line."""
        return NAMES[type(self)]

    def entropy(self, counts: Counts) -> float:
        """Entropy in nats; counts of zero do not matter."""
        return float(self.entropies(np.asarray(counts).reshape(1, -1))[0])

    def entropies(self, counts: Counts) -> NDArray[np.float64]:
        """The entropy of every row of counts, in nats."""
        total = counts.sum(axis=1, dtype=np.int64)
        if counts.shape[1] <= TABULATED:
            n = np.maximum(counts, 1).astype(np.float64)
            mean, kinds = np.sum(counts * self.weight(n), axis=1), np.count_nonzero(counts, axis=1)
        else:
            mean, kinds = np.array([self._tabulated(row) for row in counts]).T
        pairs = np.maximum(total, 1)
        return np.where(total > 0, np.log(pairs) - mean / pairs + self.offset(kinds, pairs), 0.0)

    def _tabulated(self, counts: Counts) -> tuple[float, int]:
        """sum n g(n) and the number of kinds: small counts are few different ones, so g is taken once for each."""
        small = np.bincount(counts[counts < TABULATED].astype(np.int64), minlength=2)
        n = (np.flatnonzero(small[1:]) + 1).astype(np.float64)
        large = counts[counts >= TABULATED].astype(np.float64)
        multiplicity = small[n.astype(np.int64)]
        mean = np.sum(multiplicity * n * self.weight(n)) + np.sum(large * self.weight(large))
        return float(mean), int(multiplicity.sum()) + len(large)


@final
@dataclass(frozen=True)
class Plugin(EntropyEstimator):
    """H = ln N - (1/N) sum n ln n: the entropy of the frequencies themselves; too low by (V - 1)/2N."""

    def weight(self, n: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.log(n)


@final
@dataclass(frozen=True)
class MillerMadow(EntropyEstimator):
    """H = plug-in + (kinds seen - 1) / 2N.  Miller 1955."""

    def weight(self, n: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.log(n)

    def offset(self, kinds: NDArray[Any], total: NDArray[Any]) -> NDArray[np.float64]:
        return (kinds - 1) / (2 * total)


@final
@dataclass(frozen=True)
class Digamma(EntropyEstimator):
    """H = ln N - (1/N) sum n psi(n).  Grassberger 1988; Shen 2019, Eq. 53."""

    def weight(self, n: NDArray[np.float64]) -> NDArray[np.float64]:
        return psi(n)


@final
@dataclass(frozen=True)
class Grassberger(EntropyEstimator):
    """H = ln N - (1/N) sum n G(n), G(n) = psi(n) + (-1)^n / 2 [psi((n + 1)/2) - psi(n/2)].  Grassberger 2003."""

    def weight(self, n: NDArray[np.float64]) -> NDArray[np.float64]:
        sign = np.where(n % 2 == 0, 0.5, -0.5)
        return psi(n) + sign * (psi((n + 1) / 2) - psi(n / 2))


NAMES: dict[type[EntropyEstimator], str] = {
    Plugin: "plugin",
    MillerMadow: "miller-madow",
    Digamma: "digamma",
    Grassberger: "grassberger",
}
ESTIMATORS: dict[str, EntropyEstimator] = {name: kind() for kind, name in NAMES.items()}


def informations(
    keys: NDArray[np.int64] | None, cells: Counts, alphabet: int, estimator: EntropyEstimator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """I = H(X) + H(Y) - H(X, Y) and min(H(X), H(Y)) of every row of cells, from its own marginals."""
    x, y = (estimator.entropies(margin) for margin in marginals(keys, cells, alphabet))
    return x + y - estimator.entropies(cells), np.minimum(x, y)

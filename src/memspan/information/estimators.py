"""Entropy from counts, in nats: estimators with one contract.

>>> import numpy as np
>>> round(Plugin().entropy(np.array([5, 5])), 4), Plugin().entropy(np.array([7])) == 0
(0.6931, True)
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import psi

from memspan.errors import InputError, suggestion
from memspan.information.tables import marginals

Counts = NDArray[np.integer[Any]]

# Counts below this have their terms tabulated.
TABULATED = 1 << 16


class EntropyEstimator(ABC):
    """H from the counts n_i of N observations, as ln N - (1/N) sum n_i g(n_i) + constant."""

    name: ClassVar[str]
    """The name on the command line and in results."""

    @abstractmethod
    def weight(self, n: NDArray[np.float64]) -> NDArray[np.float64]:
        """g(n) for n >= 1: what stands for ln n."""

    def offset(self, kinds: NDArray[Any], total: NDArray[Any]) -> NDArray[np.float64]:
        """What is added in the end, from the numbers of kinds seen and of observations."""
        return np.zeros(np.broadcast(kinds, total).shape)

    def noise(self, kinds: int) -> float:
        """Variance of N H that changes with every single observation, however large the counts are."""
        return 0.0 * kinds

    def entropy(self, counts: Counts) -> float:
        """Entropy in nats; counts of zero do not matter."""
        return float(self.entropies(np.asarray(counts).reshape(1, -1))[0])

    def entropies(self, counts: Counts) -> NDArray[np.float64]:
        """The entropy of every row of counts, in nats."""
        total = counts.sum(axis=1, dtype=np.int64)
        terms = _terms(self)
        # Counts beyond the table are few, so their terms are computed one by one.
        large = counts >= len(terms)
        if large.any():
            row, n = np.nonzero(large)[0], counts[large].astype(np.float64)
            sums = terms[np.where(large, 0, counts)].sum(axis=1)
            sums += np.bincount(row, n * self.weight(n), minlength=len(counts))
        else:
            sums = terms[counts].sum(axis=1)
        # An empty row has entropy 0 and must not divide by 0.
        pairs = np.maximum(total, 1)
        kinds = np.count_nonzero(counts, axis=1)
        return np.where(total > 0, np.log(pairs) - sums / pairs + self.offset(kinds, pairs), 0.0)


@functools.cache
def _terms(estimator: EntropyEstimator) -> NDArray[np.float64]:
    """n g(n) for small n: nearly all cells hold few pairs, and a table is faster than special functions."""
    n = np.arange(TABULATED, dtype=np.float64)
    return np.append(0.0, n[1:] * estimator.weight(n[1:]))


@final
@dataclass(frozen=True)
class Plugin(EntropyEstimator):
    """H = ln N - (1/N) sum n ln n: the entropy of the frequencies themselves; too low by (V - 1)/2N."""

    name = "plugin"

    def weight(self, n: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.log(n)


@final
@dataclass(frozen=True)
class MillerMadow(EntropyEstimator):
    """H = plug-in + (kinds seen - 1) / 2N.  Miller 1955."""

    name = "miller-madow"

    def weight(self, n: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.log(n)

    def offset(self, kinds: NDArray[Any], total: NDArray[Any]) -> NDArray[np.float64]:
        return (kinds - 1) / (2 * total)


@final
@dataclass(frozen=True)
class Digamma(EntropyEstimator):
    """H = ln N - (1/N) sum n psi(n).  Grassberger 1988; Shen 2019, Eq. 53."""

    name = "digamma"

    def weight(self, n: NDArray[np.float64]) -> NDArray[np.float64]:
        return psi(n)


@final
@dataclass(frozen=True)
class Grassberger(EntropyEstimator):
    """H = ln N - (1/N) sum n G(n), G(n) = psi(n) + (-1)^n / 2 [psi((n + 1)/2) - psi(n/2)].  Grassberger 2003."""

    name = "grassberger"

    def weight(self, n: NDArray[np.float64]) -> NDArray[np.float64]:
        sign = np.where(n % 2 == 0, 0.5, -0.5)
        return psi(n) + sign * (psi((n + 1) / 2) - psi(n / 2))

    def noise(self, kinds: int) -> float:
        # n G(n) is n ln n plus or minus 1/2, by the parity of n.
        return 0.25 * kinds


ESTIMATORS: dict[str, EntropyEstimator] = {
    estimator.name: estimator for estimator in (Plugin(), MillerMadow(), Digamma(), Grassberger())
}


def as_estimator(estimator: EntropyEstimator | str | None) -> EntropyEstimator:
    """An estimator given as such or by its name; None is the default.

    >>> as_estimator("plugin"), as_estimator(None)
    (Plugin(), Grassberger())
    """
    if estimator is None:
        return Grassberger()
    found = ESTIMATORS.get(estimator) if isinstance(estimator, str) else estimator
    if not isinstance(found, EntropyEstimator):
        if isinstance(estimator, str):
            raise InputError(f"there is no estimator {estimator!r}; {suggestion(estimator, ESTIMATORS)}")
        raise InputError(
            f"estimator is {estimator!r}; expected one of {', '.join(ESTIMATORS)}, or an object such as Plugin()"
        )
    return found


def informations(
    keys: NDArray[np.int64] | None, cells: Counts, alphabet: int, estimator: EntropyEstimator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """I = H(X) + H(Y) - H(X, Y) and min(H(X), H(Y)) of every row of cells, from its own marginals."""
    x, y = (estimator.entropies(margin) for margin in marginals(keys, cells, alphabet))
    return x + y - estimator.entropies(cells), np.minimum(x, y)

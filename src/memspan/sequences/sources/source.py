"""The interface of sources of known information, and the checks of their arguments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memspan.errors import InputError
from memspan.sequences.sequence import Sequence
from memspan.sequences.store import Memory

# Tolerance of row sums (numbers printed with ten digits); rows are then scaled to sum to one.
ROW_SUM_ERROR = 1e-9

_REDUCIBLE = (
    "the transition matrix is reducible (some state cannot be reached from another); "
    "expected one class of states: give each class its own source"
)


class Source(ABC):
    """A stationary process over a finite alphabet whose mutual information is known at every lag."""

    @abstractmethod
    def sample(self, n_documents: int, length: int, *, seed: int | np.random.Generator) -> Sequence:
        """Draw `n_documents` independent documents of `length` symbols each; the same seed gives the same symbols.

        The alphabet is the source's whole alphabet, even if a symbol does not occur.
        """

    @abstractmethod
    def information(self, lags: ArrayLike) -> NDArray[np.float64]:
        """I(x_t; x_{t+tau}) at each lag, in nats; exact up to rounding."""


def checked_lags(lags: ArrayLike) -> NDArray[np.int64]:
    """Lags as a one-dimensional array.

    >>> checked_lags(range(1, 4)).tolist()
    [1, 2, 3]
    """
    array = np.atleast_1d(np.asarray(lags))
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer) or np.any(array < 1):
        raise InputError(f"lags are {lags}; expected a list of positive integers")
    return array.astype(np.int64)


def check_size(n_documents: int, length: int) -> None:
    """Refuse empty samples."""
    if n_documents < 1 or length < 1:
        raise InputError(f"{n_documents} documents of {length} symbols; expected at least one of each")


def as_documents(symbols: NDArray[Any], length: int, n_symbols: int) -> Sequence:
    """Concatenated documents of `length` symbols as a sequence over the alphabet 0 … n_symbols - 1."""
    offsets = np.arange(0, len(symbols) + 1, length, dtype=np.int64)
    return Sequence(Memory(symbols), offsets, tuple(range(n_symbols)))


def checked_probabilities(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """A read-only copy whose last axis sums to one."""
    p = np.array(values, dtype=np.float64)
    if p.ndim == 0 or p.size == 0 or not np.all(np.isfinite(p)) or np.any(p < 0.0):
        raise InputError(f"{name} has a negative or non-finite entry; expected probabilities")
    total = p.sum(axis=-1, keepdims=True)
    if np.any(np.abs(total - 1.0) > ROW_SUM_ERROR):
        worst = total.flat[int(np.argmax(np.abs(total - 1.0)))]
        raise InputError(f"{name} sums to {worst:.10g}; expected 1 (each row, if it has rows)")
    p /= total
    p.setflags(write=False)
    return p


def checked_distribution(values: ArrayLike) -> NDArray[np.float64]:
    """The probabilities of two or more symbols, as a read-only vector."""
    p = checked_probabilities(values, "the symbol distribution")
    if p.ndim != 1 or len(p) < 2:
        raise InputError(f"the symbol distribution has shape {p.shape}; expected a vector of two or more symbols")
    return p


def checked_transition(values: ArrayLike) -> NDArray[np.float64]:
    """P[s, s'] = p(s' | s): square, rows that sum to one, every state reachable from every other."""
    p = checked_probabilities(values, "the transition matrix")
    if p.ndim != 2 or p.shape[0] != p.shape[1] or len(p) < 2:
        raise InputError(f"the transition matrix has shape {p.shape}; expected two or more states, square")
    stationary(p)
    return p


def stationary(transition: NDArray[np.float64]) -> NDArray[np.float64]:
    """pi = pi P, by eliminating one state after the other (Grassmann, Taksar and Heyman 1985).

    The method subtracts nothing, so small probabilities keep all their digits. It meets a zero exactly where some state
    cannot reach, or be reached from, another; such a chain has no unique stationary distribution and is refused.

    >>> stationary(np.array([[0.9, 0.1], [0.3, 0.7]])).round(6).tolist()
    [0.75, 0.25]
    """
    a = np.array(transition, dtype=np.float64)
    for n in range(len(a) - 1, 0, -1):
        # Probability of leaving state n for the states that remain; the diagonal is never needed.
        leaving = a[n, :n].sum()
        if leaving <= 0.0:
            raise InputError(_REDUCIBLE)
        a[:n, n] /= leaving
        a[:n, :n] += np.outer(a[:n, n], a[n, :n])
    pi = np.ones(len(a))
    for n in range(1, len(a)):
        pi[n] = pi[:n] @ a[:n, n]
    if np.any(pi <= 0.0):
        raise InputError(_REDUCIBLE)
    return pi / pi.sum()

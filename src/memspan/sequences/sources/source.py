"""What every source of known information can do, and what it asks of its arguments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memspan.errors import InputError
from memspan.sequences.sequence import Sequence
from memspan.sequences.store import Memory


class Source(ABC):
    """A stationary law of symbols whose information at every lag is known."""

    @abstractmethod
    def sample(self, n_documents: int, length: int, *, seed: int | np.random.Generator) -> Sequence:
        """`n_documents` independent documents of `length` symbols each; the same seed gives the same symbols.

        The alphabet is the source's whole alphabet, also where a symbol happens not to occur.
        """

    @abstractmethod
    def information(self, lags: ArrayLike) -> NDArray[np.float64]:
        """I(x_t; x_{t+tau}) at each lag, in nats; exact up to rounding."""


def checked_lags(lags: ArrayLike) -> NDArray[np.int64]:
    """Lags as an array of one dimension.

    >>> checked_lags(range(1, 4)).tolist()
    [1, 2, 3]
    """
    array = np.atleast_1d(np.asarray(lags))
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer) or np.any(array < 1):
        raise InputError(f"lags are {lags}; expected whole numbers from 1 on, in one list")
    return array.astype(np.int64)


def check_size(n_documents: int, length: int) -> None:
    """Refuse to draw nothing."""
    if n_documents < 1 or length < 1:
        raise InputError(f"{n_documents} documents of {length} symbols; expected at least one of each")


def as_documents(symbols: NDArray[Any], length: int, n_symbols: int) -> Sequence:
    """Documents of `length` symbols, written one after the other, over the alphabet 0 … n_symbols - 1."""
    offsets = np.arange(0, len(symbols) + 1, length, dtype=np.int64)
    return Sequence(Memory(symbols), offsets, tuple(range(n_symbols)))

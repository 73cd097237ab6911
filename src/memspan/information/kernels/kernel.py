"""One contract for every way of counting pairs.

A *run* (i, j, n) stands for the pairs (x[i], y[j]), (x[i + 1], y[j + 1]), … n of them. The pairs of a lag are runs of a
sequence against itself; those of a null are runs against another part of it. A kernel adds runs to tables; all
kernels give the same integers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from memspan.progress import Progress
from memspan.sequences.store import Symbols


@final
@dataclass(frozen=True, eq=False)
class Runs:
    """Pairs as runs: starts in x, starts in y, and lengths (all int64, of one shape)."""

    x: NDArray[np.int64]
    y: NDArray[np.int64]
    n: NDArray[np.int64]

    @property
    def pairs(self) -> int:
        """Number of pairs."""
        return int(self.n.sum())


@final
@dataclass(frozen=True, eq=False)
class PairTable:
    """One joint histogram: `cells[k]` pairs of kind `keys[k]` = first * alphabet + second.

    `keys` None means that every kind has its cell: a dense table.
    """

    keys: NDArray[np.integer[Any]] | None
    cells: NDArray[np.integer[Any]]


class Accumulator(ABC):
    """Tables for a fixed number of slots (lags, or draws of a null), filled run by run."""

    @abstractmethod
    def add(self, slot: int, x: Any, y: Any, runs: Runs) -> None:
        """Add the pairs of `runs` between prepared symbols `x` and `y` to table number `slot`."""

    @abstractmethod
    def tables(self) -> list[PairTable]:
        """The finished tables, one per slot."""


class Kernel(ABC):
    """A way of counting; `piece` is how many symbols it likes to see at once."""

    piece: int

    @abstractmethod
    def prepare(self, symbols: Symbols) -> Any:
        """What the kernel needs of a stretch of symbols, computed once for all lags."""

    @abstractmethod
    def accumulator(self, slots: int) -> Accumulator:
        """Empty tables."""

    @abstractmethod
    def warm_up(self, dtype: np.dtype[Any], progress: Progress) -> None:
        """Compile what is needed for symbols of this type, saying so if it is not in numba's cache."""


def is_cached(function: Any) -> bool:
    """Whether numba has some compiled form of a function, in this process or in its cache folder."""
    if function.signatures:
        return True
    path = Path(function.stats.cache_path)
    name = function.py_func.__qualname__
    return any(path.glob(f"*.{name}-*.nbi")) or any(path.glob(f"{name}-*.nbi"))


def announce(function: Any, progress: Progress, name: str = "a counting kernel") -> None:
    """Tell a waiting person that the next seconds are compilation, which happens once."""
    if not is_cached(function):
        progress.say(f"compiling {name}, once")

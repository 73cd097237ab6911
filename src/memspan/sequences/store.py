"""Storage of the symbols of a sequence: in memory, or in a file that is read piece by piece."""

from __future__ import annotations

import functools
import os
import weakref
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError

Symbols = NDArray[np.unsignedinteger[Any]]


def narrow_dtype(alphabet: int) -> np.dtype[Any]:
    """The narrowest unsigned integer type for `alphabet` different symbols.

    >>> narrow_dtype(256), narrow_dtype(257)
    (dtype('uint8'), dtype('uint16'))
    """
    return np.min_scalar_type(max(alphabet - 1, 0))


class Store(ABC):
    """All symbols of a sequence, document after document, as unsigned integers."""

    @abstractmethod
    def __len__(self) -> int:
        """Number of symbols."""

    @abstractmethod
    def read(self, start: int, stop: int) -> Symbols:
        """Symbols `start` to `stop` (exclusive) as an array; safe to call from several threads."""


@final
@dataclass(frozen=True, eq=False)
class Memory(Store):
    """Symbols in an array."""

    symbols: Symbols

    def __len__(self) -> int:
        return len(self.symbols)

    def read(self, start: int, stop: int) -> Symbols:
        return self.symbols[start:stop]


@final
@dataclass(frozen=True, eq=False)
class Disk(Store):
    """Symbols in a raw little-endian file, never loaded as a whole."""

    path: Path
    dtype: np.dtype[Any]
    length: int
    recode: Symbols | None = None
    """Maps values of the file to symbol numbers; None if the file holds symbol numbers."""
    owner: object = None
    """An object that must live as long as the store, for example a temporary folder."""

    def __len__(self) -> int:
        return self.length

    def read(self, start: int, stop: int) -> Symbols:
        size, stop = self.dtype.itemsize, min(stop, self.length)
        try:
            raw = _read_at(self._descriptor, (stop - start) * size, start * size)
        except OSError as error:
            raise InputError(f"cannot read {self.path}: {error.strerror}") from error
        if len(raw) != (stop - start) * size:
            raise InputError(f"{self.path} became shorter while being read; run the command again")
        symbols = np.frombuffer(raw, self.dtype)
        return symbols if self.recode is None else self.recode[symbols]

    @functools.cached_property
    def _descriptor(self) -> int:
        """The open file; it closes when the store is garbage collected."""
        descriptor = os.open(self.path, os.O_RDONLY)
        weakref.finalize(self, os.close, descriptor)
        return descriptor


@final
@dataclass(frozen=True, eq=False)
class Window(Store):
    """A slice of another store, read on demand."""

    store: Store
    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start

    def read(self, start: int, stop: int) -> Symbols:
        return self.store.read(self.start + start, min(self.start + stop, self.stop))


def _read_at(descriptor: int, size: int, offset: int) -> bytes:
    """Read `size` bytes at `offset`. `pread` is safe from several threads, because it does not move the file position."""
    parts = []
    # Linux returns at most 2 GB per call.
    while size > 0 and (part := os.pread(descriptor, min(size, 1 << 30), offset)):
        parts.append(part)
        size, offset = size - len(part), offset + len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)

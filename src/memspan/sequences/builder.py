"""Builds a sequence piece by piece: in memory while it is small, then in a temporary file."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Hashable
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memspan.errors import InputError
from memspan.sequences.sequence import Sequence
from memspan.sequences.store import Disk, Memory, Store, Symbols, narrow_dtype

# Bytes of symbols held in memory; larger sequences go to a temporary file.
MEMORY_LIMIT = 64 << 20

_STRIDE = 1 << 20


@final
class Builder:
    """Takes codes in reading order with the document ends among them, and returns a `Sequence`.

    Codes are provisional: positions in a list of labels that is complete only at the end. If more than `memory_limit`
    bytes are `expected`, they go to the file from the start, so that memory never holds the whole limit first.

    >>> builder = Builder()
    >>> builder.append(np.array([0, 1, 0], np.uint8), ends=[2])
    >>> text = builder.finish(["b", "a"], symbols="chars", names=("x",))
    >>> [document.tolist() for document in text.documents()], text.alphabet
    ([[1, 0], [1]], ('a', 'b'))
    """

    def __init__(self, memory_limit: int = MEMORY_LIMIT, expected: int = 0) -> None:
        self._limit = memory_limit
        self._dtype: np.dtype[Any] = np.dtype(np.uint8)
        self._length = 0
        self._ends: list[NDArray[np.int64]] = []
        self._memory = bytearray()
        self._folder: _TemporaryFolder | None = None
        if expected > memory_limit:
            self._spill()

    def append(self, codes: Symbols, ends: ArrayLike = ()) -> None:
        """Add codes; documents end before the positions `ends` within them."""
        if codes.dtype.itemsize > self._dtype.itemsize:
            self._widen(codes.dtype)
        raw = np.ascontiguousarray(codes, self._dtype).data
        if self._folder is None and len(self._memory) + raw.nbytes > self._limit:
            self._spill()
        self._ends.append(np.asarray(ends, np.int64) + self._length)
        self._length += len(codes)
        if self._folder is None:
            self._memory += raw
        else:
            _append_to(self._path, raw)

    def end_document(self) -> None:
        """End the current document."""
        self._ends.append(np.array([self._length], np.int64))

    def finish(
        self, labels: list[Any], *, symbols: str, names: tuple[str, ...], notes: tuple[str, ...] = ()
    ) -> Sequence:
        """The sequence over the sorted alphabet; empty documents are dropped."""
        check_alphabet(labels, self._length, short_names(names))
        alphabet, recode = _sorted_alphabet(labels)
        # Equal offsets are empty documents; sorting costs little compared with reading.
        offsets = np.unique(np.concatenate([[0], *self._ends, [self._length]]).astype(np.int64))
        return Sequence(self._store(recode), offsets, alphabet, symbols, names, notes)

    def _store(self, recode: Symbols | None) -> Store:
        if self._folder is not None:
            return Disk(self._path, self._dtype.newbyteorder("<"), self._length, recode, owner=self._folder)
        codes = np.frombuffer(self._memory, self._dtype)
        if recode is not None:
            # In place and in strides: memory never holds a second copy.
            for start in range(0, len(codes), _STRIDE):
                codes[start : start + _STRIDE] = recode[codes[start : start + _STRIDE]]
        return Memory(codes)

    @property
    def _path(self) -> Path:
        assert self._folder is not None
        return self._folder.path / f"symbols.u{self._dtype.itemsize}"

    def _spill(self) -> None:
        self._folder = _TemporaryFolder()
        _append_to(self._path, self._memory)
        self._memory = bytearray()

    def _widen(self, dtype: np.dtype[Any]) -> None:
        """Rewrite all codes in a wider type; this happens at most twice, at 256 and 65,536 labels."""
        if self._folder is None:
            self._memory = bytearray(np.frombuffer(self._memory, self._dtype).astype(dtype).data)
            self._dtype = dtype
            return
        old, narrow = self._path, self._dtype
        self._dtype = dtype
        with old.open("rb") as file:
            while piece := file.read(_STRIDE):
                _append_to(self._path, np.frombuffer(piece, narrow).astype(dtype).data)
        old.unlink()


@final
class _TemporaryFolder:
    """A temporary folder that is deleted with the last reference to it."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="memspan-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def _append_to(path: Path, raw: memoryview | bytearray) -> None:
    # Opened for each write, so that a reader that fails leaves no open file behind.
    try:
        with path.open("ab") as file:
            file.write(raw)
    except OSError as error:
        raise InputError(
            f"cannot write the temporary file {path}: {error.strerror}; set TMPDIR to a folder with more space"
        ) from error


def check_alphabet(labels: list[Any], length: int, name: str) -> None:
    """Refuse sequences without symbols or with a single kind of symbol."""
    if length == 0:
        raise InputError(f"{name} is empty (0 symbols); give data with at least two kinds of symbols")
    if len(labels) == 1:
        label = repr(labels[0])
        label = label if len(label) <= 40 else f"{label[:39]}…"
        raise InputError(
            f"only one symbol kind in {name} ({label}, {length:,} times), so its information is zero by definition; "
            "give data with two or more kinds, or use another --as"
        )


def _sorted_alphabet(labels: list[Any]) -> tuple[tuple[Hashable, ...], Symbols | None]:
    """The sorted labels and the new number of each old one; the given order if labels cannot be compared."""
    try:
        order = sorted(range(len(labels)), key=labels.__getitem__)
    except TypeError:
        return tuple(labels), None
    alphabet = tuple(labels[number] for number in order)
    if alphabet == tuple(labels):
        return alphabet, None
    recode = np.empty(len(labels), narrow_dtype(len(labels)))
    recode[order] = np.arange(len(labels))
    return alphabet, recode


def short_names(names: tuple[str, ...]) -> str:
    """The names for a message.

    >>> short_names(("a.txt", "b.txt", "c.txt"))
    'a.txt and 2 more'
    """
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"

"""Collects symbols piece by piece: in memory while they are few, then in a temporary file."""

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

MEMORY_LIMIT = 64 << 20
"""Bytes of symbols held in memory; more of them go to a temporary file."""

_STRIDE = 1 << 20


@final
class Scratch:
    """A temporary folder that goes when the last reference to it goes."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="memspan-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


@final
class Builder:
    """Takes codes in reading order and the document ends among them, gives a `Sequence`.

    Codes are provisional: positions in a list of labels that is known only at the end. `expected` bytes above
    `memory_limit` go to the file from the start, so that memory never holds the limit's worth first.

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
        self._scratch: Scratch | None = None
        if expected > memory_limit:
            self._spill()

    def append(self, codes: Symbols, ends: ArrayLike = ()) -> None:
        """Add codes; documents end before the positions `ends` within them."""
        if codes.dtype.itemsize > self._dtype.itemsize:
            self._widen(codes.dtype)
        raw = np.ascontiguousarray(codes, self._dtype).data
        if self._scratch is None and len(self._memory) + raw.nbytes > self._limit:
            self._spill()
        self._ends.append(np.asarray(ends, np.int64) + self._length)
        self._length += len(codes)
        if self._scratch is None:
            self._memory += raw
        else:
            _write(self._path, raw)

    def end_document(self) -> None:
        """What comes next belongs to another document."""
        self._ends.append(np.array([self._length], np.int64))

    def finish(
        self, labels: list[Any], *, symbols: str, names: tuple[str, ...], notes: tuple[str, ...] = ()
    ) -> Sequence:
        """The sequence over the sorted alphabet; documents without symbols are left out."""
        check_kinds(labels, self._length, short_names(names))
        alphabet, recode = _sorted_alphabet(labels)
        # Equal offsets are empty documents, and sorting them costs little beside reading.
        offsets = np.unique(np.concatenate([[0], *self._ends, [self._length]]).astype(np.int64))
        return Sequence(self._store(recode), offsets, alphabet, symbols, names, notes)

    def _store(self, recode: Symbols | None) -> Store:
        if self._scratch is not None:
            return Disk(self._path, self._dtype.newbyteorder("<"), self._length, recode, owner=self._scratch)
        codes = np.frombuffer(self._memory, self._dtype)
        if recode is not None:
            for start in range(0, len(codes), _STRIDE):
                codes[start : start + _STRIDE] = recode[codes[start : start + _STRIDE]]
        return Memory(codes)

    @property
    def _path(self) -> Path:
        assert self._scratch is not None
        return self._scratch.path / f"symbols.u{self._dtype.itemsize}"

    def _spill(self) -> None:
        self._scratch = Scratch()
        _write(self._path, self._memory)
        self._memory = bytearray()

    def _widen(self, dtype: np.dtype[Any]) -> None:
        """Write all again in a wider type; happens at most twice in a sequence's life."""
        if self._scratch is None:
            self._memory = bytearray(np.frombuffer(self._memory, self._dtype).astype(dtype).data)
            self._dtype = dtype
            return
        old, narrow = self._path, self._dtype
        self._dtype = dtype
        with old.open("rb") as file:
            while piece := file.read(_STRIDE):
                _write(self._path, np.frombuffer(piece, narrow).astype(dtype).data)
        old.unlink()


def _write(path: Path, raw: memoryview | bytearray) -> None:
    """Add to a file, open for no longer than that: a reader that fails leaves no open file behind."""
    try:
        with path.open("ab") as file:
            file.write(raw)
    except OSError as error:
        raise InputError(
            f"cannot write the temporary file {path}: {error.strerror}; set TMPDIR to a folder with more room"
        ) from error


def check_kinds(labels: list[Any], length: int, name: str) -> None:
    if length == 0:
        raise InputError(f"{name} is empty (0 symbols); give data with at least two kinds of symbols")
    if len(labels) == 1:
        label = repr(labels[0])
        label = label if len(label) <= 40 else f"{label[:39]}…"
        raise InputError(
            f"only one symbol kind in {name} ({label}, {length:,} times); "
            "its information is zero by definition; give data with two kinds or more, or use another --as"
        )


def _sorted_alphabet(labels: list[Any]) -> tuple[tuple[Hashable, ...], Symbols | None]:
    """The labels in order (as they came, where they cannot be compared) and what each old number becomes."""
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

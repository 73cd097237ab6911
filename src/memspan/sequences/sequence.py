"""Documents of integer symbols over an alphabet: what everything that measures takes."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.sequences.coding import CODE_POINTS, Lookup, code_points
from memspan.sequences.store import Memory, Store, Symbols, Window, narrow_dtype

PIECE = 1 << 24
"""Symbols read at a time when a whole sequence is walked through."""


@final
@dataclass(frozen=True, eq=False)
class Sequence:
    """One or more documents of symbols 0 … len(alphabet) - 1; pairs never cross a document's end.

    >>> text = Sequence.from_documents(["abracadabra", "banana"])
    >>> text.length, text.n_documents, text.alphabet
    (17, 2, ('a', 'b', 'c', 'd', 'n', 'r'))
    >>> [len(document) for document in text.documents()]
    [11, 6]
    """

    store: Store
    offsets: NDArray[np.int64]
    """Document d holds the symbols offsets[d] to offsets[d + 1]; shape documents + 1."""
    alphabet: tuple[Hashable, ...]
    """What each symbol number stands for; sorted where the labels can be."""
    symbols: str = "symbols"
    """How the symbols were read: chars, bytes, words, …"""
    paths: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())
    """What the reader did that a person should know."""

    @classmethod
    def from_documents(cls, documents: Iterable[Any], *, symbols: str = "symbols") -> Sequence:
        """From strings, integer arrays, or lists of anything hashable; one item is one symbol.

        A single string is one document of characters. Empty documents are dropped.

        >>> Sequence.from_documents([[3, 1, 3], [1]]).alphabet
        (1, 3)
        """
        if isinstance(documents, str | bytes):
            documents = [documents]
        parts = [part for part in map(_labels, documents) if len(part)]
        if not parts:
            raise InputError(
                "no symbols: every document is empty; give at least one with two different symbols"
            )
        codes, alphabet = _encode(parts)
        offsets = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
        return cls(Memory(codes), offsets, alphabet, symbols)

    @property
    def length(self) -> int:
        """Number of symbols in all documents."""
        return len(self.store)

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return len(self.offsets) - 1

    @property
    def longest(self) -> int:
        """Number of symbols of the longest document."""
        return int(np.diff(self.offsets).max())

    def documents(self) -> Iterator[Symbols]:
        """Each document as an array of symbol numbers."""
        for start, stop in zip(self.offsets[:-1], self.offsets[1:], strict=True):
            yield self.store.read(int(start), int(stop))

    def chunks(self, size: int, overlap: int = 0) -> Iterator[Symbols]:
        """Pieces of at most `size` symbols plus `overlap` of what follows, never across a document's end."""
        for start, stop in zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True):
            for begin in range(start, stop, size):
                yield self.store.read(begin, min(begin + size + overlap, stop))

    def beginning(self, length: int = 600) -> str:
        """How the first document begins, as text; nothing where symbols are no characters.

        >>> Sequence.from_documents(["abc", "def"], symbols="chars").beginning(2)
        'ab'
        """
        if self.symbols != "chars":
            return ""
        codes = self.store.read(0, min(length, int(self.offsets[1])))
        return "".join(str(self.alphabet[code]) for code in codes.tolist())

    def part(self, start: int, stop: int) -> Sequence:
        """The symbols `start` to `stop` (counted over all documents) as a sequence of the same alphabet."""
        inside = self.offsets[(self.offsets > start) & (self.offsets < stop)]
        offsets = np.concatenate([[start], inside, [stop]]) - start
        whole = self.store
        store = Memory(whole.read(start, stop)) if isinstance(whole, Memory) else Window(whole, start, stop)
        return Sequence(store, offsets, self.alphabet, self.symbols, self.paths, self.notes)

    def fingerprint(self) -> str:
        """A hash of symbols, document ends and alphabet: equal sequences have equal fingerprints."""
        digest = hashlib.sha256(repr((self.length, self.alphabet)).encode())
        digest.update(np.ascontiguousarray(self.offsets, dtype="<i8").data)
        for start in range(0, self.length, PIECE):
            piece = self.store.read(start, min(start + PIECE, self.length))
            digest.update(np.ascontiguousarray(piece).data)
        return digest.hexdigest()


def _labels(document: Any) -> Any:
    """A document as a string, an array of integers, or a list of hashables."""
    if isinstance(document, str):
        return document
    if isinstance(document, bytes):
        return np.frombuffer(document, np.uint8)
    if isinstance(document, np.ndarray):
        if document.ndim != 1 or not np.issubdtype(document.dtype, np.integer):
            raise InputError(
                f"a document is an array of {document.dtype} with {document.ndim} dimensions; "
                "expected one dimension of integers (quantise numbers first)"
            )
        return document
    return list(document)


def _encode(parts: list[Any]) -> tuple[Symbols, tuple[Hashable, ...]]:
    """Symbol numbers of all documents, one after the other, and the alphabet."""
    if all(isinstance(part, str) for part in parts):
        lookup = Lookup(CODE_POINTS)
        # All at once, so that the values the lookup learns are sorted.
        codes = lookup.codes(code_points("".join(parts)))
        return codes, tuple(map(chr, lookup.values))
    if all(isinstance(part, np.ndarray) for part in parts):
        labels, codes = np.unique(np.concatenate(parts), return_inverse=True)
        return codes.astype(narrow_dtype(len(labels))), tuple(labels.tolist())
    flat = [label for part in parts for label in (part.tolist() if isinstance(part, np.ndarray) else part)]
    try:
        numbers = {label: number for number, label in enumerate(dict.fromkeys(flat))}
    except TypeError as error:
        raise InputError(f"a symbol is not hashable ({error}); use strings, integers or tuples") from error
    alphabet = _sorted_if_possible(numbers)
    numbers = {label: number for number, label in enumerate(alphabet)}
    codes = np.fromiter((numbers[label] for label in flat), narrow_dtype(len(alphabet)), len(flat))
    return codes, alphabet


def _sorted_if_possible(labels: Iterable[Any]) -> tuple[Hashable, ...]:
    try:
        return tuple(sorted(labels))
    except TypeError:
        return tuple(labels)

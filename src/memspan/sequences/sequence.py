"""`Sequence`: documents of integer symbols over an alphabet, and the conversion of Python data into them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Hashable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.sequences.encoding import CODE_POINTS, TableEncoder, code_points
from memspan.sequences.store import Memory, Store, Symbols, Window, narrow_dtype

# Symbols read at a time in a pass over a whole sequence.
PIECE = 1 << 24
# What one symbol of a list of strings can be; see `Sequence.of`.
READINGS = ("chars", "words", "items")
# Strings of a shorter median length may be words of one document or documents.
SHORT_TEXT = 30
LONGEST_PATH = 4096
# Kinds of numpy types whose items are strings or Python objects.
STRINGS_OR_OBJECTS = "OSTU"
LEVELS_ADVICE = "bin numbers first, with numpy.digitize or, from a file, ms.read(..., levels=4)"


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
    """The label of each symbol number; sorted if the labels can be compared."""
    symbols: str = "symbols"
    """How the symbols were read: chars, bytes, words, …"""
    paths: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())
    """Choices of the reader that a user should know about."""
    column: str | None = None
    """The column of a table that the symbols come from."""

    @classmethod
    def of(cls, data: Any, *, symbols: str | None = None) -> Sequence:
        """Convert Python data. `ms.mutual_information`, `measure` and `count_pairs` call this.

        | data | documents |
        |---|---|
        | `Sequence` | itself |
        | `str` | one document of characters |
        | 1-D array, Series or tensor of integers or booleans; list of integers | one document |
        | 2-D array or tensor | one document per row |
        | list of 1-D arrays, Series, tensors or lists | one document per item |
        | list, array or Series of strings | see `symbols` |

        `symbols` is what one symbol of a list of strings is. With `"chars"` every string is a document of characters.
        With `"words"` every string is a document that is split at white space; strings without any white space are the
        words of one document. With `"items"` every item of the list is one symbol of one document.

        Without `symbols`, strings of a single character and categorical Series are the symbols of one document, and
        other strings are documents of characters. Two or more strings of a median length below 30 characters are
        ambiguous and require `symbols`. Floats must be binned first, and a DataFrame needs a column.

        >>> Sequence.of([0, 1, 1, 0]).n_documents, Sequence.of(np.eye(3, dtype=int)).n_documents
        (1, 3)
        >>> Sequence.of("to be or not to be".split(), symbols="words").alphabet
        ('be', 'not', 'or', 'to')
        """
        if isinstance(data, Sequence):
            if symbols is not None:
                raise InputError(f"symbols={symbols!r} does not apply to a Sequence; leave it out")
            return data
        if symbols is not None and symbols not in READINGS:
            raise InputError(f"unknown symbols {symbols!r}; expected {_choices()}")
        return cls.from_documents(_documents(data, symbols), symbols=symbols or "symbols")

    @classmethod
    def from_documents(cls, documents: Iterable[Any], *, symbols: str = "symbols") -> Sequence:
        """From strings, integer arrays, Series, tensors, or lists of anything hashable; one item is one symbol.

        A string is a document of characters. A single string, a 1-D array or a list of integers is one document. Empty
        documents are dropped. `symbols` names the kind of symbols.

        >>> Sequence.from_documents([[3, 1, 3], [1]]).alphabet
        (1, 3)
        """
        parts = [part for part in map(_labels, _separated(documents)) if len(part)]
        if not parts:
            raise InputError("no symbols: every document is empty; give at least one with two different symbols")
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
        """Pieces of at most `size` symbols plus the next `overlap` ones, never across a document's end."""
        for start, stop in zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True):
            for begin in range(start, stop, size):
                yield self.store.read(begin, min(begin + size + overlap, stop))

    def beginning(self, length: int = 600) -> str:
        """The beginning of the first document as text; empty unless symbols are characters.

        >>> Sequence.from_documents(["abc", "def"], symbols="chars").beginning(2)
        'ab'
        """
        if self.symbols != "chars":
            return ""
        codes = self.store.read(0, min(length, int(self.offsets[1])))
        return "".join(str(self.alphabet[code]) for code in codes.tolist())

    def part(self, start: int, stop: int) -> Sequence:
        """Symbols `start` to `stop`, counted over all documents, as a sequence over the same alphabet."""
        inside = self.offsets[(self.offsets > start) & (self.offsets < stop)]
        offsets = np.concatenate([[start], inside, [stop]]) - start
        whole = self.store
        # A part of an array is a view; a part of a file stays lazy.
        store = Memory(whole.read(start, stop)) if isinstance(whole, Memory) else Window(whole, start, stop)
        return Sequence(store, offsets, self.alphabet, self.symbols, self.paths, self.notes, self.column)

    def fingerprint(self) -> str:
        """A SHA-256 of symbols, document ends and alphabet; equal sequences have equal fingerprints."""
        digest = hashlib.sha256(repr((self.length, self.alphabet)).encode())
        digest.update(np.ascontiguousarray(self.offsets, dtype="<i8").data)
        # In pieces, because the sequence may be a file larger than memory.
        for start in range(0, self.length, PIECE):
            piece = self.store.read(start, min(start + PIECE, self.length))
            digest.update(np.ascontiguousarray(piece).data)
        return digest.hexdigest()


def _documents(data: Any, symbols: str | None) -> list[Any]:
    """The documents of `Sequence.of`: resolve strings by `symbols`, leave the rest to `from_documents`."""
    if symbols is None:
        _refuse_paths(data)
    if isinstance(data, str):
        return [data.split() if symbols == "words" else data]
    if isinstance(data, bytes | bytearray):
        return [data]
    array = _array(data)
    line = array if array is not None and array.ndim == 1 else None
    if symbols != "chars" and line is not None and line.dtype.kind not in STRINGS_OR_OBJECTS:
        return [line]
    items = _items(data if line is None else line.tolist())
    if symbols == "items" or "categor" in str(getattr(data, "dtype", "")).lower():
        return [items if line is None else _without_gaps(items)]
    if items and all(isinstance(item, str) for item in items):
        return _texts(items, symbols)
    if symbols == "chars":
        held = _kind(items[0]) if items else "nothing"
        raise InputError(f"symbols='chars' is for strings, got {_kind(data)} that holds {held}; leave it out")
    return items if line is None else [line]


def _texts(texts: list[str], symbols: str | None) -> list[Any]:
    """Documents of characters, documents of words, or one document whose symbols are the strings."""
    if symbols == "chars":
        return texts
    if symbols == "words":
        words = [text.split() for text in texts]
        one = all(len(document) < 2 for document in words)
        return [[word for document in words for word in document]] if one else words
    if len(texts) == 1:
        return texts
    if all(len(text) == 1 for text in texts):
        return [texts]
    median = float(np.median([len(text) for text in texts]))
    if median < SHORT_TEXT:
        raise InputError(
            f"{len(texts):,} strings of {median:g} characters (median), such as {texts[0][:SHORT_TEXT]!r}, can be "
            f"documents or symbols; choose with symbols={_choices()}"
        )
    return texts


def _choices() -> str:
    return (
        "'chars' (each string is a document of characters), 'words' (a document of words) "
        "or 'items' (one symbol of one document)"
    )


def _refuse_paths(data: Any) -> None:
    """Refuse file names, which are not the data."""
    names = data if isinstance(data, list | tuple) and 0 < len(data) < LONGEST_PATH else [data]
    if all(isinstance(name, os.PathLike) or _names_a_file(name) for name in names):
        first = str(names[0])
        raise InputError(f"{first!r} names a file, not its content; use ms.read({first!r})")


def _names_a_file(text: Any) -> bool:
    if not isinstance(text, str) or not text or len(text) > LONGEST_PATH or text.isspace():
        return False
    if text.startswith(("data:", "http://", "https://")) and len(text.split()) == 1:
        return True
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # too long for a file name, or with a null character
        return False


def _separated(documents: Any) -> list[Any]:
    """The documents as a list; flat data are one document."""
    if isinstance(documents, str | bytes | bytearray):
        return [documents]
    array = _array(documents)
    if array is not None and array.ndim == 1:
        return [array]
    items = _items(documents if array is None else array)
    # One test per type instead of one per item: a list may have millions of items.
    single = {kind: not issubclass(kind, Iterable) for kind in set(map(type, items))}
    scalars = [single[type(item)] or _is_zero_dimensional(item) for item in items]
    if items and all(scalars):
        return [items]
    if any(scalars):
        index = scalars.index(True)
        raise InputError(
            f"documents and single symbols are mixed: item {index} is {_kind(items[index])}; "
            "give one document of symbols, or a list of documents"
        )
    return items


def _items(data: Any) -> list[Any]:
    """The items of an ordered collection that is not a table."""
    if _is_frame(data):
        columns = list(map(str, getattr(data, "column_names", data.columns)))
        shown = ", ".join(columns[:8]) + (", …" if len(columns) > 8 else "")
        example = columns[0] if columns else "column"
        raise InputError(f"got {_kind(data)} with the columns {shown}; choose one, as in frame[{example!r}]")
    if isinstance(data, Mapping | Set) or not isinstance(data, Iterable) or _is_zero_dimensional(data):
        raise InputError(
            f"got {_kind(data)}; expected a string, an array, a Series, a tensor, or a list of documents or integers"
        )
    return list(data)


def _is_frame(data: Any) -> bool:
    """Whether this is a table of pandas or polars, by its attributes; neither is imported."""
    return hasattr(type(data), "columns") and hasattr(type(data), "__getitem__")


def _is_zero_dimensional(item: Any) -> bool:
    """Whether this is a scalar array or tensor, which claims to be iterable but is not."""
    return getattr(item, "ndim", None) == 0


def _kind(data: Any) -> str:
    """The type for a message: a list, an int, a pandas.DataFrame."""
    package, name = type(data).__module__.split(".")[0], type(data).__name__
    name = name if package == "builtins" else f"{package}.{name}"
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _array(data: Any) -> NDArray[Any] | None:
    """An array, Series or tensor as a numpy array, by their methods; None for anything else."""
    if isinstance(data, np.ndarray):
        return data
    if isinstance(data, str | bytes | list | tuple | range | np.generic | type) or _is_frame(data):
        return None
    try:
        if callable(getattr(data, "detach", None)):  # a tensor with a gradient or on another device
            data = data.detach().cpu()
        for method in ("to_numpy", "numpy", "__array__"):
            if callable(convert := getattr(data, method, None)):
                return np.asarray(convert())
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(
            f"{_kind(data)} cannot be converted to a numpy array ({' '.join(str(error).split())}); "
            "convert it to integers first"
        ) from error
    return None


def _labels(document: Any) -> Any:
    """A document as a string, an array of integers, or a list of hashables."""
    if isinstance(document, str):
        return document
    if isinstance(document, bytes | bytearray):
        return np.frombuffer(document, np.uint8)
    array = _array(document)
    if array is None:
        return _scalars(_items(document))
    if array.ndim == 1 and array.dtype.kind in "biu":
        return array
    if array.ndim == 1 and array.dtype.kind in STRINGS_OR_OBJECTS:
        return _scalars(_without_gaps(array.tolist()))
    if array.shape == (0,):
        return []  # an empty array may have any type
    advice = "drop or fill its missing values" if _has_nan(array) else LEVELS_ADVICE
    if array.ndim != 1 and array.dtype.kind in "biu":
        advice = "give a list of one-dimensional arrays"
    raise InputError(
        f"a document is an array of {array.dtype} with {array.ndim} dimension{'s' * (array.ndim != 1)}; "
        f"expected one dimension of integers; {advice}"
    )


def _without_gaps(items: list[Any]) -> list[Any]:
    """The items of a column; missing values are refused."""
    for item in items:
        if item is None or type(item).__name__ in ("NAType", "NaTType") or (isinstance(item, float) and item != item):
            raise InputError(f"a symbol is missing ({item}); drop or fill missing values first")
    return items


def _has_nan(array: NDArray[Any]) -> bool:
    """Whether these are integers with missing values, which pandas stores as floats with NaN."""
    if array.dtype.kind != "f":
        return False
    known = array[~np.isnan(array)]
    return len(known) < array.size and bool(np.all(known == np.floor(known)))


def _scalars(items: list[Any]) -> list[Any]:
    """Hashable items: scalar tensors and arrays become the values they hold."""
    # Most lists hold plain values and are returned as they are, after one look at their types.
    kinds = {kind for kind in set(map(type, items)) if hasattr(kind, "__array__")}
    if not kinds:
        return items
    return [item.item() if type(item) in kinds and _is_zero_dimensional(item) else item for item in items]


def _encode(parts: list[Any]) -> tuple[Symbols, tuple[Hashable, ...]]:
    """Symbol numbers of the concatenated documents, and the alphabet."""
    if all(isinstance(part, str) for part in parts):
        encoder = TableEncoder(CODE_POINTS)
        # One call for all texts, so that the values of the encoder are sorted.
        codes = encoder.codes(code_points("".join(parts)))
        return codes, tuple(map(chr, encoder.values))
    if all(isinstance(part, np.ndarray) for part in parts):
        labels, codes = np.unique(np.concatenate(parts), return_inverse=True)
        return codes.astype(narrow_dtype(len(labels))), tuple(labels.tolist())
    flat = [label for part in parts for label in (part.tolist() if isinstance(part, np.ndarray) else part)]
    try:
        numbers = {label: number for number, label in enumerate(dict.fromkeys(flat))}
    except TypeError as error:
        raise InputError(f"a symbol is not hashable ({error}); use strings, integers or tuples") from error
    floats = [label for label in numbers if isinstance(label, float)]
    if floats:
        raise InputError(f"a symbol is the float {floats[0]}; expected integers, strings or tuples; {LEVELS_ADVICE}")
    alphabet = _sorted_if_possible(numbers)
    numbers = {label: number for number, label in enumerate(alphabet)}
    codes = np.fromiter((numbers[label] for label in flat), narrow_dtype(len(alphabet)), len(flat))
    return codes, alphabet


def _sorted_if_possible(labels: Iterable[Any]) -> tuple[Hashable, ...]:
    try:
        return tuple(sorted(labels))
    except TypeError:
        return tuple(labels)

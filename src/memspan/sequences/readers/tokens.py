"""Tokens in numpy arrays (.npy) or in the raw little-endian files of language-model trainers (.bin)."""

from __future__ import annotations

import tokenize
from collections.abc import Hashable, Iterable, Iterator
from math import prod
from typing import Any, final

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.sequences.builder import Builder, check_alphabet
from memspan.sequences.encoding import LabelEncoder, TableEncoder
from memspan.sequences.formats import TOKEN_TYPES
from memspan.sequences.readers.inputs import Input, Request, one_line
from memspan.sequences.sequence import Sequence
from memspan.sequences.store import Disk, Symbols, narrow_dtype

# Tokens below this number are encoded with a table, which is faster than a dictionary.
_VOCABULARY = 1 << 20


def read_tokens(request: Request) -> Sequence:
    """Each integer is a symbol; each file is a document, and so is each row of a two-dimensional array."""
    raw_type = np.dtype(request.argument or TOKEN_TYPES[0]).newbyteorder("<")
    if _is_raw_local_file(request.inputs[0], raw_type) and raw_type.itemsize == 2:
        found = read_in_place(request, raw_type, symbols="tokens")
        if found is not None:
            return found
    encoder, builder = _TokenEncoder(), request.builder()
    for item in request.inputs:
        reader = _PieceReader(request.pieces(item))
        if reader.peek(len(npy.MAGIC_PREFIX)) == npy.MAGIC_PREFIX or item.extension == ".npy":
            _append_npy(builder, encoder, reader, item, request)
        else:
            for values in _integers(reader.rest(), raw_type, item.name):
                builder.append(encoder.codes(values))
        builder.end_document()
    return builder.finish(encoder.values, symbols="tokens", names=request.names)


def read_in_place(request: Request, dtype: np.dtype[Any], *, symbols: str) -> Sequence | None:
    """A sequence whose store is the input file itself, with a table from stored values to symbols.

    None unless there is one uncompressed local file above the memory limit; other inputs must be copied.
    """
    item = request.inputs[0]
    size, path = item.size, item.path
    if len(request.inputs) > 1 or path is None or size is None or item.compression:
        return None
    if size <= request.memory_limit:
        return None
    present = _present(request.pieces(item), dtype, item.name)
    alphabet = np.flatnonzero(present).tolist()
    length = size // dtype.itemsize
    check_alphabet(alphabet, length, request.name)
    # A file that uses every value needs no table.
    recode = None if present.all() else (np.cumsum(present) - 1).astype(narrow_dtype(len(alphabet)))
    store = Disk(path.absolute(), dtype, length, recode)
    return Sequence(store, np.array([0, length], np.int64), tuple(alphabet), symbols, request.names)


def _present(pieces: Iterator[bytes], dtype: np.dtype[Any], name: str) -> NDArray[np.bool_]:
    """Which values of an integer type occur."""
    present = np.zeros(1 << (8 * dtype.itemsize), np.bool_)
    if dtype.itemsize > 1:
        for values in _integers(pieces, dtype, name):
            present[values] = True
        return present
    seen = b""
    for piece in pieces:
        # Deleting known bytes leaves almost nothing, and takes a fraction of the time of marking each byte.
        seen += bytes(set(piece.translate(None, delete=seen)))
    present[list(seen)] = True
    return present


@final
class _TokenEncoder:
    """Encodes tokens with a table while they are small and non-negative, otherwise with a dictionary."""

    def __init__(self) -> None:
        self._table = TableEncoder(_VOCABULARY)
        self._labels: LabelEncoder | None = None

    @property
    def values(self) -> list[Hashable]:
        return [*self._table.values] if self._labels is None else self._labels.values

    def codes(self, tokens: NDArray[Any]) -> Symbols:
        outside = len(tokens) > 0 and (tokens.min() < 0 or tokens.max() >= _VOCABULARY)
        if self._labels is None and outside:
            self._labels = LabelEncoder(self._table.values)
        return self._table.codes(tokens) if self._labels is None else self._labels.codes(tokens.tolist())


def _is_raw_local_file(item: Input, dtype: np.dtype[Any]) -> bool:
    """Whether the file holds nothing but numbers; a wrong length is refused before any work."""
    if item.path is None or item.compression or item.extension == ".npy":
        return False
    with item.stream() as file:
        raw = file.read(len(npy.MAGIC_PREFIX)) != npy.MAGIC_PREFIX
    if raw and item.size is not None and item.size % dtype.itemsize:
        raise _wrong_length(item.name, dtype, item.size % dtype.itemsize)
    return raw


def _append_npy(builder: Builder, encoder: _TokenEncoder, reader: _PieceReader, item: Input, request: Request) -> None:
    if request.argument is not None:
        raise InputError(f"{item.name} is a numpy file, which states its own type; use --as tokens")
    shape, by_columns, dtype = _npy_header(reader, item.name)
    row_length, expected = (shape[1] if len(shape) == 2 else 0), prod(shape)
    pieces = _integers(reader.rest(), dtype, item.name)
    if by_columns and len(shape) == 2:
        # In Fortran order a row is spread over the whole file, so all of it has to be loaded.
        whole = np.concatenate([np.empty(0, dtype), *pieces])[:expected]
        pieces = iter([whole.reshape(shape, order="F").ravel()] if len(whole) == expected else [whole])
    length = 0
    for values in pieces:
        # The position in this piece at which the next row begins.
        first = -length % row_length if row_length else 0
        ends = range(first, len(values), row_length) if row_length else ()
        builder.append(encoder.codes(values), ends)
        length += len(values)
    if length != expected:
        raise InputError(
            f"{item.name} holds {length:,} of {expected:,} tokens; it was truncated or changed, get it again"
        )


def _npy_header(reader: _PieceReader, name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, order and type of an array; nothing is unpickled."""
    try:
        version = npy.read_magic(reader)
        read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, by_columns, dtype = read_header(reader)
    except (ValueError, tokenize.TokenError) as error:
        raise InputError(f"{name} is not a numpy file ({one_line(error)}); write it with numpy.save") from error
    if dtype.kind not in "iu":
        raise InputError(f"{name} holds {dtype.name} values; expected integers; save it with array.astype('int64')")
    if len(shape) not in (1, 2):
        raise InputError(f"{name} has {len(shape)} dimensions; expected one, or two with documents as rows")
    return shape, by_columns, dtype


def _integers(pieces: Iterable[bytes], dtype: np.dtype[Any], name: str) -> Iterator[NDArray[Any]]:
    """Raw integers, including those that span two pieces."""
    rest = b""
    for piece in pieces:
        raw = rest + piece
        whole = len(raw) - len(raw) % dtype.itemsize
        rest = raw[whole:]
        yield np.frombuffer(raw[:whole], dtype)
    if rest:
        raise _wrong_length(name, dtype, len(rest))


def _wrong_length(name: str, dtype: np.dtype[Any], count: int) -> InputError:
    return InputError(
        f"{name} is not a whole number of {dtype.name} tokens (bytes left over: {count}); "
        "give a raw little-endian file of tokens, or set its type: --as tokens:uint16 or --as tokens:uint32"
    )


@final
class _PieceReader:
    """Pieces of bytes with the part of the file interface that numpy needs to parse a header."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._buffer = b""

    def peek(self, size: int) -> bytes:
        while len(self._buffer) < size and (piece := next(self._pieces, b"")):
            self._buffer += piece
        return self._buffer[:size]

    def read(self, size: int = 0, /) -> bytes:
        taken = self.peek(size)
        self._buffer = self._buffer[size:]
        return taken

    def rest(self) -> Iterator[bytes]:
        yield self._buffer
        yield from self._pieces

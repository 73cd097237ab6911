"""Tokens as numpy arrays (.npy) or as the raw little-endian files of language-model trainers (.bin)."""

from __future__ import annotations

import tokenize
from collections.abc import Hashable, Iterator
from math import prod
from typing import Any, final

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.sequences.builder import Builder
from memspan.sequences.coding import Labels, Lookup
from memspan.sequences.in_place import in_place, left_over, numbers
from memspan.sequences.request import Request
from memspan.sequences.sequence import Sequence
from memspan.sequences.store import Symbols
from memspan.sequences.streams import Input, one_line

TOKEN_TYPES = ("uint16", "uint32")
"""What a raw file may hold; the first is meant where none is said."""

_VOCABULARY = 1 << 20


@final
class _Tokens:
    """Numbers for tokens: by a table while they are small and not negative, else by a dictionary."""

    def __init__(self) -> None:
        self._lookup = Lookup(_VOCABULARY)
        self._labels: Labels | None = None

    @property
    def values(self) -> list[Hashable]:
        return [*self._lookup.values] if self._labels is None else self._labels.values

    def codes(self, tokens: NDArray[Any]) -> Symbols:
        outside = len(tokens) > 0 and (tokens.min() < 0 or tokens.max() >= _VOCABULARY)
        if self._labels is None and outside:
            self._labels = Labels(self._lookup.values)
        return self._lookup.codes(tokens) if self._labels is None else self._labels.codes(tokens.tolist())


def read_tokens(request: Request) -> Sequence:
    """Each integer is a symbol; a file is a document, and so is each row of a two-dimensional array."""
    raw_type = np.dtype(request.token_type or TOKEN_TYPES[0]).newbyteorder("<")
    if _raw_on_this_machine(request.inputs[0], raw_type) and raw_type.itemsize == 2:
        found = in_place(request, raw_type, symbols="tokens")
        if found is not None:
            return found
    tokens, builder = _Tokens(), request.builder()
    for item in request.inputs:
        reader = _Reader(request.pieces(item))
        if reader.peek(len(npy.MAGIC_PREFIX)) == npy.MAGIC_PREFIX or item.ending == ".npy":
            _append_npy(builder, tokens, reader, item, request)
        else:
            for values in numbers(reader.rest(), raw_type, item.name):
                builder.append(tokens.codes(values))
        builder.end_document()
    return builder.finish(tokens.values, symbols="tokens", names=request.names)


def _raw_on_this_machine(item: Input, dtype: np.dtype[Any]) -> bool:
    """Whether the file holds nothing but numbers; a wrong length is refused before any work."""
    if item.path is None or item.packing or item.ending == ".npy":
        return False
    with item.stream() as file:
        raw = file.read(len(npy.MAGIC_PREFIX)) != npy.MAGIC_PREFIX
    if raw and item.size is not None and item.size % dtype.itemsize:
        raise left_over(item.name, dtype, item.size % dtype.itemsize)
    return raw


def _append_npy(builder: Builder, tokens: _Tokens, reader: _Reader, item: Input, request: Request) -> None:
    if request.token_type is not None:
        raise InputError(f"{item.name} is a numpy file, which states its own type; use --as tokens")
    shape, by_columns, dtype = _header(reader, item.name)
    rows, expected = (shape[1] if len(shape) == 2 else 0), prod(shape)
    pieces = numbers(reader.rest(), dtype, item.name)
    if by_columns and len(shape) == 2:
        # Rows are spread over the whole file, so the file is needed whole.
        whole = np.concatenate([np.empty(0, dtype), *pieces])[:expected]
        pieces = iter([whole.reshape(shape, order="F").ravel()] if len(whole) == expected else [whole])
    length = 0
    for values in pieces:
        first = -length % rows if rows else 0
        builder.append(tokens.codes(values), range(first, len(values), rows) if rows else ())
        length += len(values)
    if length != expected:
        raise InputError(
            f"{item.name} holds {length:,} of {expected:,} tokens; it was cut short or changed, get it again"
        )


def _header(reader: _Reader, name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, order and type of an array; nothing is unpickled."""
    try:
        version = npy.read_magic(reader)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, by_columns, dtype = read(reader)
    except (ValueError, tokenize.TokenError) as error:
        raise InputError(
            f"{name} is not a numpy file ({one_line(error)}); write it with numpy.save"
        ) from error
    if dtype.kind not in "iu":
        raise InputError(
            f"{name} holds {dtype.name} values; expected integers; save it with array.astype('int64')"
        )
    if len(shape) not in (1, 2):
        raise InputError(f"{name} has {len(shape)} dimensions; expected one, or two with documents as rows")
    return shape, by_columns, dtype


@final
class _Reader:
    """Pieces of bytes read like a file, as far as a header needs it."""

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

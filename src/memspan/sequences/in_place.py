"""A large local file of bytes or 16-bit tokens is its own store: nothing is copied."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.sequences.builder import check_kinds
from memspan.sequences.request import Request
from memspan.sequences.sequence import Sequence
from memspan.sequences.store import Disk, narrow_dtype


def in_place(request: Request, dtype: np.dtype[Any], *, symbols: str) -> Sequence | None:
    """The one uncompressed file that is over the memory limit, with a table from what it holds to symbols.

    None where there are several inputs, or it is small, compressed or elsewhere: then it has to be copied.
    """
    item = request.inputs[0]
    size, path = item.size, item.path
    if (
        len(request.inputs) > 1
        or path is None
        or size is None
        or item.packing
        or size <= request.memory_limit
    ):
        return None
    present = _present(request.pieces(item), dtype, item.name)
    kinds = np.flatnonzero(present).tolist()
    length = size // dtype.itemsize
    check_kinds(kinds, length, request.name)
    recode = None if present.all() else (np.cumsum(present) - 1).astype(narrow_dtype(len(kinds)))
    store = Disk(path.absolute(), dtype, length, recode)
    return Sequence(store, np.array([0, length], np.int64), tuple(kinds), symbols, request.names)


def _present(pieces: Iterator[bytes], dtype: np.dtype[Any], name: str) -> NDArray[np.bool_]:
    """Which of all numbers of a type occur."""
    present = np.zeros(1 << (8 * dtype.itemsize), np.bool_)
    if dtype.itemsize > 1:
        for values in numbers(pieces, dtype, name):
            present[values] = True
        return present
    seen = b""
    for piece in pieces:
        # Deleting what is known leaves next to nothing, at a fraction of the time of marking each byte.
        seen += bytes(set(piece.translate(None, delete=seen)))
    present[list(seen)] = True
    return present


def numbers(pieces: Iterable[bytes], dtype: np.dtype[Any], name: str) -> Iterator[NDArray[Any]]:
    """Raw numbers, also where a border of pieces cuts one in two."""
    rest = b""
    for piece in pieces:
        raw = rest + piece
        whole = len(raw) - len(raw) % dtype.itemsize
        rest = raw[whole:]
        yield np.frombuffer(raw[:whole], dtype)
    if rest:
        raise left_over(name, dtype, len(rest))


def left_over(name: str, dtype: np.dtype[Any], count: int) -> InputError:
    """The explanation of a raw file whose length does not fit its type."""
    return InputError(
        f"{name} is not a whole number of {dtype.name} tokens (bytes left over: {count}); "
        "give a raw little-endian file of tokens, or say its type: --as tokens:uint16 or --as tokens:uint32"
    )

"""What is written at a time, of streams side by side; and every stream by itself again."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from typing import IO, Any, NamedTuple

import numpy as np

from memspan.errors import InputError
from memspan.sequences.builder import MEMORY_LIMIT
from memspan.sequences.store import Symbols


class Block(NamedTuple):
    """A stretch of some of the streams, counted from 0; blocks come stretch after stretch, then for the next streams."""

    stream: int
    """The first of its streams"""
    step: int
    """The first of its steps"""
    symbols: Symbols
    """(streams, steps): in as few bytes as the number of classes allows"""


def joined(blocks: Iterable[Block]) -> Symbols:
    """All streams in one array (streams, length).

    >>> left, right = np.array([[1], [2]], np.uint8), np.array([[3, 4], [5, 6]], np.uint8)
    >>> joined([Block(0, 0, left), Block(0, 1, right)]).tolist()
    [[1, 3, 4], [2, 5, 6]]
    """
    return np.concatenate(
        [np.concatenate([block.symbols for block in group], 1) for group in _groups(blocks)]
    )


def in_turn(blocks: Iterable[Block], memory_limit: int = MEMORY_LIMIT) -> Iterator[Iterator[Symbols]]:
    """Stream after stream, each in pieces, which are to be taken before the next stream is.

    Streams that were written side by side wait in memory or, where they are more than `memory_limit` bytes, in a temporary
    file; one that was written alone does not wait.
    """
    for group in _groups(blocks):
        first = next(group)
        streams, whole = len(first.symbols), chain([first], group)
        if streams == 1:
            yield (block.symbols[0] for block in whole)
            continue
        with tempfile.SpooledTemporaryFile(max_size=memory_limit) as file:
            steps = [_put(file, block.symbols) for block in whole]
            for row in range(streams):
                yield _row(file, row, streams, steps, first.symbols.dtype)


def _groups(blocks: Iterable[Block]) -> Iterator[Iterator[Block]]:
    return (group for _, group in groupby(blocks, key=lambda block: block.stream))


def _put(file: IO[bytes], symbols: Symbols) -> int:
    """Add a block to a file; how many steps it has."""
    try:
        file.write(np.ascontiguousarray(symbols).data)
    except OSError as error:
        raise InputError(
            f"cannot write a temporary file: {error.strerror}; set TMPDIR to a folder with more room"
        ) from error
    return symbols.shape[1]


def _row(
    file: IO[bytes], row: int, streams: int, steps: list[int], dtype: np.dtype[Any]
) -> Iterator[Symbols]:
    before = 0
    for count in steps:
        file.seek((before * streams + row * count) * dtype.itemsize)
        yield np.frombuffer(file.read(count * dtype.itemsize), dtype)
        before += count

"""Sampled streams as arrays, as texts, as a `Sequence` to measure, or as a file that `read` reads back."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from memspan.errors import InputError
from memspan.models.vocabulary import Numbers, Spelling
from memspan.results.files import replacing
from memspan.sampling.streams import Block
from memspan.sequences.builder import MEMORY_LIMIT, Builder
from memspan.sequences.encoding import CODE_POINTS, LabelEncoder, TableEncoder, code_points
from memspan.sequences.sequence import Sequence
from memspan.sequences.store import Symbols

# Possible separators of streams, all of three bytes: Unicode's pictures of separators, then the private use area.
MARKS = ("␞", "␟", "␝", "␜", *map(chr, range(0xE000, 0xF900)))
_ALL_MARKS = frozenset(MARKS)


def joined(blocks: Iterable[Block]) -> Symbols:
    """All streams in one array (streams, length).

    >>> left, right = np.array([[1], [2]], np.uint8), np.array([[3, 4], [5, 6]], np.uint8)
    >>> joined([Block(0, 0, left), Block(0, 1, right)]).tolist()
    [[1, 3, 4], [2, 5, 6]]
    """
    return np.concatenate([np.concatenate([block.symbols for block in group], 1) for group in _groups(blocks)])


def in_turn(blocks: Iterable[Block], memory_limit: int = MEMORY_LIMIT) -> Iterator[Iterator[Symbols]]:
    """Stream by stream, each in pieces that must be consumed before the next stream.

    A group of streams is buffered in memory or, above `memory_limit` bytes, in a temporary file; a group of one is not
    buffered.
    """
    for group in _groups(blocks):
        first = next(group)
        streams, whole = len(first.symbols), chain([first], group)
        if streams == 1:  # already in order
            yield (block.symbols[0] for block in whole)
            continue
        with tempfile.SpooledTemporaryFile(max_size=memory_limit) as file:
            steps = [_append(file, block.symbols) for block in whole]
            for row in range(streams):
                yield _row(file, row, streams, steps, first.symbols.dtype)


def texts(blocks: Iterable[Block], vocabulary: Spelling) -> Iterator[str]:
    """The text of every stream, in order."""
    return ("".join(pieces) for pieces in _texts(blocks, vocabulary))


def as_sequence(blocks: Iterable[Block], vocabulary: Spelling, *, name: str = "the sample") -> Sequence:
    """Every stream as a document of characters, also for words and tokens; large samples are held in a temporary file.

    The same sequence as read from a file of these texts, with `name` in place of its path. With `Numbers` as the
    vocabulary the documents consist of the numbers themselves.
    """
    builder = Builder()
    if isinstance(vocabulary, Numbers):
        labels = LabelEncoder()
        for pieces in in_turn(blocks):
            for numbers in pieces:
                builder.append(labels.codes(numbers.tolist()))
            builder.end_document()
        return builder.finish(labels.values, symbols="tokens", names=(name,))
    lookup = TableEncoder(CODE_POINTS)
    for pieces in _texts(blocks, vocabulary):
        for text in pieces:
            builder.append(lookup.codes(code_points(text)))
        builder.end_document()
    return builder.finish([chr(value) for value in lookup.values], symbols="chars", names=(name,))


class Written(NamedTuple):
    """A file of streams: `read(path, documents=documents)` returns each as a document."""

    path: Path
    documents: str
    """The value for `--documents`: `file` for one stream, else the separator"""
    streams: int
    characters: int
    """Length of all streams without separators"""


def write(path: str | os.PathLike[str], blocks: Iterable[Block], vocabulary: Spelling) -> Written:
    """Write the texts to one UTF-8 file, atomically, with one of `MARKS` between streams and nothing else.

    Blank lines cannot separate streams: texts contain them, and line ends at the start or end of a stream would be
    lost. The separator is the first mark that occurs in none of the texts.
    """
    mark, used, characters = MARKS[0], set[str](), 0
    places: list[int] = []
    with replacing(path) as temporary, temporary.open("wb") as file:
        for pieces in _texts(blocks, vocabulary):
            places.append(file.tell())
            file.write(mark.encode() if len(places) > 1 else b"")
            for text in pieces:
                file.write(text.encode())
                characters += len(text)
                used |= _ALL_MARKS.intersection(text)
        # Whether the mark is free is known only after the last text. All marks have the same length in bytes.
        if mark in used:
            mark = next(mark for mark in MARKS if mark not in used)
            for place in places[1:]:
                file.seek(place)
                file.write(mark.encode())
    return Written(Path(path), mark if len(places) > 1 else "file", len(places), characters)


def _texts(blocks: Iterable[Block], vocabulary: Spelling) -> Iterator[Iterator[str]]:
    return (vocabulary.decode_pieces(pieces) for pieces in in_turn(blocks))


def _groups(blocks: Iterable[Block]) -> Iterator[Iterator[Block]]:
    return (group for _, group in groupby(blocks, key=lambda block: block.stream))


def _append(file: IO[bytes], symbols: Symbols) -> int:
    """Append a block to a file and return its number of steps."""
    try:
        file.write(np.ascontiguousarray(symbols).data)
    except OSError as error:
        raise InputError(
            f"cannot write a temporary file: {error.strerror}; set TMPDIR to a folder with more space"
        ) from error
    return symbols.shape[1]


def _row(file: IO[bytes], row: int, streams: int, steps: list[int], dtype: np.dtype[Any]) -> Iterator[Symbols]:
    """One stream of the buffered blocks, which follow each other, each stored row by row."""
    before = 0
    for count in steps:
        file.seek((before * streams + row * count) * dtype.itemsize)
        yield np.frombuffer(file.read(count * dtype.itemsize), dtype)
        before += count

"""What was sampled, as texts: in memory, as a `Sequence` to measure, or in a file that `read` reads back."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from memspan.models.vocabulary import Numbers, Spelling
from memspan.results.atomic import replacing
from memspan.sampling.blocks import Block, in_turn
from memspan.sequences.builder import Builder
from memspan.sequences.coding import CODE_POINTS, Labels, Lookup, code_points
from memspan.sequences.sequence import Sequence

MARKS = ("␞", "␟", "␝", "␜", *map(chr, range(0xE000, 0xF900)))
"""What may stand between streams, three bytes each: Unicode's pictures of separators, then code points for private use."""


class Written(NamedTuple):
    """A file of streams: `read(path, documents=documents)` gives them back, each as a document."""

    path: Path
    documents: str
    """What `--documents` has to be: `file` for one stream, else the mark between two"""
    streams: int
    characters: int
    """Of all streams, without marks"""


def texts(blocks: Iterable[Block], vocabulary: Spelling) -> Iterator[str]:
    """The text of every stream, one after the other."""
    return ("".join(pieces) for pieces in _texts(blocks, vocabulary))


def as_sequence(blocks: Iterable[Block], vocabulary: Spelling, *, name: str = "the sample") -> Sequence:
    """Every stream as a document of characters, those of words and tokens as well; what is large lies in a temporary file.

    The same sequence as of a file of them; `name` stands for its path. What is `Numbers` only is a document of these.
    """
    if isinstance(vocabulary, Numbers):
        return _as_numbers(blocks, name)
    lookup, builder = Lookup(CODE_POINTS), Builder()
    for pieces in _texts(blocks, vocabulary):
        for text in pieces:
            builder.append(lookup.codes(code_points(text)))
        builder.end_document()
    return builder.finish([chr(value) for value in lookup.values], symbols="chars", names=(name,))


def _as_numbers(blocks: Iterable[Block], name: str) -> Sequence:
    labels, builder = Labels(), Builder()
    for pieces in in_turn(blocks):
        for numbers in pieces:
            builder.append(labels.codes(numbers.tolist()))
        builder.end_document()
    return builder.finish(labels.values, symbols="tokens", names=(name,))


def write(path: str | os.PathLike[str], blocks: Iterable[Block], vocabulary: Spelling) -> Written:
    """The texts in one file, UTF-8, which is there when all of it is; one of `MARKS` between two streams, nothing else.

    Blank lines between streams would be lost among those of the texts, and would take with them the line ends where a
    stream begins or ends. The mark is the first that none of the texts contains, so it stands nowhere but between streams.
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
                used |= _ALL.intersection(text)
        if mark in used:  # known only now, and all marks are of one length
            mark = next(mark for mark in MARKS if mark not in used)
            for place in places[1:]:
                file.seek(place)
                file.write(mark.encode())
    return Written(Path(path), mark if len(places) > 1 else "file", len(places), characters)


_ALL = frozenset(MARKS)


def _texts(blocks: Iterable[Block], vocabulary: Spelling) -> Iterator[Iterator[str]]:
    return (vocabulary.decode_pieces(pieces) for pieces in in_turn(blocks))

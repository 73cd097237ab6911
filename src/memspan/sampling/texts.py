"""What was sampled, as texts: in memory, as a `Sequence` to measure, or in a file that `read` reads back."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from memspan.models.vocabulary import Vocabulary
from memspan.results.atomic import replacing
from memspan.sampling.blocks import Block, in_turn
from memspan.sequences.builder import Builder
from memspan.sequences.coding import CODE_POINTS, Lookup, code_points
from memspan.sequences.sequence import Sequence
from memspan.sequences.store import Symbols

MARKS = ("␞", "␟", "␝", "␜", *map(chr, range(0xE000, 0xF900)))
"""What may stand between streams: Unicode's pictures of separators, then its code points for private use."""


class Written(NamedTuple):
    """A file of streams: `read(path, documents=documents)` gives them back, each as a document."""

    path: Path
    documents: str
    """What `--documents` has to be: `file` for one stream, else the mark between two"""
    streams: int
    characters: int
    """Of all streams, without marks"""


def texts(blocks: Iterable[Block], vocabulary: Vocabulary) -> Iterator[str]:
    """The text of every stream, one after the other."""
    return ("".join(pieces) for pieces in _texts(blocks, vocabulary))


def as_sequence(blocks: Iterable[Block], vocabulary: Vocabulary, *, name: str = "the sample") -> Sequence:
    """Every stream as a document of characters, those of words as well; what is large lies in a temporary file.

    The same sequence as of a file of them; `name` stands for its path.
    """
    lookup, builder = Lookup(CODE_POINTS), Builder()
    for pieces in _texts(blocks, vocabulary):
        for text in pieces:
            builder.append(lookup.codes(code_points(text)))
        builder.end_document()
    return builder.finish([chr(value) for value in lookup.values], symbols="chars", names=(name,))


def write(path: str | os.PathLike[str], blocks: Iterable[Block], vocabulary: Vocabulary) -> Written:
    """The texts in one file, UTF-8, which is there when all of it is; `separator` between two streams, nothing else.

    Blank lines between streams would be lost among those of the texts, and would take with them the line ends where a
    stream begins or ends. A character that no symbol contains stands nowhere but between streams.
    """
    mark, streams, characters = separator(vocabulary), 0, 0
    with replacing(path) as temporary, temporary.open("wb") as file:
        for pieces in _texts(blocks, vocabulary):
            file.write(mark.encode() if streams else b"")
            for text in pieces:
                file.write(text.encode())
                characters += len(text)
            streams += 1
    return Written(Path(path), mark if streams > 1 else "file", streams, characters)


def separator(vocabulary: Vocabulary) -> str:
    """The first of `MARKS` that is in none of the symbols.

    >>> separator(Vocabulary("characters", ("a", "␞", "\\n")))
    '␟'
    """
    used = set("".join(vocabulary.symbols))
    return next(mark for mark in MARKS if mark not in used)


def _texts(blocks: Iterable[Block], vocabulary: Vocabulary) -> Iterator[Iterator[str]]:
    return (_decoded(pieces, vocabulary) for pieces in in_turn(blocks))


def _decoded(pieces: Iterator[Symbols], vocabulary: Vocabulary) -> Iterator[str]:
    """A stream's text in pieces; together they are what `decode` makes of all its symbols."""
    words, end, in_line = vocabulary.kind == "words", vocabulary.end, False
    for symbols in pieces:
        # Between two words is a blank, also where a border of pieces is.
        yield " " if words and in_line and symbols[0] != end else ""
        yield vocabulary.decode(symbols.tolist())
        in_line = symbols[-1] != end

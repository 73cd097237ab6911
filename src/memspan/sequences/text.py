"""Texts as characters, bytes, words or lines, read in pieces: no file is ever held as a whole."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.sequences.coding import CODE_POINTS, Labels, Lookup, code_points
from memspan.sequences.in_place import in_place
from memspan.sequences.request import Request
from memspan.sequences.sequence import Sequence
from memspan.sequences.splitting import Lines, splitter_for
from memspan.sequences.streams import Input


def read_chars(request: Request) -> Sequence:
    """Each Unicode code point is a symbol, exactly those of the file; line ends are not translated."""
    return _read_points(request, "utf-8", chr, symbols="chars")


def read_bytes(request: Request) -> Sequence:
    """Each byte is a symbol. A single large local file is used where it lies."""
    if request.documents == "file" and (found := in_place(request, np.dtype("<u1"), symbols="bytes")):
        return found
    # In Latin-1 code point and byte are the same number.
    return _read_points(request, "latin-1", int, symbols="bytes")


def read_words(request: Request) -> Sequence:
    """What `str.split` calls words: the longest runs without white space."""
    labels, builder = Labels(), request.builder()
    for item in request.inputs:
        rest = ""
        for fragments in in_fragments(request, item):
            fragments[0] = rest + fragments[0]
            documents = [fragment.split() for fragment in fragments]
            # The last word of the piece may go on in the next.
            cut = documents[-1] and not fragments[-1][-1].isspace()
            rest = documents[-1].pop() if cut else ""
            words = [word for document in documents for word in document]
            builder.append(labels.codes(words), _ends(documents))
        builder.append(labels.codes([rest] if rest else []))
        builder.end_document()
    return builder.finish(labels.values, symbols="words", names=request.names)


def read_lines(request: Request) -> Sequence:
    """Each line is a symbol, its line end aside; with `--documents blank`, blank lines separate documents."""
    labels, builder = Labels(), request.builder()
    blank = request.documents == "blank"
    for item in request.inputs:
        for lines in _complete_lines(request, item):
            kept = [line for line in lines if line.strip()] if blank else lines
            builder.append(labels.codes(kept), _ends_at_blank(lines) if blank else ())
        builder.end_document()
    return builder.finish(labels.values, symbols="lines", names=request.names)


def _read_points(
    request: Request, encoding: Literal["utf-8", "latin-1"], label: Callable[[int], Any], *, symbols: str
) -> Sequence:
    lookup, builder = Lookup(CODE_POINTS), request.builder(expected=request.size)
    for item in request.inputs:
        for fragments in in_fragments(request, item, encoding):
            builder.append(lookup.codes(code_points("".join(fragments))), _ends(fragments))
        builder.end_document()
    return builder.finish([label(value) for value in lookup.values], symbols=symbols, names=request.names)


def _ends(parts: list[Any]) -> NDArray[np.int64]:
    """Where documents end among the symbols of all parts; the last one goes on."""
    return np.cumsum([len(part) for part in parts[:-1]], dtype=np.int64)


def _ends_at_blank(lines: list[str]) -> NDArray[np.int64]:
    full = np.array([bool(line.strip()) for line in lines], np.bool_)
    return np.cumsum(full, dtype=np.int64)[~full]


def _complete_lines(request: Request, item: Input) -> Iterator[list[str]]:
    splitter, rest = Lines(), ""
    for text in decoded(request, item):
        lines = splitter.feed(text)
        lines[0] = rest + lines[0]
        rest = lines.pop()
        yield lines
    # After the last line end there is no line.
    ended_now = len(splitter.close()) > 1
    yield [rest] if rest or ended_now else []


def in_fragments(request: Request, item: Input, encoding: str = "utf-8") -> Iterator[list[str]]:
    """The text of an input, piece by piece; a document ends between each two fragments, the last goes on."""
    splitter = splitter_for(request.documents, raw=encoding == "latin-1")
    for text in decoded(request, item, encoding):
        yield splitter.feed(text)
    yield splitter.close()


def decoded(request: Request, item: Input, encoding: str = "utf-8") -> Iterator[str]:
    """The text of an input, piece by piece; characters cut by a border are put together."""
    decoder = codecs.getincrementaldecoder(encoding)()
    position = 0
    try:
        for piece in request.pieces(item):
            position += len(piece)
            yield decoder.decode(piece)
        yield decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        # The decoder sees what it held back from earlier pieces, too.
        offset = position - len(error.object) + error.start
        raise InputError(
            f"{item.name} is not UTF-8 text: byte {error.object[error.start]:#04x} at offset {offset:,} "
            f"({error.reason}); convert it to UTF-8, or use --as bytes"
        ) from error

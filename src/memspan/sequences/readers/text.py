"""Text as characters, bytes, words or lines, read in pieces: no file is ever loaded as a whole."""

from __future__ import annotations

import codecs
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.sequences.encoding import CODE_POINTS, LabelEncoder, TableEncoder, code_points
from memspan.sequences.readers.inputs import Input, Request
from memspan.sequences.readers.tokens import read_in_place
from memspan.sequences.sequence import Sequence


def read_chars(request: Request) -> Sequence:
    """Each Unicode code point is a symbol; line ends are not translated."""
    return _read_points(request, "utf-8", chr, symbols="chars")


def read_bytes(request: Request) -> Sequence:
    """Each byte is a symbol. A single large local file is used in place."""
    if request.documents == "file" and (found := read_in_place(request, np.dtype("<u1"), symbols="bytes")):
        return found
    # In Latin-1, code point and byte are the same number.
    return _read_points(request, "latin-1", int, symbols="bytes")


def read_words(request: Request) -> Sequence:
    """Each word as `str.split` finds them is a symbol: the longest runs without white space."""
    encoder, builder = LabelEncoder(), request.builder()
    for item in request.inputs:
        rest = ""
        for fragments in document_fragments(request, item):
            fragments[0] = rest + fragments[0]
            documents = [fragment.split() for fragment in fragments]
            # The last word of the piece may continue in the next one.
            cut = documents[-1] and not fragments[-1][-1].isspace()
            rest = documents[-1].pop() if cut else ""
            words = [word for document in documents for word in document]
            builder.append(encoder.codes(words), _ends(documents))
        builder.append(encoder.codes([rest] if rest else []))
        builder.end_document()
    return builder.finish(encoder.values, symbols="words", names=request.names)


def read_lines(request: Request) -> Sequence:
    """Each line without its line end is a symbol; with `--documents blank`, blank lines separate documents."""
    encoder, builder = LabelEncoder(), request.builder()
    blank = request.documents == "blank"
    for item in request.inputs:
        for lines in _complete_lines(request, item):
            symbols = [line for line in lines if line.strip()] if blank else lines
            builder.append(encoder.codes(symbols), _ends_at_blank(lines) if blank else ())
        builder.end_document()
    return builder.finish(encoder.values, symbols="lines", names=request.names)


def _read_points(
    request: Request, encoding: Literal["utf-8", "latin-1"], label: Callable[[int], Any], *, symbols: str
) -> Sequence:
    encoder, builder = TableEncoder(CODE_POINTS), request.builder(expected=request.size)
    for item in request.inputs:
        for fragments in document_fragments(request, item, encoding):
            builder.append(encoder.codes(code_points("".join(fragments))), _ends(fragments))
        builder.end_document()
    return builder.finish([label(value) for value in encoder.values], symbols=symbols, names=request.names)


def _ends(parts: list[Any]) -> NDArray[np.int64]:
    """Document ends among the symbols of all parts; the last document continues."""
    return np.cumsum([len(part) for part in parts[:-1]], dtype=np.int64)


def _ends_at_blank(lines: list[str]) -> NDArray[np.int64]:
    full = np.array([bool(line.strip()) for line in lines], np.bool_)
    return np.cumsum(full, dtype=np.int64)[~full]


def _complete_lines(request: Request, item: Input) -> Iterator[list[str]]:
    splitter, rest = LineSplitter(), ""
    for text in decoded(request, item):
        lines = splitter.feed(text)
        lines[0] = rest + lines[0]
        rest = lines.pop()
        yield lines
    # A line end at the end of the file is not followed by another line.
    ended_now = len(splitter.close()) > 1
    yield [rest] if rest or ended_now else []


def document_fragments(request: Request, item: Input, encoding: str = "utf-8") -> Iterator[list[str]]:
    """The text of an input, piece by piece; a document ends between two fragments, the last fragment continues."""
    splitter = splitter_for(request.documents, raw=encoding == "latin-1")
    for text in decoded(request, item, encoding):
        yield splitter.feed(text)
    yield splitter.close()


def decoded(request: Request, item: Input, encoding: str = "utf-8") -> Iterator[str]:
    """The text of an input, piece by piece; characters that span two pieces are joined."""
    decoder = codecs.getincrementaldecoder(encoding)()
    position = 0
    try:
        for piece in request.pieces(item):
            position += len(piece)
            yield decoder.decode(piece)
        yield decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        # The decoder also sees the bytes that it held back from earlier pieces.
        offset = position - len(error.object) + error.start
        raise InputError(
            f"{item.name} is not UTF-8 text: byte {error.object[error.start]:#04x} at offset {offset:,} "
            f"({error.reason}); convert it to UTF-8, or use --as bytes"
        ) from error


# Line ends are "\n", "\r\n" and "\r", as in Python's text files, also across pieces. The group is atomic, so that "\r\n"
# is never matched as two line ends.
_LINE_END = r"(?>\r\n|\n|\r)"


class Splitter(ABC):
    """Splits a text into documents, independent of the pieces in which it arrives."""

    @abstractmethod
    def feed(self, text: str) -> list[str]:
        """The fragments that are certain so far; a document ends between two of them, the last one continues."""

    @abstractmethod
    def close(self) -> list[str]:
        """The fragments of the text that was held back."""


@final
class FileSplitter(Splitter):
    """The whole file is one document."""

    def feed(self, text: str) -> list[str]:
        return [text]

    def close(self) -> list[str]:
        return [""]


@final
class LineSplitter(Splitter):
    r"""Every line is a document, without its line end.

    >>> splitter = LineSplitter()
    >>> splitter.feed("to be\r"), splitter.feed("\nor not"), splitter.close()
    (['to be'], ['', 'or not'], [''])
    """

    def __init__(self) -> None:
        self._pattern = re.compile(_LINE_END)
        self._held = ""

    def feed(self, text: str) -> list[str]:
        text = self._held + text
        # A carriage return at the end may be the first half of a line end.
        self._held = "\r" if text.endswith("\r") else ""
        return self._pattern.split(text[:-1] if self._held else text)

    def close(self) -> list[str]:
        return ["", ""] if self._held else [""]


@final
class BlankLineSplitter(Splitter):
    r"""Blank lines (empty, or white space only) separate documents; their line ends belong to no document.

    >>> BlankLineSplitter().feed("\n\none\ntwo\n \nthree")
    ['', 'one\ntwo', 'three']
    """

    def __init__(self, *, ascii_only: bool = False) -> None:
        flags = re.ASCII if ascii_only else re.NOFLAG
        self._pattern = re.compile(rf"{_LINE_END}(?:[^\S\r\n]*{_LINE_END})+", flags)
        self._line_end = re.compile(r"[\r\n]")
        # A line end before the text makes leading blank lines like all others.
        self._held = "\n"
        self._started = False

    def feed(self, text: str) -> list[str]:
        text = self._held + text
        # A separator may begin or continue at a line end that is followed by white space only.
        found = self._line_end.search(text, len(text.rstrip()))
        cut = found.start() if found else len(text)
        self._held = text[cut:]
        return self._split(text[:cut])

    def close(self) -> list[str]:
        return self._split(self._held + "\n\n")

    def _split(self, text: str) -> list[str]:
        fragments = self._pattern.split(text)
        if text and not self._started:
            self._started = True
            fragments[0] = fragments[0][1:]
        return fragments


@final
class SeparatorSplitter(Splitter):
    """Documents between occurrences of a separator, as `str.split` finds them.

    >>> splitter = SeparatorSplitter("<|end|>")
    >>> splitter.feed("first<|e"), splitter.feed("nd|>second"), splitter.close()
    (['fi'], ['rst', ''], ['second'])
    """

    def __init__(self, separator: str) -> None:
        self._separator = separator
        self._held = ""

    def feed(self, text: str) -> list[str]:
        fragments = (self._held + text).split(self._separator)
        # The last fragment may end with the first part of a separator.
        certain = max(0, len(fragments[-1]) - len(self._separator) + 1)
        self._held = fragments[-1][certain:]
        fragments[-1] = fragments[-1][:certain]
        return fragments

    def close(self) -> list[str]:
        held, self._held = self._held, ""
        return [held]


def splitter_for(documents: str, *, raw: bool = False) -> Splitter:
    """The splitter for a value of `--documents`; `raw` text is bytes decoded as Latin-1."""
    if documents == "file":
        return FileSplitter()
    if documents == "line":
        return LineSplitter()
    if documents == "blank":
        return BlankLineSplitter(ascii_only=raw)
    if raw:
        # Bytes that are not valid text arrive from the command line as surrogates.
        documents = documents.encode("utf-8", "surrogateescape").decode("latin-1")
    return SeparatorSplitter(documents)

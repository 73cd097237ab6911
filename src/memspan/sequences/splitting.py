"""Documents within a text that comes in pieces: a document ends between two fragments.

Line ends are `\\n`, `\\r\\n` and `\\r`, as where Python reads text files, also across the borders of pieces.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import final

# Atomic, so that "\r\n" is never tried as two line ends.
_LINE_END = r"(?>\r\n|\n|\r)"


class Splitter(ABC):
    """Cuts a text into documents, whatever the pieces in which it comes."""

    @abstractmethod
    def feed(self, text: str) -> list[str]:
        """The fragments of what can be decided so far; a document ends between each two, the last goes on."""

    @abstractmethod
    def close(self) -> list[str]:
        """The fragments of what was held back."""


@final
class Whole(Splitter):
    """All of the text is one document."""

    def feed(self, text: str) -> list[str]:
        return [text]

    def close(self) -> list[str]:
        return [""]


@final
class Lines(Splitter):
    r"""Every line is a document, its line end aside.

    >>> splitter = Lines()
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
class BlankLines(Splitter):
    r"""Blank lines (empty, or of white space only) separate documents; their line ends belong to none.

    >>> BlankLines().feed("\n\none\ntwo\n \nthree")
    ['', 'one\ntwo', 'three']
    """

    def __init__(self, *, ascii_only: bool = False) -> None:
        flags = re.ASCII if ascii_only else re.NOFLAG
        self._pattern = re.compile(rf"{_LINE_END}(?:[^\S\r\n]*{_LINE_END})+", flags)
        self._line_end = re.compile(r"[\r\n]")
        # With a line end before the text, leading blank lines are like all others.
        self._held = "\n"
        self._started = False

    def feed(self, text: str) -> list[str]:
        text = self._held + text
        # From a line end followed by nothing but white space on, a separator may begin or go on.
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
class Separated(Splitter):
    """Documents between occurrences of a separator, as `str.split` finds them.

    >>> splitter = Separated("<|end|>")
    >>> splitter.feed("first<|e"), splitter.feed("nd|>second"), splitter.close()
    (['fi'], ['rst', ''], ['second'])
    """

    def __init__(self, separator: str) -> None:
        self._separator = separator
        self._held = ""

    def feed(self, text: str) -> list[str]:
        fragments = (self._held + text).split(self._separator)
        # The rest may end with the first part of a separator.
        keep = max(0, len(fragments[-1]) - len(self._separator) + 1)
        self._held = fragments[-1][keep:]
        fragments[-1] = fragments[-1][:keep]
        return fragments

    def close(self) -> list[str]:
        held, self._held = self._held, ""
        return [held]


def splitter_for(documents: str, *, raw: bool = False) -> Splitter:
    """The splitter that the word or separator of `--documents` means; `raw` text is bytes seen as Latin-1."""
    if documents == "file":
        return Whole()
    if documents == "line":
        return Lines()
    if documents == "blank":
        return BlankLines(ascii_only=raw)
    if raw:
        # Bytes that are no text reach a command line as surrogates.
        documents = documents.encode("utf-8", "surrogateescape").decode("latin-1")
    return Separated(documents)

"""Tokens of a Hugging Face tokenizer, each document as if it were encoded whole, though never all of it at once.

A tokenizer cuts a text into words before it merges their letters, but where words begin depends on what stands before
them: cut at its line ends, a program has more tokens than uncut, because the indentation of a line belongs to the
line end before it. So a document is encoded in long stretches that end before a blank between two words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, final

import numpy as np

from memspan.errors import InputError, MissingExtraError
from memspan.sequences.coding import Labels
from memspan.sequences.opening import PathName
from memspan.sequences.request import Request
from memspan.sequences.sequence import Sequence
from memspan.sequences.streams import Input, one_line
from memspan.sequences.text import in_fragments

if TYPE_CHECKING:
    from tokenizers import Tokenizer

STRETCH = 1 << 16
"""Characters of a stretch at least; at most twice as many."""

_BORDERS = (re.compile(r"(?<=\w)(?= \w)"), re.compile(r"(?<=\S\n)(?=\S)"))
"""Between two words, before the blank; where there is none, between two lines."""


def load_tokenizer(path: PathName) -> Tokenizer:
    """The tokenizer of a tokenizer.json; texts of any length stay as long as they are."""
    if not Path(path).is_file():
        what = "is a folder" if Path(path).is_dir() else "is not there"
        raise InputError(f"the tokenizer {path} {what}; give the path of a Hugging Face tokenizer.json")
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise MissingExtraError("reading a tokenizer.json", "tokenizers", "hf") from error
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library has no class of its own for what it cannot read
        raise InputError(
            f"{path} is no tokenizer.json that can be read ({one_line(error)}); "
            "give one that the library tokenizers has saved"
        ) from error
    # A file may ask for texts of one length, as a model is trained on.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def read_bpe(request: Request) -> Sequence:
    """What the tokenizer's own `encode` makes of each document, with no special tokens added; symbols are their strings."""
    assert request.tokenizer is not None, "bpe has a tokenizer"
    tokenizer = load_tokenizer(request.tokenizer)
    strings = {number: string for string, number in tokenizer.get_vocab().items()}
    labels, builder = Labels(), request.builder()
    for item in request.inputs:
        for stretches, ends in _stretches(request, item):
            try:
                encoded = tokenizer.encode_batch_fast(stretches, add_special_tokens=False)
            except Exception as error:  # as above
                raise InputError(
                    f"{request.tokenizer} cannot encode {item.name} ({one_line(error)}); use another tokenizer"
                ) from error
            tokens = [encoding.ids for encoding in encoded]
            before = np.cumsum([0, *map(len, tokens)])
            builder.append(labels.codes([strings[token] for part in tokens for token in part]), before[ends])
        builder.end_document()
    return builder.finish(labels.values, symbols=f"bpe:{request.tokenizer}", names=request.names)


def _stretches(request: Request, item: Input) -> Iterator[tuple[list[str], list[int]]]:
    """The stretches of an input, some at a time, and after how many of them documents end."""
    cutter = Cutter()
    for fragments in in_fragments(request, item):
        stretches, ends = cutter.feed(fragments[0]), []
        for fragment in fragments[1:]:
            stretches += cutter.close()
            ends.append(len(stretches))
            stretches += cutter.feed(fragment)
        yield stretches, ends
    yield cutter.close(), []


@final
class Cutter:
    """Cuts a document that comes in pieces; where, depends on the document and not on the pieces.

    A stretch ends at the first border after `STRETCH` characters: before a blank between two words or, if there is none
    among as many characters again, at the end of a line or, if there is none either, after them.
    """

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> list[str]:
        """The stretches that are complete."""
        held, begin, stretches = self._held + text, 0, []
        while len(held) - begin >= 2 * STRETCH:
            end = _end(held, begin)
            stretches.append(held[begin:end])
            begin = end
        self._held = held[begin:]
        return stretches

    def close(self) -> list[str]:
        """What is left of the document."""
        held, self._held = self._held, ""
        return [held] if held else []


def _end(text: str, begin: int) -> int:
    first, last = begin + STRETCH, begin + 2 * STRETCH
    found = (border.search(text, first, last) for border in _BORDERS)
    return next((border.start() for border in found if border), last)

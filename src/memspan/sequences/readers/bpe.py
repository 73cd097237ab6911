"""Tokens of a Hugging Face tokenizer: each document as if encoded whole, but never loaded whole.

A tokenizer splits a text into words before it merges their letters, and word boundaries depend on the preceding text. For
example, a program split at its line ends has more tokens than the whole program, because the indentation of a line belongs
to the line end before it. So documents are encoded in long stretches that end before a space between two words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, final

import numpy as np

from memspan.errors import InputError, MissingExtraError
from memspan.sequences.encoding import LabelEncoder
from memspan.sequences.readers.inputs import Input, PathName, Request, one_line
from memspan.sequences.readers.text import document_fragments
from memspan.sequences.sequence import Sequence

if TYPE_CHECKING:
    from tokenizers import Tokenizer

# Minimum number of characters of a stretch; the maximum is twice that.
STRETCH = 1 << 16

# Between two words, before the space; if there is none, between two lines.
_BORDERS = (re.compile(r"(?<=\w)(?= \w)"), re.compile(r"(?<=\S\n)(?=\S)"))


def read_bpe(request: Request) -> Sequence:
    """The tokens of `Tokenizer.encode` without special tokens; symbols are the strings of the tokens."""
    assert request.argument is not None, "bpe requires a tokenizer"
    tokenizer = load_tokenizer(request.argument)
    strings = {number: string for string, number in tokenizer.get_vocab().items()}
    encoder, builder = LabelEncoder(), request.builder()
    for item in request.inputs:
        for stretches, ends in _stretches(request, item):
            try:
                encoded = tokenizer.encode_batch_fast(stretches, add_special_tokens=False)
            except Exception as error:  # tokenizers raises plain Exception
                raise InputError(
                    f"{request.argument} cannot encode {item.name} ({one_line(error)}); use another tokenizer"
                ) from error
            tokens = [encoding.ids for encoding in encoded]
            before = np.cumsum([0, *map(len, tokens)])
            builder.append(encoder.codes([strings[token] for part in tokens for token in part]), before[ends])
        builder.end_document()
    return builder.finish(encoder.values, symbols=f"bpe:{request.argument}", names=request.names)


def load_tokenizer(path: PathName) -> Tokenizer:
    """Load a tokenizer.json, without its truncation and padding."""
    if not Path(path).is_file():
        problem = "is a folder" if Path(path).is_dir() else "does not exist"
        raise InputError(f"the tokenizer {path} {problem}; give the path of a Hugging Face tokenizer.json")
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise MissingExtraError("reading a tokenizer.json", "tokenizers", "hf") from error
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises plain Exception
        raise InputError(
            f"{path} is not a valid tokenizer.json ({one_line(error)}); give one that the tokenizers library has saved"
        ) from error
    # A file may prescribe one length for all texts, as used in training.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _stretches(request: Request, item: Input) -> Iterator[tuple[list[str], list[int]]]:
    """Batches of stretches of an input, with the positions among them at which documents end."""
    cutter = StretchCutter()
    for fragments in document_fragments(request, item):
        stretches, ends = cutter.feed(fragments[0]), []
        for fragment in fragments[1:]:
            stretches += cutter.close()
            ends.append(len(stretches))
            stretches += cutter.feed(fragment)
        yield stretches, ends
    yield cutter.close(), []


@final
class StretchCutter:
    """Cuts a document that arrives in pieces, independent of the pieces.

    A stretch ends at the first border after `STRETCH` characters: before a space between two words or, if there is none
    among as many characters again, at the end of a line or, if there is none either, after them.
    """

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> list[str]:
        """The stretches that are complete."""
        held, begin, stretches = self._held + text, 0, []
        while len(held) - begin >= 2 * STRETCH:
            end = _border(held, begin + STRETCH, begin + 2 * STRETCH)
            stretches.append(held[begin:end])
            begin = end
        self._held = held[begin:]
        return stretches

    def close(self) -> list[str]:
        """The rest of the document."""
        held, self._held = self._held, ""
        return [held] if held else []


def _border(text: str, first: int, last: int) -> int:
    found = (pattern.search(text, first, last) for pattern in _BORDERS)
    return next((border.start() for border in found if border), last)

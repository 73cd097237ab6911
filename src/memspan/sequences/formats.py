"""The formats that `read` understands, one declaration each.

Help texts, error messages and the choice by file extension derive from this table. It names the readers' modules without
importing them, so that the command line can print its help without loading numpy. Adding a format takes one file in
`readers/` with a function `read_NAME` and one entry here.

>>> FORMATS["dna"].extensions, FORMATS["tokens"].usage
(('.fa', '.fna', '.fasta'), 'tokens')
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from memspan.sequences.readers.inputs import Request
    from memspan.sequences.sequence import Sequence

TRANSFORMS = ("none", "difference", "log-return", "abs-log-return")
"""Transforms of numbers before binning."""
MISSING = ("error", "drop", "break")
"""Policies for missing values: refuse them, skip them, or end a document at each."""
# Types of raw token files; the first is the default.
TOKEN_TYPES = ("uint16", "uint32")


@final
@dataclass(frozen=True)
class Format:
    """How files of one kind become symbols."""

    name: str
    """The word of `--as`."""
    symbol: str
    """What one symbol is."""
    unit: str
    """The noun for one symbol in sentences; the plural adds an s."""
    module: str
    """The module of `memspan.sequences.readers` with `read_NAME`, a function from a `Request` to a `Sequence`."""
    extensions: tuple[str, ...] = ()
    """File extensions that select this format, in lower case."""
    document: str = "a file"
    """What one document is by default."""
    documents: tuple[str, ...] | None = None
    """Values of `--documents` that the format takes; None: file, line, blank or any separator."""
    options: tuple[str, ...] = ()
    """Options of `read` that belong to this format alone."""
    argument: str = ""
    """What must follow the name after a colon, for example FILE."""
    variants: tuple[str, ...] = ()
    """What may follow the name after a colon."""

    @property
    def usage(self) -> str:
        """The word of `--as` with its required argument."""
        return f"{self.name}:{self.argument}" if self.argument else self.name

    def reader(self) -> Callable[[Request], Sequence]:
        """Import the function that reads this format."""
        return getattr(importlib.import_module(f"memspan.sequences.readers.{self.module}"), f"read_{self.name}")


# The order is that of the help text.
FORMATS: dict[str, Format] = {
    entry.name: entry
    for entry in (
        Format("chars", "a Unicode character", "character", "text"),
        Format("bytes", "a byte", "byte", "text"),
        Format("words", "a word between white space", "word", "text"),
        Format("lines", "a line", "line", "text", documents=("file", "blank")),
        Format(
            name="dna",
            symbol="A, C, G or T, in either case",
            unit="base",
            module="fasta",
            extensions=(".fa", ".fna", ".fasta"),
            document="a record",
            documents=(),
        ),
        Format(
            name="numbers",
            symbol="a quantile bin of a column of numbers",
            unit="value",
            module="tables",
            extensions=(".csv", ".tsv"),
            documents=("file",),
            options=("column", "transform", "missing"),
        ),
        Format(
            name="tokens",
            symbol="an integer of an array",
            unit="token",
            module="tokens",
            extensions=(".npy", ".bin"),
            document="a file or a row of an array",
            documents=(),
            variants=TOKEN_TYPES,
        ),
        Format(
            name="json",
            symbol="an item of a list of lists",
            unit="item",
            module="json",
            extensions=(".json",),
            document="an inner list",
            documents=(),
            options=("key",),
        ),
        Format(
            name="bpe",
            symbol="a token of a Hugging Face tokenizer.json; needs the extra hf",
            unit="token",
            module="bpe",
            argument="FILE",
        ),
    )
}
"""Every format, by the word of `--as`."""

# The format of files whose extension no format claims.
DEFAULT = "chars"

SYMBOLS = tuple(FORMATS)
"""The words of `--as`; bpe takes a colon and the path of a tokenizer."""


def by_extension(extension: str) -> Format:
    """The format that an extension such as `.csv` selects."""
    claimed = (entry for entry in FORMATS.values() if extension in entry.extensions)
    return next(claimed, FORMATS[DEFAULT])


def unit_name(symbols: str, amount: float = 2) -> str:
    """The noun for symbols of a format, singular for an amount of 1; `symbols` may be any `Sequence.symbols`.

    >>> unit_name("chars"), unit_name("bpe:wiki.json"), unit_name("dna", 1), unit_name("notes")
    ('characters', 'tokens', 'base', 'symbols')
    """
    entry = FORMATS.get(symbols.partition(":")[0])
    unit = "symbol" if entry is None else entry.unit
    return unit if amount == 1 else f"{unit}s"


def formats_help() -> str:
    """The help text of `--as`: every format, and the extensions that select one.

    >>> formats_help()[:63]
    'Symbol type: chars (a Unicode character), bytes (a byte), words'
    """
    entries = ", ".join(f"{entry.usage} ({entry.symbol})" for entry in FORMATS.values())
    chosen = "; ".join(f"{' '.join(entry.extensions)} {entry.name}" for entry in FORMATS.values() if entry.extensions)
    variants = "; ".join(
        f"{entry.name}:{' or :'.join(entry.variants)} sets the type of raw files"
        for entry in FORMATS.values()
        if entry.variants
    )
    return f"Symbol type: {entries}. Default by extension: {chosen}; otherwise {DEFAULT}. {variants}."

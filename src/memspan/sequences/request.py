"""What a reader is asked for: the inputs, the options, and where to say how far it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

from memspan.progress import SILENT, Stage
from memspan.sequences.builder import MEMORY_LIMIT, Builder, short_names
from memspan.sequences.streams import PIECE_BYTES, Input

_NO_STAGE = SILENT.stage("reading", 0)


@final
@dataclass(frozen=True, kw_only=True)
class Request:
    """The inputs and options of one call of `read`, checked against each other."""

    names: tuple[str, ...]
    """The sources as they were given."""
    inputs: tuple[Input, ...]
    documents: str = "file"
    column: str | int | None = None
    key: str | None = None
    transform: str = "none"
    levels: int = 4
    missing: str = "error"
    token_type: str | None = None
    tokenizer: str | None = None
    """The file of `--as bpe:FILE`."""
    memory_limit: int = MEMORY_LIMIT
    piece: int = PIECE_BYTES
    """Bytes read at a time; the result does not depend on it."""
    stage: Stage = _NO_STAGE

    @property
    def name(self) -> str:
        """The sources for a message."""
        return short_names(self.names)

    @property
    def size(self) -> int:
        """Bytes of all inputs, as stored and as far as they are known."""
        return sum(item.size or 0 for item in self.inputs)

    def pieces(self, item: Input) -> Iterator[bytes]:
        """The decompressed bytes of an input, piece by piece."""
        return item.pieces(self.piece, self.stage.advance)

    def builder(self, expected: int = 0) -> Builder:
        """Where the symbols go; `expected` is about how many bytes of them there will be."""
        return Builder(self.memory_limit, expected)

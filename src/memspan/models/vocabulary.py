"""The symbols of a language model: encoding text as numbers, and decoding it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol, final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.sequences.store import Symbols

Kind = Literal["characters", "words"]
# The symbol for everything that the training text does not contain.
UNKNOWN = {"characters": "\ufffd", "words": "<unk>"}
END = {"characters": "\n", "words": "<eos>"}
"""The symbol at the end of a line."""


class Spelling(Protocol):
    """Converts the numbers of a language model to text."""

    def __len__(self) -> int:
        """Number of different symbols."""
        ...

    def decode(self, numbers: Iterable[int]) -> str:
        """The text of numbers."""
        ...

    def decode_pieces(self, pieces: Iterable[Symbols]) -> Iterator[str]:
        """The text of successive pieces; joined, it equals `decode` of all numbers."""
        ...


@final
@dataclass(frozen=True)
class Numbers:
    """Symbols without text: the numbers below `count` themselves.

    >>> Numbers(50).decode([3, 14, 15])
    '3 14 15'
    """

    count: int

    def __len__(self) -> int:
        return self.count

    def decode(self, numbers: Iterable[int]) -> str:
        """The numbers, separated by spaces."""
        return " ".join(map(str, numbers))

    def decode_pieces(self, pieces: Iterable[Symbols]) -> Iterator[str]:
        """The same in pieces, which are separated by spaces as well."""
        separator = ""
        for numbers in pieces:
            yield separator + self.decode(numbers.tolist())
            separator = " "


@final
@dataclass(frozen=True)
class Vocabulary:
    """Symbols by number, the most frequent first; equally frequent ones are sorted by code point."""

    kind: Kind
    symbols: tuple[str, ...]

    @classmethod
    def of(cls, kind: Kind, tokens: Iterable[str], *, unknown: bool, limit: int | None = None) -> Vocabulary:
        """The `limit` most frequent symbols of a text, and the symbol for unknown ones if it may be needed.

        >>> Vocabulary.of("characters", "banana", unknown=False).symbols
        ('a', 'n', 'b', '\\n')
        """
        counts = Counter(tokens)
        if not counts:
            raise InputError(f"the training text contains no {kind}; expected at least two different ones")
        ordered = sorted(counts, key=lambda token: (-counts[token], token))
        symbols = ordered if limit is None else ordered[:limit]
        extra = [END[kind]] if END[kind] not in symbols else []
        needs_unknown = (unknown or len(symbols) < len(ordered)) and UNKNOWN[kind] not in symbols
        extra += [UNKNOWN[kind]] if needs_unknown else []
        return cls(kind, (*symbols, *extra))

    def __len__(self) -> int:
        return len(self.symbols)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of every symbol."""
        return {symbol: number for number, symbol in enumerate(self.symbols)}

    @property
    def end(self) -> int | None:
        """The number of the end of a line, which also precedes the first symbol of a text; None if there is none."""
        return self.numbers.get(END[self.kind])

    def encode(self, tokens: Sequence[str]) -> NDArray[np.int64]:
        """The numbers of symbols; unknown ones become the unknown symbol, if there is one."""
        numbers, unknown = self.numbers, self.numbers.get(UNKNOWN[self.kind])
        if unknown is None:
            missing = next((token for token in tokens if token not in numbers), None)
            if missing is not None:
                raise InputError(f"{missing!r} is not among the {len(self):,} {self.kind} of the training text")
            return np.fromiter((numbers[token] for token in tokens), np.int64, len(tokens))
        return np.fromiter((numbers.get(token, unknown) for token in tokens), np.int64, len(tokens))

    def decode(self, numbers: Iterable[int]) -> str:
        """The text: characters joined, or words separated by spaces and line ends.

        >>> Vocabulary("words", ("<eos>", "the", "end")).decode([1, 2, 0, 1])
        'the end\\nthe'
        """
        symbols = [self.symbols[number] for number in numbers]
        if self.kind == "characters":
            return "".join(symbols)
        end = END["words"]
        pieces = [symbol if symbol != end else "\n" for symbol in symbols]
        return " ".join(pieces).replace(" \n ", "\n").replace(" \n", "\n").replace("\n ", "\n")

    def decode_pieces(self, pieces: Iterable[Symbols]) -> Iterator[str]:
        words, end, in_line = self.kind == "words", self.end, False
        for numbers in pieces:
            # Two words are separated by a space, also across pieces.
            yield " " if words and in_line and numbers[0] != end else ""
            yield self.decode(numbers.tolist())
            in_line = numbers[-1] != end

    def to_json(self) -> dict[str, Any]:
        """The object of `vocabulary.json`."""
        return {"kind": self.kind, "symbols": list(self.symbols)}

    @classmethod
    def from_json(cls, plain: Any, where: str) -> Vocabulary:
        """The inverse of `to_json`; raises if `plain` is not a vocabulary."""
        symbols = plain.get("symbols") if isinstance(plain, dict) else None
        if not isinstance(symbols, list) or plain.get("kind") not in UNKNOWN:
            raise InputError(f"{where} is not a vocabulary; expected an object with kind and symbols")
        if len(set(symbols)) != len(symbols) or not all(isinstance(symbol, str) for symbol in symbols):
            raise InputError(f"{where}: symbols are not distinct strings; train again, or restore the file")
        return cls(plain["kind"], tuple(symbols))

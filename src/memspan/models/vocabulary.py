"""The symbols of a language model: what each number stands for, and how they are written down again."""

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
UNKNOWN = {"characters": "\ufffd", "words": "<unk>"}
"""What stands for a symbol that the training text has not."""
END = {"characters": "\n", "words": "<eos>"}
"""What ends a line."""


class Spelling(Protocol):
    """What the numbers of a language model stand for, as text."""

    def __len__(self) -> int:
        """How many different symbols there are."""
        ...

    def decode(self, numbers: Iterable[int]) -> str:
        """The text of numbers."""
        ...

    def decoded(self, pieces: Iterable[Symbols]) -> Iterator[str]:
        """The text of numbers that come in pieces, in pieces as well: together what `decode` makes of all."""
        ...


@final
@dataclass(frozen=True)
class Numbers:
    """Symbols that stand for nothing but themselves, the numbers below `count`.

    >>> Numbers(50).decode([3, 14, 15])
    '3 14 15'
    """

    count: int

    def __len__(self) -> int:
        return self.count

    def decode(self, numbers: Iterable[int]) -> str:
        """The numbers, with blanks between them."""
        return " ".join(map(str, numbers))

    def decoded(self, pieces: Iterable[Symbols]) -> Iterator[str]:
        """The same in pieces, with blanks between these as well."""
        between = ""
        for numbers in pieces:
            yield between + self.decode(numbers.tolist())
            between = " "


@final
@dataclass(frozen=True)
class Vocabulary:
    """Symbols by number, the most frequent first; among equally frequent ones in the order of their code points."""

    kind: Kind
    symbols: tuple[str, ...]

    @classmethod
    def of(cls, kind: Kind, tokens: Iterable[str], *, unknown: bool, limit: int | None = None) -> Vocabulary:
        """The symbols of a text, the `limit` most frequent ones, and the one for unknown symbols if it may be needed.

        >>> Vocabulary.of("characters", "banana", unknown=False).symbols
        ('a', 'n', 'b', '\\n')
        """
        counts = Counter(tokens)
        if not counts:
            raise InputError(f"the training text has no {kind}; expected at least two different ones")
        ordered = sorted(counts, key=lambda token: (-counts[token], token))
        kept = ordered if limit is None else ordered[:limit]
        extra = [END[kind]] if END[kind] not in kept else []
        wants_unknown = (unknown or len(kept) < len(ordered)) and UNKNOWN[kind] not in kept
        extra += [UNKNOWN[kind]] if wants_unknown else []
        return cls(kind, (*kept, *extra))

    def __len__(self) -> int:
        return len(self.symbols)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of every symbol."""
        return {symbol: number for number, symbol in enumerate(self.symbols)}

    @property
    def end(self) -> int | None:
        """The number of what ends a line, which also comes before the first symbol of a text; None without lines."""
        return self.numbers.get(END[self.kind])

    def encode(self, tokens: Sequence[str]) -> NDArray[np.int64]:
        """Numbers of symbols; what is not known is the unknown symbol, if there is one."""
        numbers, unknown = self.numbers, self.numbers.get(UNKNOWN[self.kind])
        if unknown is None:
            missing = next((token for token in tokens if token not in numbers), None)
            if missing is not None:
                raise InputError(f"{missing!r} is none of the {len(self):,} {self.kind} of the training text")
            return np.fromiter((numbers[token] for token in tokens), np.int64, len(tokens))
        return np.fromiter((numbers.get(token, unknown) for token in tokens), np.int64, len(tokens))

    def decode(self, numbers: Iterable[int]) -> str:
        """The text: characters as they are; words with blanks between them, and lines where one ends.

        >>> Vocabulary("words", ("<eos>", "the", "end")).decode([1, 2, 0, 1])
        'the end\\nthe'
        """
        symbols = [self.symbols[number] for number in numbers]
        if self.kind == "characters":
            return "".join(symbols)
        end = END["words"]
        pieces = [symbol if symbol != end else "\n" for symbol in symbols]
        return " ".join(pieces).replace(" \n ", "\n").replace(" \n", "\n").replace("\n ", "\n")

    def decoded(self, pieces: Iterable[Symbols]) -> Iterator[str]:
        """The text in pieces; together they are what `decode` makes of all numbers."""
        words, end, in_line = self.kind == "words", self.end, False
        for numbers in pieces:
            # Between two words is a blank, also where a border of pieces is.
            yield " " if words and in_line and numbers[0] != end else ""
            yield self.decode(numbers.tolist())
            in_line = numbers[-1] != end

    def to_json(self) -> dict[str, Any]:
        """The object of `vocabulary.json`."""
        return {"kind": self.kind, "symbols": list(self.symbols)}

    @classmethod
    def from_json(cls, plain: Any, where: str) -> Vocabulary:
        """The inverse of `to_json`; what is no vocabulary is refused."""
        symbols = plain.get("symbols") if isinstance(plain, dict) else None
        if not isinstance(symbols, list) or plain.get("kind") not in UNKNOWN:
            raise InputError(f"{where} is no vocabulary; expected an object with kind and symbols")
        if len(set(symbols)) != len(symbols) or not all(isinstance(symbol, str) for symbol in symbols):
            raise InputError(f"{where}: symbols are no different words; train again, or put back the file")
        return cls(plain["kind"], tuple(symbols))

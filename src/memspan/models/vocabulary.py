"""The symbols of a language model: what each number stands for, and how they are written down again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError

Kind = Literal["characters", "words"]
UNKNOWN = {"characters": "\ufffd", "words": "<unk>"}
"""What stands for a symbol that the training text has not."""
END = {"characters": "\n", "words": "<eos>"}
"""What ends a line."""


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
        ('a', 'n', 'b')
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
    def end(self) -> int:
        """The number of what ends a line, which also comes before the first symbol of a text."""
        return self.numbers[END[self.kind]]

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

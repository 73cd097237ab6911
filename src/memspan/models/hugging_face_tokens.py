"""The tokens of a Hugging Face model: what each number stands for, and which numbers a text has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from memspan.sequences.store import Symbols

if TYPE_CHECKING:
    from tokenizers import Tokenizer


@final
@dataclass(frozen=True)
class HuggingFaceTokens:
    """A tokenizer of the library tokenizers, as `load_tokenizer` reads it from a tokenizer.json.

    Special tokens, such as the one between two documents, are no text: none is added to a text, and none is written.
    """

    tokenizer: Tokenizer

    def __len__(self) -> int:
        return self.tokenizer.get_vocab_size()

    def encode(self, text: str) -> NDArray[np.int64]:
        """The numbers of a text."""
        return np.array(self.tokenizer.encode(text, add_special_tokens=False).ids, np.int64)

    def decode(self, numbers: Iterable[int]) -> str:
        """The text of numbers; bytes that make no character are U+FFFD."""
        return self.tokenizer.decode(list(numbers))

    def decoded(self, pieces: Iterable[Symbols]) -> Iterator[str]:
        """All of the text at once: a character's bytes may lie in several tokens, and a blank hang on what precedes it."""
        yield self.decode(number for numbers in pieces for number in numbers.tolist())

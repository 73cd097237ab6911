"""Sampling from models: many streams at once, symbol by symbol, as texts that can be measured.

>>> from memspan.cells import LSTM
>>> from memspan.models.model import SequenceModel
>>> from memspan.models.vocabulary import Vocabulary
>>> from memspan.sampling import Choice, as_sequence, sample
>>> alphabet = Vocabulary("characters", ("a", "b", "\\n"))
>>> blocks = sample(SequenceModel(LSTM(4, 8), 3), streams=5, length=100, first=alphabet.end, seed=0)
>>> as_sequence(blocks, alphabet).n_documents
5
"""

import warnings
from typing import Any

from memspan.sampling.decoding import Choice as Choice
from memspan.sampling.generator import TextGenerator as TextGenerator
from memspan.sampling.streams import Block as Block
from memspan.sampling.streams import sample as sample
from memspan.sampling.texts import Written as Written
from memspan.sampling.texts import as_sequence as as_sequence
from memspan.sampling.texts import in_turn as in_turn
from memspan.sampling.texts import joined as joined
from memspan.sampling.texts import texts as texts
from memspan.sampling.texts import write as write


def __getattr__(name: str) -> Any:
    if name == "Author":
        warnings.warn(
            "memspan.sampling.Author is deprecated; use memspan.sampling.TextGenerator",
            DeprecationWarning,
            stacklevel=2,
        )
        return TextGenerator
    raise AttributeError(f"module 'memspan.sampling' has no attribute {name!r}")

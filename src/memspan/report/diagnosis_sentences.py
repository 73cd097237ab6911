"""The first line of `diagnose`."""

from __future__ import annotations

from memspan.figures.diagnosis_words import attention_words, gradient_words, jacobian_words
from memspan.results import Diagnosis


def diagnosis_sentence(result: Diagnosis) -> str:
    """How far back gradients come, and what the network looks at.

    `copy-rel-rnn-1: gradients reach all 119 steps back with 3.1 times less norm than at the end; attention on 10 states, …`
    """
    parts = (gradient_words(result.gradients), attention_words(result), jacobian_words(result))
    return f"{result.name}: {'; '.join(part for part in parts if part is not None)}"

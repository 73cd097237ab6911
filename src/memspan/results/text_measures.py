"""The measures that losses of texts are told in."""

from __future__ import annotations

import math

LARGEST = 700.0
"""Nats whose exponential is a number."""


def bits(nats: float) -> float:
    """Yes-or-no questions that a character leaves open."""
    return nats / math.log(2)


def perplexity(nats: float) -> float:
    """Among how many equally likely words one is left to guess."""
    return math.exp(min(nats, LARGEST))


def text_measures(task: str, loss: float) -> dict[str, float]:
    """`bits_per_character` or `perplexity` of a loss in nats; nothing of other tasks.

    >>> text_measures("characters", math.log(4)), text_measures("words", math.log(100)), text_measures("copy", 1.0)
    ({'bits_per_character': 2.0}, {'perplexity': 100.00000000000004}, {})
    """
    if not math.isfinite(loss):
        return {}
    if task == "characters":
        return {"bits_per_character": bits(loss)}
    return {"perplexity": perplexity(loss)} if task == "words" else {}

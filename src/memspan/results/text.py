"""Symbols and texts as people can see them: a space, a line's end and the end symbol are shown, long words are cut."""

from __future__ import annotations

import math
import unicodedata

from memspan.results.memorization import END

_SIGNS = {" ": "␣", "\n": "⏎", "\r": "↵", "\t": "⇥"}


def visible(symbol: str, longest: int = 12) -> str:
    """One symbol, with at most `longest` letters.

    >>> visible(" "), visible("<END>"), visible("antidisestablishment", 8), visible("e")
    ('␣', 'END', 'antidis…', 'e')
    """
    if symbol == END:
        return "END"
    shown = one_line(symbol).replace(" ", _SIGNS[" "]) or "(empty)"
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def one_line(text: str) -> str:
    """A text without line ends and letters that cannot be shown; its spaces stay.

    >>> one_line("two\\nlines"), one_line("a bell \\a")
    ('two⏎lines', 'a bell \N{REPLACEMENT CHARACTER}')
    """
    return "".join(letter if letter == " " else _SIGNS.get(letter) or _shown(letter) for letter in text)


def _shown(letter: str) -> str:
    """Controls, halves of letters (which no file can hold) and marks without a letter of their own are replaced."""
    return "\N{REPLACEMENT CHARACTER}" if unicodedata.category(letter) in _HIDDEN else letter


_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


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

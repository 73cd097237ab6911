"""Text in results: symbols made visible, and the measures of a language model's loss."""

from __future__ import annotations

import math
import unicodedata

from memspan.results.memorization import END

# Nats whose exponential is still finite in double precision.
LARGEST = 700.0
_SIGNS = {" ": "␣", "\n": "⏎", "\r": "↵", "\t": "⇥"}
# Unicode categories of control and format characters, surrogates, private use, unassigned, line and paragraph separators.
_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def visible(symbol: str, longest: int = 12) -> str:
    """One symbol with whitespace and the end symbol made visible, cut to `longest` characters.

    >>> visible(" "), visible("<END>"), visible("antidisestablishment", 8), visible("e")
    ('␣', 'END', 'antidis…', 'e')
    """
    if symbol == END:
        return "END"
    shown = one_line(symbol).replace(" ", _SIGNS[" "]) or "(empty)"
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def one_line(text: str) -> str:
    """The text with line breaks made visible and unprintable characters replaced; spaces stay.

    >>> one_line("two\\nlines"), one_line("a bell \\a")
    ('two⏎lines', 'a bell \N{REPLACEMENT CHARACTER}')
    """
    return "".join(letter if letter == " " else _SIGNS.get(letter) or _printable(letter) for letter in text)


def _printable(letter: str) -> str:
    return "\N{REPLACEMENT CHARACTER}" if unicodedata.category(letter) in _HIDDEN else letter


def text_measures(task: str, loss: float) -> dict[str, float]:
    """`bits_per_character` or `perplexity` of a loss in nats; empty for other tasks and non-finite losses.

    >>> text_measures("characters", math.log(4)), text_measures("words", math.log(100)), text_measures("copy", 1.0)
    ({'bits_per_character': 2.0}, {'perplexity': 100.00000000000004}, {})
    """
    if not math.isfinite(loss):
        return {}
    if task == "characters":
        return {"bits_per_character": loss / math.log(2)}
    return {"perplexity": math.exp(min(loss, LARGEST))} if task == "words" else {}

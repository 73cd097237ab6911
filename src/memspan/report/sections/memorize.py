"""The section of `memorize`: the smallest network that replays a string, and how it does it."""

from __future__ import annotations

from memspan.figures.memorization import memorization_captions
from memspan.report.illustration import illustrations
from memspan.report.memorization_rows import memorization_rows
from memspan.report.memorization_tables import learnt_tables, weight_tables
from memspan.report.section import MEANING, Listing, Section, Table
from memspan.report.sentences import sentence
from memspan.results import Memorization
from memspan.results.memorization import SHOWN_PERIODS, SHOWN_SYMBOLS
from memspan.results.text import one_line

_METHODS = {
    "rotation": (
        "Here the state is a point that walks around a circle in as many equal steps as the period has symbols, and a "
        "straight line divides the places of one symbol from those of the other."
    ),
    "spectral": (
        "Here W_h turns the state in one or more planes at once, each by a whole number of turns per period, so that after "
        "a period it is back where it was, for ever. What decides is whether the places can be told apart by the scores: "
        "the search looks for the fewest planes with which they can."
    ),
    "cyclic": (
        "Here there is one hidden unit for each place of the period: one of them is 1, and each step passes the 1 on. That "
        "works for every string and is the largest network that anyone needs."
    ),
    "feedback": (
        "Here the network also reads what it writes. Its one hidden unit is a number whose digits are the symbols to come: "
        "each step takes out the one just written and magnifies the rest. The precision of the machine limits how "
        "long the string can be."
    ),
}


def section(result: Memorization) -> Section:
    """One string and its network."""
    return Section(
        title=f"How small a network can remember {one_line(result.name)}",
        answer=sentence(result),
        explanation=_explanation(result),
        table=Table("What was found", MEANING, memorization_rows(result), stacked=True),
        figures=illustrations(result, memorization_captions(result)),
        details=(*learnt_tables(result), *weight_tables(result.network)),
        listings=(_replay(result),),
        notes=result.notes,
    )


def _explanation(result: Memorization) -> tuple[str, ...]:
    return (
        "A linear network needs no nonlinearity to know a string by heart. At every step its hidden units h become "
        "W_h h + W_x x, where x is the symbol written last; every symbol has a score, a weighted sum of the hidden units "
        "plus a constant (W_y h + b_y), and the symbol with the greatest score is written next.",
        _METHODS.get(result.method, f"The weights were found by the method {result.method}."),
    )


def _replay(result: Memorization) -> Listing:
    """What the network writes, run again from its weights."""
    length = max(result.period, min(SHOWN_PERIODS * result.period, SHOWN_SYMBOLS))
    shown = min(length, _MOST_SHOWN)
    if result.terminated or not result.repeats:
        shown = min(shown, result.period)
    symbol = "symbol" if shown == 1 else f"{shown:,} symbols"
    caption = (
        f"What it writes, the first {symbol}" if shown < result.period or result.repeats else "What it writes"
    )
    return Listing(caption, _lines(result.replay(shown)))


def _lines(text: str) -> str:
    """Line ends stay; what no page can show does not."""
    return "\n".join(one_line(line) for line in text.split("\n"))


_MOST_SHOWN = 3_000
"""Symbols of the longest listing; a longer period is in `result.json`."""

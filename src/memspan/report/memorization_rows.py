"""Every quantity of a memorized string with its value and what it means."""

from __future__ import annotations

import math

from memspan.report.numbers import UNKNOWN, duration, number, trimmed
from memspan.report.section import Row
from memspan.results import FrequencySearch, Memorization
from memspan.results.text import visible

METHODS = {
    "rotation": "one rotation of the plane, cut by a line",
    "cyclic": "one hidden unit for each place, passed around",
    "spectral": "the fewest rotations that can be told apart",
    "feedback": "a number whose digits are the string, fed by what is written",
}
_MOST_SYMBOLS = 40
_MOST_FREQUENCIES = 24


def memorization_rows(result: Memorization) -> tuple[Row, ...]:
    """Size and string, then how safely it is held, then what is known about other sizes."""
    return (*_network_rows(result), *_safety_rows(result), *_size_rows(result))


def _network_rows(result: Memorization) -> tuple[Row, ...]:
    given = f"{result.length:,} {'symbol was' if result.length == 1 else 'symbols were'} given"
    end = ", the end symbol included" if result.terminated else ""
    shown = " ".join(visible(symbol) for symbol in result.alphabet[:_MOST_SYMBOLS])
    more = " …" if len(result.alphabet) > _MOST_SYMBOLS else ""
    return (
        (
            "hidden units",
            f"{result.hidden_size:,}",
            "The numbers that the network remembers from step to step.",
        ),
        ("period", f"{result.period:,}", f"Symbols until the string begins again; {given}{end}."),
        (
            "alphabet",
            f"{len(result.alphabet):,}: {shown}{more}",
            f"The different symbols, read as {result.symbols}.",
        ),
        ("method", result.method, f"How the weights were found: {METHODS.get(result.method, 'as named')}."),
        *_frequency_rows(result),
    )


def _frequency_rows(result: Memorization) -> tuple[Row, ...]:
    if not result.frequencies:
        return ()
    shown = ", ".join(f"{frequency}/{result.period}" for frequency in result.frequencies[:_MOST_FREQUENCIES])
    more = " …" if len(result.frequencies) > _MOST_FREQUENCIES else ""
    what = "By which share of a turn each plane of the state moves on at every step"
    if any(2 * frequency == result.period for frequency in result.frequencies):
        what += "; half a turn is a sign that changes, and takes one hidden unit instead of two"
    return (("frequencies", shown + more, f"{what}."),)


def _safety_rows(result: Memorization) -> tuple[Row, ...]:
    margin = number(result.margin) if math.isfinite(result.margin) else "no other symbol"
    noise = f"{trimmed(100 * result.noise, 2)} %" if math.isfinite(result.noise) else UNKNOWN
    return (
        (
            "margin",
            margin,
            "The least lead of the right symbol's score over any other, at any place of the period.",
        ),
        (
            "checked",
            f"{result.verified_symbols:,} {'symbol' if result.verified_symbols == 1 else 'symbols'}",
            "Written by the recurrence itself, every one right.",
        ),
        (
            "drift",
            number(result.drift, 2),
            "The largest change of a state from the first period checked to the last.",
        ),
        (
            "noise it survives",
            noise,
            "Random errors of all weights, in shares of their mean size, that nine in ten networks survive for ten periods."
            + ("ten periods." if result.repeats else "the string."),
        ),
    )


def _size_rows(result: Memorization) -> tuple[Row, ...]:
    return (
        ("smaller networks", "ruled out" if result.minimal else "not ruled out", _closed(result.statement)),
        (
            "size that suffices",
            f"{result.size_bound:,}",
            "Hidden units that are enough by a theorem, before any search.",
        ),
        (
            "over fractions",
            f"{result.rational_size:,} or more",
            "If W_h may hold only fractions of whole numbers: with fewer hidden units none returns after just this period.",
        ),
        *(_search_rows(result.search) if result.search is not None else ()),
        ("time", duration(result.seconds), "How long it took."),
    )


def _search_rows(search: FrequencySearch) -> tuple[Row, ...]:
    end = (
        "It came to its end"
        if search.complete
        else f"It was ended after {duration(search.budget)}, its budget"
    )
    refuted = (
        f"; {search.refuted_size:,} or fewer hidden units were shown to be too few"
        if search.refuted_size
        else ""
    )
    sets = "set" if search.sets == 1 else "sets"
    return (
        (
            "search",
            f"{search.sets:,} {sets} in {duration(search.seconds)}",
            f"Sets of frequencies decided. {end}{refuted}.",
        ),
    )


def _closed(statement: str) -> str:
    """The statement as a sentence of its own."""
    text = statement.strip() or "Nothing is known about smaller networks"
    return text[0].upper() + text[1:] + ("" if text.endswith(".") else ".")

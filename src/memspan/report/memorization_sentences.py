"""The first line of what `memorize` answers: how few hidden units replay the string, and whether fewer could."""

from __future__ import annotations

from memspan.results import Memorization
from memspan.results.text import one_line


def memorization_sentence(result: Memorization) -> str:
    """What was found, in one line.

    `abracadabra: 2 hidden units replay it for ever (checked for 110,000 symbols), and no smaller network of this form does`
    """
    return f"{one_line(result.name)}: {units(result)} {_deed(result)}{_smaller(result)}"


def units(result: Memorization) -> str:
    """The size in words."""
    return f"{result.hidden_size:,} hidden {'unit' if result.hidden_size == 1 else 'units'}"


def _deed(result: Memorization) -> str:
    s = "s" if result.hidden_size == 1 else ""
    checked = f"checked for {result.verified_symbols:,} symbol{'' if result.verified_symbols == 1 else 's'}"
    if not result.repeats:
        return f"write{s} it once ({checked})"
    if result.terminated:
        return f"write{s} it up to its end symbol ({checked})"
    return f"replay{s} it for ever ({checked})"


def _smaller(result: Memorization) -> str:
    """What is known about smaller networks; the whole of it is in the result's `statement`."""
    if result.hidden_size == 1:
        return ", and no network is smaller"
    if result.minimal:
        return ", and no smaller network of this form does"
    if result.search is None:
        return "; smaller networks were not looked for"
    refuted = result.search.refuted_size
    known = f", but {refuted:,} and fewer are" if refuted > 0 else ""
    return f", the smallest found; smaller ones are not ruled out{known}"

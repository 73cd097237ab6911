"""How results display themselves: a short `repr` in an interpreter; a sentence, a table and a figure in a notebook."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

# Characters of a text that are shown.
_LONGEST = 60
# Items of a tuple that are shown one by one.
_WHOLE = 4


class Displayed:
    """Base of every result: its `repr` is short, whatever the size of its arrays.

    A subclass is a dataclass with `repr=False` and may override `_summary`; by default arrays are shown by their shape and
    long texts by their beginning.
    """

    def _summary(self) -> str:
        return fields_in_brief(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._summary()})"


class Notebook(Displayed):
    """Base of results that have a presenter: notebooks show its sentence, table and figure instead of the `repr`."""

    def _repr_html_(self) -> str:
        # The presentation is layers above and needs matplotlib; importing it by name on first use keeps results
        # independent of it.
        return importlib.import_module("memspan.presentation").notebook_html(self)


def fields_in_brief(result: Any) -> str:
    """Every field of a dataclass by name, in short form.

    >>> from memspan.results import Line, line
    >>> line("a", [1, 2], [3, 4])
    Line(label='a', x=float64[2], y=float64[2], low=float64[0], high=float64[0], style='line')
    """
    fields = dataclasses.fields(result)
    return ", ".join(f"{field.name}={in_brief(getattr(result, field.name))}" for field in fields)


def in_brief(value: Any) -> str:
    """One value in short form.

    >>> in_brief(np.zeros((3, 4))), in_brief(0.25), in_brief("x" * 100)[-5:], in_brief((1, 2)), in_brief({"a": 1, "b": 2})
    ('float64[3 x 4]', '0.25', "xxx…'", '(1, 2)', '2 entries')
    """
    match value:
        case np.ndarray():
            return f"{value.dtype}[{' x '.join(map(str, value.shape))}]"
        case str():
            return repr(value if len(value) <= _LONGEST else value[: _LONGEST - 1] + "…")
        case float() | np.floating():
            return f"{value:.6g}"
        case Mapping():
            return "1 entry" if len(value) == 1 else f"{len(value)} entries"
        case Sequence() if len(value) > _WHOLE or any(isinstance(item, Displayed | str) for item in value):
            kinds = {type(item).__name__ for item in value}
            return f"{len(value)} x {kinds.pop()}" if len(kinds) == 1 else f"{len(value)} items"
        case tuple():
            return f"({', '.join(map(in_brief, value))})"
    return repr(value)


def amount(number: int) -> str:
    """A number of symbols: exact below 10,000, then k, M, G.

    >>> amount(9_999), amount(346_112), amount(1_123_456), amount(25_000_000_000)
    ('9,999', '346 k', '1.1 M', '25 G')
    """
    for size, letter in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if number >= max(size, 10_000):
            scaled = number / size
            return f"{scaled:.1f} {letter}" if scaled < 9.95 else f"{scaled:,.0f} {letter}"
    return f"{number:,}"

"""A table of a source, measured again: every entry next to the printed one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from memspan.results.display import Displayed


@final
@dataclass(frozen=True)
class Measured:
    """One entry."""

    value: float
    """A mean over seeds, or the one value that there is"""
    interval: tuple[float, float] | None
    """Its 95 % interval; None where there is one value, whose scatter nobody knows"""
    each: tuple[float, ...]
    """Seed by seed, or fold by fold where there is one text; the table's caption says which"""
    paper: float | None
    """What the source prints; None where it prints nothing"""
    paper_error: float | None = None
    """What the source prints behind ±"""


@final
@dataclass(frozen=True)
class MeasuredRow:
    """Entries in the order of the columns; None where nothing was measured."""

    name: str
    entries: tuple[Measured | None, ...]


@final
@dataclass(frozen=True, repr=False)
class MeasuredTable(Displayed):
    """Rows under a heading; `caption` says what the entries are, and what their intervals are of."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[MeasuredRow, ...]
    caption: str

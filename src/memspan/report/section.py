"""A section of the page as plain data: the answer first, then what it means, then the numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, final

Row: TypeAlias = tuple[str, ...]


@final
@dataclass(frozen=True)
class Table:
    """Rows of text under a heading.

    `stacked` says that on a narrow screen each row becomes a small block; `folded` that it opens on a click.
    """

    caption: str
    header: tuple[str, ...]
    rows: tuple[Row, ...]
    stacked: bool = False
    folded: bool = False


@final
@dataclass(frozen=True)
class Illustration:
    """One figure: its name, its `<svg>` element, and a caption that says what one sees."""

    name: str
    svg: str
    caption: str


@final
@dataclass(frozen=True)
class Listing:
    """Text to be read letter by letter, in letters of one width, under a heading."""

    caption: str
    text: str


@final
@dataclass(frozen=True)
class Section:
    """One result on the page.

    `answer` is one sentence; `explanation` is paragraphs of plain words; `table` has rows of quantity, value
    and what it means; `details` are further tables, `listings` texts; `notes` are what a reader should know
    before trusting the numbers; `origin` is where the result was read from.
    """

    title: str
    answer: str
    explanation: tuple[str, ...]
    table: Table
    figures: tuple[Illustration, ...]
    details: tuple[Table, ...] = ()
    listings: tuple[Listing, ...] = ()
    notes: tuple[str, ...] = ()
    origin: str = ""


MEANING = ("quantity", "value", "what it means")
"""The header of a section's main table."""

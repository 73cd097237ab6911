"""The sections of a page as plain data, and the page they make: HTML without scripts, links or other files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from string import Template
from typing import TypeAlias, final

Row: TypeAlias = tuple[str, ...]
# The header of a section's main table.
MEANING = ("quantity", "value", "what it means")


@final
@dataclass(frozen=True)
class TextTable:
    """Rows of text under a caption; an empty header gives a list of names and values.

    `stacked`: on a narrow screen each row becomes a small block. `folded`: the table opens on a click.
    """

    caption: str
    header: tuple[str, ...]
    rows: tuple[Row, ...]
    stacked: bool = False
    folded: bool = False


@final
@dataclass(frozen=True)
class Illustration:
    """One figure: its name, its `<svg>` element and its caption."""

    name: str
    svg: str
    caption: str


@final
@dataclass(frozen=True)
class Listing:
    """Preformatted text under a caption."""

    caption: str
    text: str


@final
@dataclass(frozen=True)
class Section:
    """One result on the page.

    `answer` is one sentence; `explanation` is paragraphs; `table` has rows of quantity, value and meaning;
    `details` are further tables; `notes` are caveats; `origin` is the file the result was read from.
    """

    title: str
    answer: str
    explanation: tuple[str, ...]
    table: TextTable
    figures: tuple[Illustration, ...]
    details: tuple[TextTable, ...] = ()
    listings: tuple[Listing, ...] = ()
    notes: tuple[str, ...] = ()
    origin: str = ""


def render(sections: Sequence[Section], title: str, introduction: str = "") -> str:
    """The page: the answers of all sections first, then the sections."""
    template = resources.files("memspan.presentation.page").joinpath("template.html").read_text(encoding="utf-8")
    return Template(template).substitute(
        title=escape(title),
        introduction=f"<p>{escape(introduction)}</p>" if introduction else "",
        answers=_answers(sections) if len(sections) > 1 else "",
        sections="\n".join(_section(section, place) for place, section in enumerate(sections, start=1)),
    )


def _answers(sections: Sequence[Section]) -> str:
    items = "\n".join(
        f'<li><a href="#section-{place}">{escape(section.answer)}</a></li>'
        for place, section in enumerate(sections, start=1)
    )
    return f'<nav aria-label="answers"><h2>Summary</h2>\n<ul>\n{items}\n</ul></nav>'


def _section(section: Section, place: int) -> str:
    figures = [_figure(figure, f"s{place}f{number}") for number, figure in enumerate(section.figures, start=1)]
    parts = [
        f'<section id="section-{place}">',
        f"<h2>{escape(section.title)}</h2>",
        f'<p class="answer">{escape(section.answer)}</p>',
        *figures,
        *(f"<p>{escape(paragraph)}</p>" for paragraph in section.explanation),
        *(f"<h3>{escape(one.caption)}</h3>\n<pre>{escape(one.text)}</pre>" for one in section.listings),
        _table(section.table),
        *map(_table, section.details),
        _notes(section.notes),
        f'<p class="origin">From {escape(section.origin)}</p>' if section.origin else "",
        "</section>",
    ]
    return "\n".join(part for part in parts if part)


def _figure(figure: Illustration, prefix: str) -> str:
    svg = with_unique_ids(figure.svg, prefix)
    label = escape(figure.caption or figure.name, quote=True)
    svg = svg.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)
    return f'<figure><div class="wide">{svg}</div><figcaption>{escape(figure.caption)}</figcaption></figure>'


def with_unique_ids(svg: str, prefix: str) -> str:
    """The drawing with its ids prefixed: all drawings on one page share one namespace of ids."""
    return re.sub(r'( id="|href="#|url\(#)', rf"\g<1>{prefix}-", svg)


def _table(table: TextTable) -> str:
    if not table.rows:
        return ""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in table.header)
    body = "\n".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in table.rows)
    kind = ' class="stacked"' if table.stacked else ""
    inner = f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>"
    shown = f'<div class="wide"><table{kind}>{inner}</table></div>'
    if table.folded:
        return f"<details><summary>{escape(table.caption)}</summary>\n{shown}\n</details>"
    return f"<h3>{escape(table.caption)}</h3>\n{shown}"


def _notes(notes: tuple[str, ...]) -> str:
    if not notes:
        return ""
    items = "\n".join(f"<li>{escape(note)}</li>" for note in notes)
    return f'<div class="notes"><h3>Notes</h3>\n<ul>\n{items}\n</ul></div>'

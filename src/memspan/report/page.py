"""Sections to one HTML page that needs no network, no script and no other file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from importlib import resources
from string import Template

from memspan.report.section import Illustration, Listing, Section, Table


def render(sections: Sequence[Section], title: str, introduction: str = "") -> str:
    """The page: the answers of all sections first, then the sections."""
    template = resources.files("memspan.report").joinpath("template.html").read_text(encoding="utf-8")
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
    return f'<nav aria-label="answers"><h2>In short</h2>\n<ul>\n{items}\n</ul></nav>'


def _section(section: Section, place: int) -> str:
    figures = [
        _figure(figure, f"s{place}f{number}") for number, figure in enumerate(section.figures, start=1)
    ]
    parts = [
        f'<section id="section-{place}">',
        f"<h2>{escape(section.title)}</h2>",
        f'<p class="answer">{escape(section.answer)}</p>',
        *figures,
        *(f"<p>{escape(paragraph)}</p>" for paragraph in section.explanation),
        *(_listing(listing) for listing in section.listings),
        _table(section.table),
        *(_table(table) for table in section.details),
        _notes(section.notes),
        f'<p class="origin">From {escape(section.origin)}</p>' if section.origin else "",
        "</section>",
    ]
    return "\n".join(part for part in parts if part)


def _figure(figure: Illustration, prefix: str) -> str:
    svg = with_own_ids(figure.svg, prefix)
    label = escape(figure.caption or figure.name, quote=True)
    svg = svg.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)
    return f'<figure><div class="wide">{svg}</div><figcaption>{escape(figure.caption)}</figcaption></figure>'


def with_own_ids(svg: str, prefix: str) -> str:
    """Names inside one drawing are given a prefix, because on one page all drawings share them."""
    return re.sub(r'( id="|href="#|url\(#)', rf"\g<1>{prefix}-", svg)


def _table(table: Table) -> str:
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


def _listing(listing: Listing) -> str:
    return f"<h3>{escape(listing.caption)}</h3>\n<pre>{escape(listing.text)}</pre>"


def _notes(notes: tuple[str, ...]) -> str:
    if not notes:
        return ""
    items = "\n".join(f"<li>{escape(note)}</li>" for note in notes)
    return f'<div class="notes"><h3>Good to know</h3>\n<ul>\n{items}\n</ul></div>'

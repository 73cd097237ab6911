"""Results in a notebook: the one-sentence answer, a small table and the first figure, as one HTML element."""

from __future__ import annotations

import hashlib
from html import escape

from memspan.presentation.page.section import Row, Table, with_unique_ids
from memspan.presentation.presenter import present
from memspan.results.display import Notebook

MOST_ROWS = 8
"""Rows of the table; the report has all of them."""


def notebook_html(result: Notebook) -> str:
    """The HTML that a notebook shows for a result; all text is escaped, and there are no scripts and no links."""
    presenter = present(result)
    svg = next((figure.svg for figure in presenter.illustrations()), "")
    parts = [f"<p><strong>{escape(presenter.sentence())}</strong></p>"]
    table = presenter.table()
    if table.rows:
        parts.append(_table(table))
    if svg:
        # All cells of a notebook share one page, so ids must differ between drawings.
        prefix = f"m{hashlib.sha256(svg.encode()).hexdigest()[:12]}"
        parts.append(f'<div style="max-width:60em">{with_unique_ids(svg, prefix)}</div>')
    return f"<div>{''.join(parts)}</div>"


def _table(table: Table) -> str:
    # The third column of a stacked table explains each quantity, which would overflow a notebook cell.
    columns = 2 if len(table.header) > 2 and table.stacked else len(table.header)
    head = _cells("th", table.header[:columns])
    rows = "".join(f"<tr>{_cells('td', row[:columns])}</tr>" for row in table.rows[:MOST_ROWS])
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _cells(tag: str, row: Row) -> str:
    # Inline styles, because a notebook has no style sheet of ours.
    return "".join(f'<{tag} style="text-align:left">{escape(cell)}</{tag}>' for cell in row)

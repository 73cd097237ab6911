"""Results as HTML: a page for every `result.json` below a folder, and notebook cells."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Sequence
from html import escape
from pathlib import Path

from memspan.errors import InputError
from memspan.presentation.page.section import Row, Section, TextTable, render, with_unique_ids
from memspan.presentation.presenter import present, read_result
from memspan.results.display import Notebook
from memspan.results.files import write_text


def report(directory: str | os.PathLike[str], *, bits: bool = False) -> Path:
    """Write DIRECTORY/report.html from every `result.json` below the directory and return its path.

    `result.json` holds nats; `bits` shows mutual information in bits.
    """
    folder = Path(directory)
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder; expected a folder with results; check the path")
    # Sorting by parts puts the result of a folder before those of its subfolders.
    paths = sorted(folder.rglob("result.json"), key=lambda path: path.parent.parts)
    if not paths:
        raise InputError(f"no result.json below {folder}; expected at least one; {_remedy(folder)}")
    title = f"{folder.resolve().name}: how far back does it remember?"
    target = folder / "report.html"
    write_text(target, render([_section(path, folder, bits) for path in paths], title))
    return target


def write_report(results: Sequence[Notebook], path: str | os.PathLike[str], title: str, *, bits: bool = False) -> Path:
    """Write the page of these results, in this order."""
    write_text(path, render([present(result, bits=bits).section() for result in results], title))
    return Path(path)


def _section(path: Path, folder: Path, bits: bool) -> Section:
    section = present(read_result(path), bits=bits).section()
    return dataclasses.replace(section, origin=str(path.relative_to(folder)))


def _remedy(folder: Path) -> str:
    """How to get a result into the folder."""
    if (folder / "config.json").is_file():
        return f"this run is unfinished: continue it with memspan resume {folder}, or try it with memspan evaluate {folder}"
    return f"run a command with --out {folder}"


# Rows of the table; the report has all of them.
MOST_ROWS = 8


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


def _table(table: TextTable) -> str:
    # The third column of a stacked table explains each quantity, which would overflow a notebook cell.
    columns = 2 if len(table.header) > 2 and table.stacked else len(table.header)
    head = _cells("th", table.header[:columns])
    rows = "".join(f"<tr>{_cells('td', row[:columns])}</tr>" for row in table.rows[:MOST_ROWS])
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _cells(tag: str, row: Row) -> str:
    # Inline styles, because a notebook has no style sheet of ours.
    return "".join(f'<{tag} style="text-align:left">{escape(cell)}</{tag}>' for cell in row)

"""Results in a notebook: the one-sentence answer, a small table and the first figure, as one piece of HTML."""

from __future__ import annotations

import hashlib
from html import escape
from typing import TypeAlias, get_args

from matplotlib.figure import Figure

from memspan.errors import InputError
from memspan.figures.drawing import plot
from memspan.figures.saving import svg_text
from memspan.figures.style import new_figure, settle, style
from memspan.figures.words import law_words, reach_words, span_value, span_words
from memspan.report.numbers import count, number, with_error
from memspan.report.page import with_own_ids
from memspan.report.section import Row, Table
from memspan.report.sections import section_of
from memspan.report.sentences import Told
from memspan.report.tables import law_tables
from memspan.results import Chart, Curve, DecayFit, HeatMap, Orbit, Sample

Drawing: TypeAlias = Chart | HeatMap | Orbit
MOST_ROWS = 8
"""Rows of the table; the report has all."""


def notebook_html(result: Told | Curve | DecayFit | Sample | Drawing) -> str:
    """What a notebook shows of a result; every text in it is escaped, and it holds no script and no link."""
    match result:
        case Curve():
            answer = f"{span_words(result, 'symbols')} ({count(result.length)} symbols)"
            return _html(answer, Table("", ("quantity", "value"), _curve_rows(result)), _plotted(result))
        case DecayFit():
            answer = law_words(result.best, result[result.best]) if result.laws else "no law was fitted"
            return _html(answer, next(iter(law_tables(result, "symbols")), None))
        case Sample():
            rows = (
                ("model", result.model),
                ("length", f"{result.length:,} symbols"),
                ("begins", result.excerpt),
            )
            return _html(f"{result.streams:,} texts of {result.source}", Table("", ("", ""), rows))
        case Chart() | HeatMap() | Orbit():
            return _html(result.title, None, _plotted(result))
        case _ if isinstance(result, get_args(Told)):
            section = section_of(result)
            figure = section.figures[0].svg if section.figures else ""
            return _html(section.answer, section.table, figure)
    raise InputError(f"cannot show a {type(result).__name__} in a notebook; expected a result of memspan")


def _curve_rows(curve: Curve) -> tuple[Row, ...]:
    ends = [0, -1] if curve.lags.size > 1 else [0] if curve.lags.size else []
    information = (
        (f"information at lag {curve.lags[i]:,}", f"{with_error(curve.corrected[i], curve.error[i])} nats")
        for i in ends
    )
    return (
        ("span", span_value(curve, "symbols")),
        ("reach", reach_words(curve, "symbols")),
        *information,
        ("entropy", f"{number(curve.entropy)} nats"),
        ("symbols", f"{curve.length:,} of {curve.alphabet:,} kinds in {curve.documents:,} documents"),
        ("estimator", f"{curve.estimator}, floor from {curve.null}"),
    )


def _plotted(result: Curve | Drawing) -> str:
    with style():
        figure: Figure = new_figure(7.4, 5.0)
        plot(result, figure.subplots())
        settle(figure)
    return svg_text(figure)


def _html(answer: str, table: Table | None = None, svg: str = "") -> str:
    """Plain elements with their own styles: a notebook has no style sheet of ours."""
    parts = [f"<p><strong>{escape(answer)}</strong></p>"]
    if table is not None and table.rows:
        parts.append(_table(table))
    if svg:
        # Cells of a notebook share one page, so names inside a drawing must differ from those in other drawings.
        prefix = f"m{hashlib.sha256(svg.encode()).hexdigest()[:12]}"
        parts.append(f'<div style="max-width:60em">{with_own_ids(svg, prefix)}</div>')
    return f"<div>{''.join(parts)}</div>"


def _table(table: Table) -> str:
    columns = (
        2 if len(table.header) > 2 and table.stacked else len(table.header)
    )  # the meanings are in the report
    head = _cells("th", table.header[:columns])
    rows = "".join(f"<tr>{_cells('td', row[:columns])}</tr>" for row in table.rows[:MOST_ROWS])
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _cells(tag: str, row: Row) -> str:
    return "".join(f'<{tag} style="text-align:left">{escape(cell)}</{tag}>' for cell in row)

"""A measured table as text: each entry with its interval, and the printed number behind it."""

from __future__ import annotations

from memspan.report.numbers import number, trimmed, with_interval
from memspan.results import MeasuredTable, MeasuredValue

DIGITS = 4
"""Of a value without an interval, and of what a source prints."""


def header_of(table: MeasuredTable) -> tuple[str, ...]:
    """The names of the columns, the first of which names the rows."""
    return ("", *table.columns)


def rows_of(table: MeasuredTable) -> tuple[tuple[str, ...], ...]:
    """Every row, its name first."""
    return tuple((row.name, *map(entry, row.entries)) for row in table.rows)


def entry(measured: MeasuredValue | None) -> str:
    """A value, its interval, and what the source prints.

    >>> entry(MeasuredValue(0.41, (0.38, 0.44), (0.4, 0.42), 0.47, 0.03)), entry(MeasuredValue(9.5, None, (9.5,), None)), entry(None)
    ('0.41 [0.38, 0.44] (paper 0.47 ± 0.03)', '9.500', '')
    """
    if measured is None:
        return ""
    value = measured.value
    found = number(value, DIGITS) if measured.interval is None else with_interval(value, measured.interval)
    if measured.paper is None:
        return found
    error = "" if measured.paper_error is None else f" ± {trimmed(measured.paper_error, DIGITS)}"
    return f"{found} (paper {trimmed(measured.paper, DIGITS)}{error})"

"""What follows the sentence of `memorize`: the replay, the facts, the orbit as a picture of letters, the weights."""

from __future__ import annotations

from rich.console import Console

from memspan.cli.orbit_picture import orbit_picture
from memspan.cli.tables import print_table, show_notes
from memspan.report.memorization_rows import memorization_rows
from memspan.report.memorization_tables import learnt_tables, weight_tables
from memspan.results import Memorization
from memspan.results.text import one_line

_SHOWN = 60
"""Symbols of the replay that are printed."""


def show_memorization(console: Console, result: Memorization) -> None:
    """Facts first, then the picture, then the numbers, then what a reader should know."""
    more = "" if result.terminated or not result.repeats else " …"
    print_table(
        console,
        (),
        [
            ("replay", one_line(result.replay(_SHOWN)) + more),
            *((name, value) for name, value, _ in memorization_rows(result)),
        ],
    )
    picture = orbit_picture(result)
    if picture is not None:
        console.print(f"\n{picture}", soft_wrap=True)
    for table in (*weight_tables(result.network), *learnt_tables(result)):
        console.print(f"\n{table.caption}")
        print_table(console, table.header, table.rows)
    show_notes(console, (result.statement, *result.notes))

"""What follows the sentence of `diagnose`: the facts."""

from __future__ import annotations

from rich.console import Console

from memspan.cli.tables import print_table, show_notes
from memspan.report.diagnosis_rows import diagnosis_rows
from memspan.results import Diagnosis


def show_diagnosis(console: Console, result: Diagnosis) -> None:
    """Every quantity and its value; what they mean is in the report."""
    print_table(console, (), [(name, value) for name, value, _ in diagnosis_rows(result)])
    show_notes(console, result.notes)

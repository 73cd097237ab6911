"""The section of `reproduce`: each claim of a source next to what was measured."""

from __future__ import annotations

from memspan.report.illustration import illustrations
from memspan.report.measured_rows import header_of, rows_of
from memspan.report.numbers import duration, number, trimmed
from memspan.report.section import MEANING, Row, Section, Table
from memspan.report.sentences import sentence
from memspan.results import Claim, Reproduction

_SCALES = {
    "smoke": "A quick check that the recipe works; too small to settle anything.",
    "laptop": "Sized for two cores and at most an hour.",
    "paper": "The source's own size.",
}


def section(result: Reproduction) -> Section:
    """One recipe, its claims and its figures."""
    drawings = (*result.figures, *result.maps, *result.orbits)
    return Section(
        title=f"{result.id}: {result.title}",
        answer=sentence(result),
        explanation=(
            f"This repeats {result.source}. A claim holds if the measured value is within the tolerance of "
            "the corrected value, or of the printed one where nothing had to be corrected, or if the "
            "statement itself is true of what was measured. What does not hold is shown as well.",
        ),
        table=Table("How it was run", MEANING, _rows(result), stacked=True),
        figures=illustrations(result, {drawing.name: drawing.caption for drawing in drawings}),
        details=(
            *(
                Table(f"{table.title}. {table.caption}", header_of(table), rows_of(table))
                for table in result.tables
            ),
            Table("Claims", _HEADER, tuple(_claim(claim) for claim in result.claims)),
        ),
        notes=result.notes,
    )


_HEADER = ("", "claim", "paper", "corrected", "measured", "tolerance")


def _claim(claim: Claim) -> Row:
    mark = "✓ holds" if claim.holds else "✗ does not hold"
    numbers = (
        "" if value is None else trimmed(value, 4) for value in (claim.paper, claim.corrected, claim.measured)
    )
    return (mark, claim.claim, *numbers, "" if claim.tolerance is None else f"± {number(claim.tolerance, 2)}")


def _rows(result: Reproduction) -> tuple[Row, ...]:
    held = sum(claim.holds for claim in result.claims)
    return (
        ("claims that hold", f"{held} of {len(result.claims)}", "Each one is in the table of claims."),
        ("scale", result.scale, _SCALES.get(result.scale, "")),
        ("seed", str(result.seed), "The same seed gives the same numbers again."),
        ("time", duration(result.seconds), "How long the recipe took."),
    )

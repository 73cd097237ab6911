"""A reproduction: each claim of a source next to the measured value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import final

from memspan.presentation.numbers import duration, number, trimmed, with_interval
from memspan.presentation.page.section import Row, TextTable
from memspan.presentation.presenter import Block, Presenter, note_lines
from memspan.results import Chart, Claim, HeatMap, MeasuredTable, MeasuredValue, Orbit, Reproduction, count_claims

_SCALES = {
    "smoke": "A quick check that the recipe works; too small to settle anything.",
    "laptop": "Sized for two cores and at most an hour.",
    "paper": "The source's own size.",
}
_CLAIM_HEADER = ("", "claim", "paper", "corrected", "measured", "tolerance")
# Of a value without an interval, and of a printed value.
_DIGITS = 4


@final
class ReproductionPresenter(Presenter[Reproduction]):
    """One recipe, its claims and its figures."""

    result_type = Reproduction
    table_caption = "Run"

    def page_title(self) -> str:
        return f"{self.result.id}: does it hold?"

    def title(self) -> str:
        return f"{self.result.id}: {self.result.title}"

    def sentence(self) -> str:
        result = self.result
        claims = result.claims
        failed = [claim for claim in claims if not (claim.holds or claim.untestable)]
        start = f"{result.id} ({result.scale} scale): "
        if not claims:
            return start + "no claims to check"
        held = count_claims(claims)
        if not failed:
            return start + held
        rest = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
        return f"{start}{held}; does not hold: {failed[0].claim}{rest}"

    def explanation(self) -> tuple[str, ...]:
        return (
            f"This repeats {self.result.source}. A claim holds if the measured value is within the tolerance of the "
            "corrected value, or of the printed one where nothing had to be corrected, or if the statement itself is true "
            "of what was measured. Claims that do not hold are shown as well. Claims of our own check what the source does "
            "not state: a correction, a derivation or a limit of ours.",
        )

    def rows(self) -> tuple[Row, ...]:
        result = self.result
        return (
            ("claims", count_claims(result.claims), "Each one is in the table of claims."),
            ("scale", result.scale, _SCALES.get(result.scale, "")),
            ("seed", str(result.seed), "The same seed gives the same numbers again."),
            ("time", duration(result.seconds), "Time of the recipe."),
        )

    def details(self) -> tuple[TextTable, ...]:
        tables = (TextTable(f"{one.title}. {one.caption}", *measured_table(one)) for one in self.result.tables)
        claims = tuple(_claim(claim, "✓ holds", "✗ does not hold") for claim in self.result.claims)
        return (*tables, TextTable("Claims", _CLAIM_HEADER, claims))

    def drawings(self) -> Sequence[Chart | HeatMap | Orbit]:
        return (*self.result.figures, *self.result.maps, *self.result.orbits)

    def blocks(self) -> Iterator[Block]:
        for table in self.result.tables:
            yield table.title
            yield TextTable("", *measured_table(table))
            yield table.caption
        claims = tuple(_claim(claim, "holds", "does not hold") for claim in self.result.claims)
        yield TextTable("", _CLAIM_HEADER, claims)
        yield f"{self.result.source}; {duration(self.result.seconds)}"
        yield from note_lines(self.result.notes)


def _claim(claim: Claim, holds: str, fails: str) -> Row:
    values = (claim.paper, claim.corrected, claim.measured)
    numbers = ("" if value is None else trimmed(value, 4) for value in values)
    tolerance = "" if claim.tolerance is None else f"± {number(claim.tolerance, 2)}"
    verdict = "not testable at this scale" if claim.untestable else holds if claim.holds else fails
    return (verdict + (" (ours)" if claim.ours else ""), claim.claim, *numbers, tolerance)


def measured_table(table: MeasuredTable) -> tuple[Row, tuple[Row, ...]]:
    """The header and the rows, each with its name first."""
    rows = tuple((row.name, *map(measured_words, row.entries)) for row in table.rows)
    return ("", *table.columns), rows


def measured_words(measured: MeasuredValue | None) -> str:
    """A value, its interval, and the printed value.

    >>> one, two = MeasuredValue(0.41, (0.38, 0.44), (0.4, 0.42), 0.47, 0.03), MeasuredValue(9.5, None, (9.5,), None)
    >>> measured_words(one), measured_words(two), measured_words(None)
    ('0.41 [0.38, 0.44] (paper 0.47 ± 0.03)', '9.500', '')
    """
    if measured is None:
        return ""
    value = measured.value
    found = number(value, _DIGITS) if measured.interval is None else with_interval(value, measured.interval)
    if measured.paper is None:
        return found
    error = "" if measured.paper_error is None else f" ± {trimmed(measured.paper_error, _DIGITS)}"
    return f"{found} (paper {trimmed(measured.paper, _DIGITS)}{error})"

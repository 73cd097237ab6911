"""What the command `reproduce` returns: claims of the sources, each next to what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from memspan.errors import InputError
from memspan.results.charts import Chart, HeatMap
from memspan.results.display import Displayed, Notebook
from memspan.results.encoding import JsonResult
from memspan.results.memorization import Orbit


@final
@dataclass(frozen=True, eq=False, repr=False)
class Reproduction(JsonResult, Notebook):
    """One recipe run at one scale."""

    id: str
    title: str
    source: str
    """The document and the place in it."""
    scale: str
    seed: int
    claims: tuple[Claim, ...]
    figures: tuple[Chart, ...]
    notes: tuple[str, ...]
    seconds: float
    orbits: tuple[Orbit, ...] = ()
    maps: tuple[HeatMap, ...] = ()
    tables: tuple[MeasuredTable, ...] = ()

    def _summary(self) -> str:
        return f"{self.id}, {self.scale} scale, {count_claims(self.claims)}, {len(self.figures)} figures"

    @property
    def holds(self) -> bool:
        """Whether every claim holds that could be tested."""
        return all(claim.holds or claim.untestable for claim in self.claims)


@final
@dataclass(frozen=True)
class Claim:
    """One checkable statement.

    `paper` is the printed value and `corrected` the value of our own derivation (None if the source gives no value, or
    needs no correction); `measured` is ours. `holds` says that it is within `tolerance` of the corrected (else the
    printed) value, or that the inequality stated in `claim` is met.
    """

    claim: str
    paper: float | None
    corrected: float | None
    measured: float | None
    tolerance: float | None
    holds: bool
    ours: bool = False
    """Whether the source does not state it: it checks our own derivation, correction or limit."""
    untestable: str = ""
    """Why a run of this size cannot test it; then `holds` decides nothing."""


def count_claims(claims: Sequence[Claim]) -> str:
    """How many published claims hold and how many of our own, in words; those that cannot be tested are counted apart.

    >>> one, two = Claim("a", 1.0, None, 1.0, 0.1, True), Claim("b", None, 1.0, 2.0, 0.1, False, ours=True)
    >>> count_claims([one]), count_claims([two])
    ('1 of 1 published claims holds', '0 of 1 of our own claims holds')
    >>> count_claims([one, one, two])
    '2 of 2 published claims hold, 0 of 1 of our own'
    """
    tested = [claim for claim in claims if not claim.untestable]
    published, ours = ([claim.holds for claim in tested if claim.ours == own] for own in (False, True))
    words = []
    if published or ours:
        some, kind = (published, "published") if published else (ours, "of our own")
        words.append(f"{sum(some)} of {len(some)} {kind} claims {'holds' if len(some) == 1 else 'hold'}")
    if published and ours:
        words.append(f"{sum(ours)} of {len(ours)} of our own")
    if len(tested) < len(claims):
        words.append(f"{len(claims) - len(tested)} cannot be tested at this scale")
    return ", ".join(words) or "no claims"


def claim_near(
    claim: str, measured: float, tolerance: float, *, paper: float | None = None, corrected: float | None = None
) -> Claim:
    """A claim that holds if `measured` is within `tolerance` of `corrected`, or of `paper` if there is no correction.

    >>> claim_near("the exponent is recovered", 0.41, 0.02, paper=0.4).holds
    True
    """
    expected = corrected if corrected is not None else paper
    if expected is None:
        raise ValueError("a claim about a value needs the printed value or the corrected one")
    return Claim(claim, paper, corrected, measured, tolerance, bool(abs(measured - expected) <= tolerance))


@final
@dataclass(frozen=True, repr=False)
class MeasuredTable(Displayed):
    """A table of a source, measured again: every entry next to the printed one."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[MeasuredRow, ...]
    caption: str
    """What the entries and their intervals are."""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row.entries) != len(self.columns):
                raise InputError(f"entries and columns differ in length in {self.title}; see row {row.name!r}")


@final
@dataclass(frozen=True)
class MeasuredRow:
    """Entries in the order of the columns; None where nothing was measured."""

    name: str
    entries: tuple[MeasuredValue | None, ...]


@final
@dataclass(frozen=True)
class MeasuredValue:
    """One entry of a `MeasuredTable`."""

    value: float
    """Mean over seeds, or the only value."""
    interval: tuple[float, float] | None
    """95 % confidence interval; None for a single value, whose spread is unknown."""
    each: tuple[float, ...]
    """By seed, or by fold if there is one text; the table's caption says which."""
    paper: float | None
    """Printed value; None if the source prints nothing."""
    paper_error: float | None = None
    """Printed error."""

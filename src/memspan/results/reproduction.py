"""What the command `reproduce` finds: claims of the sources, each next to what was measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from memspan.results.charts import Chart, HeatMap
from memspan.results.display import Displayed, Notebook
from memspan.results.encoding import from_plain, to_plain
from memspan.results.memorization import Orbit


@final
@dataclass(frozen=True)
class Claim:
    """One checkable statement.

    `paper` is the value the source prints and `corrected` the value after our derivation (None where the source
    gives no number, or is right); `measured` is ours; `holds` says that it is within `tolerance` of the corrected
    (else the paper's) value, or that the inequality stated in `claim` is met.
    """

    claim: str
    paper: float | None
    corrected: float | None
    measured: float | None
    tolerance: float | None
    holds: bool


def claim_near(
    claim: str,
    measured: float,
    tolerance: float,
    *,
    paper: float | None = None,
    corrected: float | None = None,
) -> Claim:
    """A claim that holds if `measured` is within `tolerance` of `corrected`, or of `paper` where that stands.

    >>> claim_near("the exponent is recovered", 0.41, 0.02, paper=0.4).holds
    True
    """
    expected = corrected if corrected is not None else paper
    if expected is None:
        raise ValueError("a claim about a value needs the paper's value or the corrected one")
    return Claim(claim, paper, corrected, measured, tolerance, bool(abs(measured - expected) <= tolerance))


@final
@dataclass(frozen=True, eq=False, repr=False)
class Reproduction(Notebook):
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
        held = sum(claim.holds for claim in self.claims)
        return f"{self.id}, {self.scale} scale, {held} of {len(self.claims)} claims hold, {len(self.figures)} figures"

    @property
    def holds(self) -> bool:
        """Whether every claim holds."""
        return all(claim.holds for claim in self.claims)

    def to_json(self) -> dict[str, Any]:
        """The object that `reproduce --json` prints, without `schema`, `command` and `version`."""
        return to_plain(self)

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Reproduction:
        """The inverse of `to_json`, also of what earlier versions wrote."""
        return from_plain(cls, plain)


@final
@dataclass(frozen=True)
class MeasuredValue:
    """One entry."""

    value: float
    """A mean over seeds, or the one value that there is"""
    interval: tuple[float, float] | None
    """Its 95 % interval; None where there is one value, whose scatter nobody knows"""
    each: tuple[float, ...]
    """Seed by seed, or fold by fold where there is one text; the table's caption says which"""
    paper: float | None
    """What the source prints; None where it prints nothing"""
    paper_error: float | None = None
    """What the source prints behind ±"""


@final
@dataclass(frozen=True)
class MeasuredRow:
    """Entries in the order of the columns; None where nothing was measured."""

    name: str
    entries: tuple[MeasuredValue | None, ...]


@final
@dataclass(frozen=True, repr=False)
class MeasuredTable(Displayed):
    """Rows under a heading; `caption` says what the entries are, and what their intervals are of."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[MeasuredRow, ...]
    caption: str

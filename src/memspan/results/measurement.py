"""What the command `measure` finds: where the symbols came from, the curve, the laws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from memspan.results.curve import Curve
from memspan.results.decay import DecayFit, LawFit
from memspan.results.display import Notebook, in_brief
from memspan.results.encoding import from_plain, to_plain


@final
@dataclass(frozen=True, eq=False, repr=False)
class Measurement(Notebook):
    """One sequence measured. `decay` is None where too few lags stand above the floor; `notes` then says so."""

    paths: tuple[str, ...]
    symbols: str
    """How symbols were read: chars, bytes, words, …"""
    curve: Curve
    decay: DecayFit | None
    notes: tuple[str, ...]
    seconds: float
    excerpt: str = ""
    """How a text begins that a model wrote, or that stands beside one."""
    column: str | None = None
    """The column of a table that was measured."""

    def _summary(self) -> str:
        law = "no law" if self.decay is None or not self.decay.laws else self.decay.best
        return f"{in_brief(self.name)} as {self.symbols}, best law: {law},\n  {self.curve!r}"

    @property
    def name(self) -> str:
        """A short name for headings: the first path's last part, and the column of a table."""
        first = self.paths[0].rstrip("/").rsplit("/", 1)[-1] if self.paths else "sequence"
        name = first if len(self.paths) < 2 else f"{first} and {len(self.paths) - 1} more"
        return name if self.column is None else f"{name}, column {self.column}"

    def to_json(self) -> dict[str, Any]:
        """The object that `measure --json` prints, without `schema`, `command` and `version`."""
        curve, decay = self.curve, self.decay
        plain = to_plain(curve)
        plain["curve_notes"] = plain.pop("notes")
        return {
            "paths": list(self.paths),
            "symbols": self.symbols,
            "column": self.column,
            **plain,
            "unit": "nats",
            "significant": curve.significant.tolist(),
            "best_law": decay.best if decay else None,
            "laws": to_plain(decay.laws) if decay else {},
            "fitted_lags": decay.lags.tolist() if decay else [],
            "notes": list(self.notes),
            "seconds": self.seconds,
            "excerpt": self.excerpt,
        }

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Measurement:
        """The inverse of `to_json`."""
        curve = Curve.from_json({**plain, "notes": plain["curve_notes"]})
        laws = from_plain(dict[str, LawFit], plain["laws"])
        decay = from_plain(DecayFit, {"laws": plain["laws"], "lags": plain["fitted_lags"]}) if laws else None
        return cls(
            tuple(plain["paths"]),
            plain["symbols"],
            curve,
            decay,
            tuple(plain["notes"]),
            plain["seconds"],
            plain.get("excerpt", ""),
            plain.get("column"),
        )

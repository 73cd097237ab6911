"""What the command `measure` finds: where the symbols came from, the curve, the laws, periods, influential stretches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from memspan.results.curve import Curve
from memspan.results.decay import DecayFit
from memspan.results.display import Notebook, in_brief
from memspan.results.encoding import from_plain, to_plain


@final
@dataclass(frozen=True)
class Period:
    """A period of the curve or of the sequence itself.

    `length` in symbols. `contrast` is how much higher the corrected information is at multiples of the period than midway
    between their neighbors, in nats, averaged over the multiples up to the lag `last`; `interval` is its 95 % interval.
    `p_value` is corrected for the number of periods tried. `exact`: the whole sequence repeats itself without an error.
    `contrast` may be 0 where all symbols of a period are different: a symbol then fixes the phase at any lag.
    """

    length: int
    contrast: float
    interval: tuple[float, float]
    last: int
    p_value: float
    exact: bool = False


@final
@dataclass(frozen=True)
class Influence:
    """A stretch of the sequence that carries most of the information in a range of lags.

    `share` is the part of the corrected information between the lags `first_lag` and `last_lag` that is gone without the
    stretch. It is `first_block` to `last_block` (counted from 1) of the `blocks` of the jackknife, about the symbols `start`
    to `stop` - 1 (counted from 0 over all documents). `document` is the number (from 1) of the
    document that holds it, None where several do.
    """

    share: float
    first_lag: int
    last_lag: int
    first_block: int
    last_block: int
    blocks: int
    start: int
    stop: int
    document: int | None = None

    @property
    def blocks_words(self) -> str:
        """`block 12 of 64` or `blocks 6 to 7 of 16`."""
        one = self.first_block == self.last_block
        which = f"block {self.first_block}" if one else f"blocks {self.first_block} to {self.last_block}"
        return f"{which} of {self.blocks}"


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
    period: Period | None = None
    influence: Influence | None = None

    def _summary(self) -> str:
        law = self.decay.best if self.decay is not None and self.law_fits else "no law"
        return f"{in_brief(self.name)} as {self.symbols}, {law},\n  {self.curve!r}"

    @property
    def law_fits(self) -> bool:
        """Whether the best law describes the data: it fits, there is no period, and the documents are enough to tell."""
        determined = self.period is None and not self.curve.one_document
        return self.decay is not None and self.decay.fits and determined

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
            "law_fits": self.law_fits,
            "laws": to_plain(decay.laws) if decay else {},
            "fitted_lags": decay.lags.tolist() if decay else [],
            "local_exponents": to_plain(decay.local_exponents) if decay else [],
            "period": to_plain(self.period),
            "influence": to_plain(self.influence),
            "notes": list(self.notes),
            "seconds": self.seconds,
            "excerpt": self.excerpt,
        }

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Measurement:
        """The inverse of `to_json`."""
        curve = Curve.from_json({**plain, "notes": plain["curve_notes"]})
        fitted = {"laws": plain["laws"], "lags": plain["fitted_lags"]}
        fitted["local_exponents"] = plain.get("local_exponents", [])
        return cls(
            tuple(plain["paths"]),
            plain["symbols"],
            curve,
            from_plain(DecayFit, fitted) if plain["laws"] else None,
            tuple(plain["notes"]),
            plain["seconds"],
            plain.get("excerpt", ""),
            plain.get("column"),
            from_plain(Period | None, plain.get("period")),
            from_plain(Influence | None, plain.get("influence")),
        )

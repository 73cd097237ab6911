"""What `measure` and `compare` return: where the symbols came from, the curve, the laws, periods, influential stretches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from memspan.results.curve import Curve
from memspan.results.decay import DecayFit
from memspan.results.display import Displayed, Notebook, amount, in_brief
from memspan.results.encoding import check_choice, check_lengths, from_plain, to_plain


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


@final
@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Notebook):
    """Several sources measured at `size` symbols each, and a verdict for every pair of them."""

    size: int
    sources: dict[str, Measurement]
    pairs: tuple[PairVerdict, ...]
    seconds: float

    def _summary(self) -> str:
        pairs = "; ".join(f"{pair.a} and {pair.b}: {pair.verdict}" for pair in self.pairs[:3])
        more = f" and {len(self.pairs) - 3} more pairs" if len(self.pairs) > 3 else ""
        return f"{len(self.sources)} sources of {amount(self.size)} symbols; {pairs}{more}"

    def with_excerpts(self, texts: dict[str, str]) -> Comparison:
        """The same comparison with the beginnings of some sources' texts added to their measurements."""
        sources = {
            name: replace(source, excerpt=texts.get(name, source.excerpt)) for name, source in self.sources.items()
        }
        return replace(self, sources=sources)

    def to_json(self) -> dict[str, Any]:
        """The object that `compare --json` prints, without `schema`, `command` and `version`."""
        return {
            "size": self.size,
            "sources": {name: source.to_json() for name, source in self.sources.items()},
            "pairs": to_plain(self.pairs),
            "unit": "nats",
            "seconds": self.seconds,
        }

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Comparison:
        """The inverse of `to_json`."""
        return cls(
            plain["size"],
            {name: Measurement.from_json(source) for name, source in plain["sources"].items()},
            from_plain(tuple[PairVerdict, ...], plain["pairs"]),
            plain["seconds"],
        )


@final
@dataclass(frozen=True, eq=False, repr=False)
class PairVerdict(Displayed):
    """Two sources compared at equal size.

    `difference` is the corrected information of `a` minus that of `b` at each of `lags`, nats, with standard error
    `error`. `lag_p_values` are Holm-corrected for the number of lags; `p_value` is the smallest of them.
    """

    a: str
    b: str
    verdict: str
    """`alike`, `different` or `undecided`."""
    p_value: float
    different_lags: tuple[int, ...]
    lags: NDArray[np.int64]
    difference: NDArray[np.float64]
    error: NDArray[np.float64]
    lag_p_values: NDArray[np.float64]
    explanation: str

    def __post_init__(self) -> None:
        check_choice(self, "verdict", ("alike", "different", "undecided"))
        check_lengths(self, "lags", "difference", "error", "lag_p_values")

    def _summary(self) -> str:
        where = f"{len(self.different_lags):,} of {self.lags.size:,} lags differ"
        return f"{in_brief(self.a)} and {in_brief(self.b)}: {self.verdict}, p = {self.p_value:.2g}, {where}"

"""What the command `compare` returns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from memspan.results.display import Displayed, Notebook, amount, in_brief
from memspan.results.encoding import check_choice, check_lengths, from_plain, to_plain
from memspan.results.measurement import Measurement


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

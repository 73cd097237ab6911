"""What the command `bench` finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from memspan.results.display import Notebook
from memspan.results.encoding import from_plain, to_plain


@final
@dataclass(frozen=True)
class Benchmark:
    """One figure next to a peer's, both from the same run; `ratio` is above 1 where we are better."""

    name: str
    peer: str
    ours: float
    theirs: float
    unit: str
    ratio: float


@final
@dataclass(frozen=True)
class SourceCalibration:
    """How curves of one source compare with its exact information, pooled over lags and seeds.

    Shares run from 0 to 1. A number is NaN (`null` in JSON) where the source has no lag that it could be taken from.
    """

    name: str
    alphabet: int
    documents: int
    length: int
    """Symbols of one sample, in all documents."""
    seeds: int
    lags: int
    """Lags of one curve."""
    far_lags: int
    """Of these, lags at which the exact information is below 1e-8 nats."""
    false_alarms_05: float
    """Share of far lags with p < 0.05."""
    false_alarms_001: float
    """Share of far lags with p < 0.001."""
    far_bias: float
    """Mean of corrected / floor_sd over far lags; 0 if the floor is right."""
    far_deviation: float
    """Mean of |corrected| / floor_sd over far lags; 0.8 if the noise is normal with the floor's standard deviation."""
    coverage: float
    """Share of all lags at which the truth lies within 2 total errors."""
    coverage_above: float
    """The same over lags at which the exact information is above 1e-3 nats."""
    width: float
    """Error over actual deviation, 1 / rms((corrected - truth) / error): above 1, errors are this many times too wide."""
    width_above: float
    """The same over lags at which the exact information is above 1e-3 nats."""
    reach_coverage: float
    """Share of seeds whose reach contains the lag at which the exact information falls below the level."""
    span_coverage: float
    """Share of pairs of seeds in which the span's interval of one contains the span of the other."""
    undersampled: float
    """Share of lags flagged as undersampled."""
    spans: tuple[int, ...]
    """The span of each seed."""
    reaches: tuple[float, ...]
    """The reach of each seed."""
    seconds: float


@final
@dataclass(frozen=True)
class PeerEstimate:
    """What one estimator, ours or a peer's, makes of the information at one lag of one case, in nats."""

    case: str
    lag: int
    estimator: str
    estimate: float
    truth: float

    @property
    def error(self) -> float:
        """|estimate - truth|."""
        return abs(self.estimate - self.truth)


@final
@dataclass(frozen=True, repr=False)
class BenchReport(Notebook):
    """All benchmarks of one run and the machine they ran on; `calibration` and `estimates` are those of `calibration`."""

    machine: str
    benchmarks: tuple[Benchmark, ...]
    seconds: float
    calibration: tuple[SourceCalibration, ...] = ()
    estimates: tuple[PeerEstimate, ...] = ()
    notes: tuple[str, ...] = ()
    """What was left out, and why."""

    def _summary(self) -> str:
        if self.calibration:
            return f"{len(self.calibration)} sources calibrated, {self.machine}"
        better = sum(benchmark.ratio > 1 for benchmark in self.benchmarks)
        return f"{better} of {len(self.benchmarks)} benchmarks better than the peer, {self.machine}"

    def to_json(self) -> dict[str, Any]:
        """The object that `bench --json` prints, without `schema`, `command` and `version`."""
        return to_plain(self)

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> BenchReport:
        """The inverse of `to_json`."""
        return from_plain(cls, plain)

"""What the command `bench` returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from memspan.results.display import Notebook
from memspan.results.encoding import JsonResult


@final
@dataclass(frozen=True, repr=False)
class BenchReport(JsonResult, Notebook):
    """All benchmarks of one run; `calibration` and `estimates` belong to the benchmark `calibration`."""

    machine: str
    benchmarks: tuple[Benchmark, ...]
    seconds: float
    calibration: tuple[SourceCalibration, ...] = ()
    estimates: tuple[PeerEstimate, ...] = ()
    notes: tuple[str, ...] = ()
    """What was skipped, and why."""

    def _summary(self) -> str:
        if self.calibration:
            return f"{len(self.calibration)} sources calibrated, {self.machine}"
        better = sum(benchmark.ratio > 1 for benchmark in self.benchmarks)
        return f"{better} of {len(self.benchmarks)} benchmarks better than the peer, {self.machine}"


@final
@dataclass(frozen=True)
class Benchmark:
    """One measurement next to a peer's, both from the same run; `ratio` is above 1 where memspan is better."""

    name: str
    peer: str
    ours: float
    theirs: float
    unit: str
    ratio: float


@final
@dataclass(frozen=True)
class SourceCalibration:
    """Comparison of measured curves of one source with its exact information, pooled over lags and seeds.

    Shares are between 0 and 1. A field is NaN (`null` in JSON) where the source has no lag to compute it from.
    """

    name: str
    alphabet: int
    documents: int
    length: int
    """Symbols of one sample, over all documents."""
    seeds: int
    lags: int
    """Lags of one curve."""
    far_lags: int
    """Lags at which the exact information is below 1e-8 nats."""
    false_alarms_05: float
    """Share of far lags with p < 0.05."""
    false_alarms_001: float
    """Share of far lags with p < 0.001."""
    far_bias: float
    """Mean of corrected / floor_sd over far lags; 0 if the noise floor is unbiased."""
    far_deviation: float
    """Mean of |corrected| / floor_sd over far lags; 0.8 if the noise is normal with the floor's standard deviation."""
    coverage: float
    """Share of all lags at which the exact value lies within 2 standard errors."""
    coverage_above: float
    """The same over lags with more than 1e-3 nats of exact information."""
    width: float
    """Error over actual deviation, 1 / rms((corrected - truth) / error): above 1, errors are this many times too wide."""
    width_above: float
    """The same over lags with more than 1e-3 nats of exact information."""
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
    """Estimate of the information at one lag of one case by one estimator, memspan's or a peer's, in nats."""

    case: str
    lag: int
    estimator: str
    estimate: float
    truth: float

    @property
    def error(self) -> float:
        """|estimate - truth|."""
        return abs(self.estimate - self.truth)

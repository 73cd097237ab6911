"""The benchmark `calibration`: what `mutual_information` claims, next to sources whose information is known exactly.

Every source is sampled several times and measured as a user would measure it. At far lags, where the exact information is
below 1e-8 nats, a lag with p < 0.05 is a false alarm, and 5 % of lags should be one. At all lags the truth should lie
within two errors in about 95 % of cases, and the reach should contain the lag at which the exact curve crosses its level.
The span is a detection limit without a true value: its interval should contain the span of another sample of the same size.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.bench.calibration_peers import compare_peers
from memspan.data import locate
from memspan.errors import InputError
from memspan.information import log_lags, mutual_information
from memspan.progress import SILENT, Progress
from memspan.results import Benchmark, Curve, PeerEstimate, Reach, SourceCalibration
from memspan.sequences import read
from memspan.sequences.sources import (
    BigramChain,
    HiddenMarkov,
    Independent,
    MarkovChain,
    PowerLawBinary,
    QuantizedAR1,
    Source,
    StickyChain,
)

# Nats of exact information below which a lag is far: no amount of data used here could show it.
FAR = 1e-8
# Nats above which a lag counts as one with information; also the level of the reach.
ABOVE = 1e-3
# Nats by which a value may miss the truth without an error; a periodic source has neither noise nor error.
ROUNDING = 1e-12
# Nats of error below which a source counts as free of noise.
NOISELESS = 1e-9
LARGEST_LAG = 10_000
# Kinds of symbols that a bigram chain keeps where there are more; the rare ones become one.
KINDS = 1_000
# What `--source` calls the comparison with peers.
PEERS = "peers"


@final
@dataclass(frozen=True, kw_only=True)
class CalibrationPlan:
    """What to calibrate, on how many samples; the same plan gives the same numbers."""

    full: bool = False
    """All alphabets and sizes, 30 samples each, instead of a selection with 10 samples each."""
    seeds: int | None = None
    """Samples per source; None: 10, or 30 with `full`. The lags of one sample share errors, so fewer say little."""
    seed: int = 0
    """The first seed; the others follow it."""
    source: str | None = None
    """Only cases whose name contains this, in any case of letters; `peers` is the comparison with peers."""
    file: Path | None = None
    """Calibrate on the bigram chain of this file instead."""
    symbols: str | None = None
    """How to read the file; None: by its ending."""

    @property
    def samples(self) -> int:
        """Samples per source."""
        return self.seeds or (30 if self.full else 10)


QUICK = CalibrationPlan()


@final
@dataclass(frozen=True)
class Case:
    """A source and the size of its samples; the source is made when its turn comes, as its data may be absent."""

    name: str
    make: Callable[[], Source]
    length: int
    """Symbols of one document."""
    documents: int = 1


@final
@dataclass(frozen=True)
class CalibrationFindings:
    """What the benchmark finds, to become part of a `BenchReport`."""

    benchmarks: tuple[Benchmark, ...]
    calibration: tuple[SourceCalibration, ...]
    estimates: tuple[PeerEstimate, ...]
    notes: tuple[str, ...]


def calibration(progress: Progress = SILENT, plan: CalibrationPlan = QUICK) -> CalibrationFindings:
    """Calibrate every case of the plan, then compare with peers; cases whose data are absent are skipped with a note."""
    chosen, with_peers = _choose(plan)
    found: list[SourceCalibration] = []
    notes: list[str] = []
    with progress.stage("calibrating", len(chosen) + with_peers) as stage:
        for case in chosen:
            stage.tell(case.name)
            try:
                source = case.make()
            except InputError as error:
                if plan.file is not None:
                    raise
                notes.append(f"{case.name} skipped: {error}")
            else:
                found.append(calibrate(case, source, plan))
            stage.advance()
        benchmarks, estimates, skipped = compare_peers(plan.seed) if with_peers else ((), (), ())
    return CalibrationFindings(benchmarks, tuple(found), estimates, (*notes, *skipped))


def _choose(plan: CalibrationPlan) -> tuple[list[Case], bool]:
    if plan.file is not None:
        return _file_cases(plan.file, plan.symbols, full=plan.full), False
    every = cases(full=plan.full)
    if plan.source is None:
        return every, True
    word = plan.source.lower()
    chosen = [case for case in every if word in case.name.lower()]
    if not chosen and word != PEERS:
        names = ", ".join(dict.fromkeys(case.name for case in every))
        raise InputError(f"--source {plan.source}: no source has this in its name; there are {names}, {PEERS}")
    return chosen, word == PEERS


def cases(*, full: bool) -> list[Case]:
    """Every source of the table."""
    sizes = (100_000, 860_000) if full else (100_000,)
    return [case for length in sizes for case in (*_synthetic(length, full=full), *_fitted(length))] + [
        Case("power law, documents", lambda: PowerLawBinary(0.1, 0.4), 512, 2_000 if full else 500),
        Case("power law, 1 document", lambda: PowerLawBinary(0.1, 0.4), 300_000),
    ]


def _synthetic(length: int, *, full: bool) -> list[Case]:
    sticky = (
        list(itertools.product((60, 250, 1_000, 4_500, 50_000), (0.3, 0.5, 0.8)))
        if full
        else [(60, 0.3), (60, 0.5), (60, 0.8), (250, 0.5), (1_000, 0.5), (4_500, 0.5), (50_000, 0.5)]
    )
    hidden = (np.array([[0.98, 0.02], [0.05, 0.95]]), np.array([[[0.8, 0.15, 0.05]] * 2, [[0.1, 0.3, 0.6]] * 2]))
    return [
        Case("independent, 2", lambda: Independent.uniform(2), length),
        Case("independent Zipf, 27", lambda: Independent.zipf(27), length),
        Case("independent Zipf, 1,000", lambda: Independent.zipf(1_000), length),
        Case("Markov, length 50", lambda: _binary_markov(50.0), length),
        Case("Markov, length 500", lambda: _binary_markov(500.0), length),
        *(
            Case(f"sticky Zipf {stay}, {kinds:,}", lambda kinds=kinds, stay=stay: StickyChain.zipf(kinds, stay), length)
            for kinds, stay in sticky
        ),
        Case("AR(1) 0.9, 4 levels", lambda: QuantizedAR1(0.9, 4), length),
        Case("AR(1) 0.9, 8 levels", lambda: QuantizedAR1(0.9, 8), length),
        Case("hidden Markov, 3", lambda: HiddenMarkov(*hidden), length),
        Case("periodic pairs (Eq. 52)", lambda: HiddenMarkov.periodic_pairs(0.8), length),
        Case("periodic, period 2", lambda: MarkovChain.cycle(2), length),
        Case("periodic, period 7", lambda: MarkovChain.cycle(7), length),
    ]


def _binary_markov(correlation_length: float) -> MarkovChain:
    """Two symbols with correlation exp(-tau/length)."""
    return MarkovChain.lazy(2, stay=0.5 * (1.0 + math.exp(-1.0 / correlation_length)))


def _fitted(length: int) -> list[Case]:
    """Bigram chains of real data, where they are on this machine."""

    def of(data_set: str, file: str, symbols: str, key: str | None = None) -> Callable[[], Source]:
        return lambda: BigramChain.fit(read(locate(data_set, file), symbols=symbols, key=key), KINDS)

    return [
        Case("bigrams: WikiText-2", of("wikitext-2", "wiki.valid.tokens", "chars"), length),
        Case("bigrams: PTB words", of("ptb", "ptb.train.txt", "words"), length),
        Case("bigrams: Bach chords", of("music", "jsb-chorales-16th.json", "json", "train"), length),
    ]


def _file_cases(path: Path, symbols: str | None, *, full: bool) -> list[Case]:
    """The bigram chain of a file at its own length, with `full` at a quarter of it, too."""
    sequence = read(path, symbols=symbols)
    chain = BigramChain.fit(sequence, KINDS)
    lengths = (sequence.length // 4, sequence.length) if full else (sequence.length,)
    return [Case(f"bigrams: {path.name}", lambda: chain, length) for length in lengths]


def calibrate(case: Case, source: Source, plan: CalibrationPlan = QUICK) -> SourceCalibration:
    """Sample, measure and compare; the seed of a sample is also that of its null."""
    start = time.perf_counter()
    lags = log_lags(1, max(1, min(LARGEST_LAG, case.length // 10)))
    curves = [
        mutual_information(source.sample(case.documents, case.length, seed=seed), lags, level=ABOVE, seed=seed)
        for seed in range(plan.seed, plan.seed + plan.samples)
    ]
    truth = source.information(lags)
    return summarize(
        case.name, curves, truth, true_reach(source, lags, truth, ABOVE), seconds=time.perf_counter() - start
    )


def summarize(
    name: str, curves: Sequence[Curve], truth: NDArray[np.float64], reach: tuple[float, float], *, seconds: float
) -> SourceCalibration:
    """The statistics of curves of one source, all at the same lags; `reach` is the interval that holds the true one."""
    exact = np.broadcast_to(truth, (len(curves), len(truth)))
    far, above = exact < FAR, exact > ABOVE
    p_value, corrected, error, floor_sd = (
        np.stack([getattr(curve, field) for curve in curves]) for field in ("p_value", "corrected", "error", "floor_sd")
    )
    deviation = corrected - exact
    covered = np.abs(deviation) <= 2.0 * error + ROUNDING
    # Without noise the error is zero up to rounding and has no width; whether it covers the truth is still counted.
    score = np.divide(deviation, error, out=np.full_like(deviation, np.nan), where=error > NOISELESS)
    in_floor_sd = corrected / np.maximum(floor_sd, ROUNDING)
    first = curves[0]
    return SourceCalibration(
        name=name,
        alphabet=first.alphabet,
        documents=first.documents,
        length=first.length,
        seeds=len(curves),
        lags=len(truth),
        far_lags=int(np.sum(truth < FAR)),
        false_alarms_05=_mean(p_value < 0.05, far),
        false_alarms_001=_mean(p_value < 0.001, far),
        far_bias=_mean(in_floor_sd, far),
        far_deviation=_mean(np.abs(in_floor_sd), far),
        coverage=float(covered.mean()),
        coverage_above=_mean(covered, above),
        width=_inverse_rms(score),
        width_above=_inverse_rms(score[above]),
        reach_coverage=float(np.mean([_overlap(reach_interval(curve), reach) for curve in curves])),
        span_coverage=span_coverage(curves),
        undersampled=float(np.mean([curve.undersampled for curve in curves])),
        spans=tuple(curve.span.lag for curve in curves),
        reaches=tuple(curve.reach.lag for curve in curves),
        seconds=seconds,
    )


def _mean(values: NDArray[np.generic], chosen: NDArray[np.bool_]) -> float:
    """Mean over the chosen places; NaN where there are none."""
    return float(values[chosen].mean()) if chosen.any() else math.nan


def _inverse_rms(score: NDArray[np.float64]) -> float:
    """1 / sqrt(mean(score^2)): standard normal scores give 1, errors that are twice too wide give 2."""
    known = score[np.isfinite(score)]
    size = float(np.sqrt(np.mean(known**2))) if known.size else math.nan
    return 1.0 / size if size > 0.0 else math.nan


def true_reach(
    source: Source, lags: NDArray[np.int64], truth: NDArray[np.float64], level: float
) -> tuple[float, float]:
    """Two neighboring lags between which the exact information falls below the level for good.

    (0, first lag) if it is never above the level; (last lag, infinity) if it still is at the last lag.

    >>> chain, lags = MarkovChain.lazy(2, stay=0.9), log_lags(1, 100)
    >>> true_reach(chain, lags, chain.information(lags), 1e-3)
    (13.0, 14.0)
    """
    above = np.flatnonzero(truth >= level)
    if not len(above):
        return 0.0, float(lags[0])
    last = int(above[-1])
    if last == len(lags) - 1:
        return float(lags[last]), math.inf
    between = np.arange(lags[last], lags[last + 1] + 1)
    crossing = int(np.flatnonzero(source.information(between) >= level)[-1])
    return float(between[crossing]), float(between[crossing] + 1)


def reach_interval(curve: Curve) -> tuple[float, float]:
    """What a curve claims about its reach: a censored reach claims "at least", a reach of 0 "below the first lag"."""
    reach: Reach = curve.reach
    low, high = reach.interval or (reach.lag, reach.lag)
    if reach.censored:
        return low, math.inf
    return (0.0, float(curve.lags[0])) if reach.lag == 0.0 and reach.interval is None else (low, high)


def _overlap(a: tuple[float, float], b: tuple[float, float]) -> bool:
    return a[0] <= b[1] and b[0] <= a[1]


def span_coverage(curves: Sequence[Curve]) -> float:
    """Share of ordered pairs of curves in which the span's interval of the first contains the span of the second.

    Curves whose span has no interval (0, or censored) are no first of a pair; NaN where none has one.
    """
    inside = [
        one.span.interval[0] <= other.span.lag <= one.span.interval[1]
        for one, other in itertools.permutations(curves, 2)
        if one.span.interval is not None
    ]
    return float(np.mean(inside)) if inside else math.nan

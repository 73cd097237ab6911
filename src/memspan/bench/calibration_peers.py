"""Absolute errors of `automutualinformation` and `infomeasure` next to ours, on the same samples of known information."""

from __future__ import annotations

import importlib
import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from memspan.information import mutual_information
from memspan.results import Benchmark, PeerEstimate
from memspan.sequences import Sequence
from memspan.sequences.sources import Independent, Source, StickyChain

OURS = "memspan"
PAIRS = 50_000
# Near, middle and far; all are among the lags that `mutual_information` chooses by itself.
LAGS: tuple[int, ...] = (1, 5, 1_000)
ESTIMATORS = ("discrete", "miller_madow", "grassberger", "chao_shen", "chao_wang_jost", "shrink", "ansb", "nsb")
"""Approaches of infomeasure to discrete data that need no parameter. `bonachela` and `zhang` are left out: one lag of 1,000
kinds takes them 30 s and more."""

Estimates: TypeAlias = Callable[[Sequence], dict[tuple[str, int], float]]
"""A package: from a sequence of one document to its estimate in nats by each of its estimators and at each lag."""


@final
@dataclass(frozen=True)
class PeerCase:
    """A source at `PAIRS` pairs."""

    name: str
    source: Source


CASES = (
    PeerCase("sticky Zipf 0.5, 60", StickyChain.zipf(60, 0.5)),
    PeerCase("independent Zipf, 1,000", Independent.zipf(1_000)),
    PeerCase("sticky Zipf 0.5, 1,000", StickyChain.zipf(1_000, 0.5)),
)


def compare_peers(
    seed: int, cases: tuple[PeerCase, ...] = CASES, pairs: int = PAIRS
) -> tuple[tuple[Benchmark, ...], tuple[PeerEstimate, ...], tuple[str, ...]]:
    """Benchmarks (our largest error over lags next to that of each package's best estimator), all estimates, and notes."""
    packages, notes = _packages()
    benchmarks: list[Benchmark] = []
    estimates: list[PeerEstimate] = []
    failed: dict[str, dict[str, None]] = {}
    for case in cases:
        # As many pairs at the far lag, some more at the others.
        sequence = case.source.sample(1, pairs + LAGS[-1], seed=seed)
        truth = dict(zip(LAGS, case.source.information(LAGS).tolist(), strict=True))
        curve = mutual_information(sequence, seed=seed)
        corrected = dict(zip(curve.lags.tolist(), curve.corrected.tolist(), strict=True))
        ours = [PeerEstimate(case.name, lag, OURS, corrected[lag], truth[lag]) for lag in LAGS]
        estimates.extend(ours)
        for package, estimate in packages.items():
            theirs = [
                PeerEstimate(case.name, lag, f"{package} {name}".strip(), value, truth[lag])
                for (name, lag), value in estimate(sequence).items()
            ]
            finite = [one for one in theirs if np.isfinite(one.estimate)]
            for one in theirs:
                if not np.isfinite(one.estimate):
                    failed.setdefault(one.estimator, {})[case.name] = None
            estimates.extend(finite)
            benchmarks.append(_benchmark(case.name, ours, finite))
    notes.extend(f"{name} left out: not finite on {'; '.join(where)}" for name, where in failed.items())
    return tuple(benchmarks), tuple(estimates), tuple(notes)


def _benchmark(case: str, ours: list[PeerEstimate], theirs: list[PeerEstimate]) -> Benchmark:
    """The estimator whose largest error over lags is the smallest stands for its package."""
    largest: dict[str, float] = {}
    for one in theirs:
        largest[one.estimator] = max(largest.get(one.estimator, 0.0), one.error)
    best = min(largest, key=lambda name: largest[name])
    own = max(one.error for one in ours)
    return Benchmark(f"{case}: largest error", best, own, largest[best], "nats", largest[best] / own)


def _packages() -> tuple[dict[str, Estimates], list[str]]:
    """The peers that are installed, and a note for each that is not."""
    found: dict[str, Estimates] = {}
    notes: list[str] = []
    for name, estimates, extra in (
        ("automutualinformation", _automutualinformation, "bench"),
        ("infomeasure", _infomeasure, "calibration"),
    ):
        try:
            package = importlib.import_module(name)
        except ModuleNotFoundError:
            notes.append(f"{name} skipped: not installed; install memspan[{extra}]")
        else:
            found[name] = _bound(estimates, package)
    return found, notes


def _bound(estimates: Callable[[ModuleType, Sequence], dict[tuple[str, int], float]], package: ModuleType) -> Estimates:
    return lambda sequence: estimates(package, sequence)


def _automutualinformation(package: ModuleType, sequence: Sequence) -> dict[tuple[str, int], float]:
    """Its estimate minus that of shuffled symbols, as its examples plot it.

    Each value alone adds log2(N) to entropies in nats; in the difference this cancels, and what is left is in nats. The
    package seeds numpy's global generator from the system, so its shuffles differ from run to run.
    """
    symbols = sequence.store.read(0, sequence.length)
    state = np.random.get_state()  # noqa: NPY002 - the peer reseeds it
    (raw, _), (shuffled, _) = package.sequential_mutual_information(
        [symbols], distances=np.array(LAGS), n_jobs=1, use_tqdm=False
    )
    np.random.set_state(state)  # noqa: NPY002
    return {("", lag): float(value) for lag, value in zip(LAGS, raw - shuffled, strict=True)}


def _infomeasure(package: ModuleType, sequence: Sequence) -> dict[tuple[str, int], float]:
    symbols = sequence.store.read(0, sequence.length).astype(np.int64)
    with _silent("infomeasure"):
        return {(name, lag): _nats(package, name, symbols[:-lag], symbols[lag:]) for name in ESTIMATORS for lag in LAGS}


def _nats(package: ModuleType, approach: str, x: NDArray[np.int64], y: NDArray[np.int64]) -> float:
    return float(package.mutual_information(x, y, approach=approach, base="e"))


@contextmanager
def _silent(logger: str) -> Iterator[None]:
    """infomeasure warns, by logging and by numpy, of every estimate outside an estimator's own domain."""
    log = logging.getLogger(logger)
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.setLevel(level)

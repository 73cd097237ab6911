"""`compare`: do sequences remember alike? Curves at equal size, and a verdict per pair.

Every source is cut to the size of the smallest, because both floor and span depend on size. A source at least twice as
long gives several samples of that size; their spread is what chance alone makes of equal-size pieces. The difference of
the corrected curves is tested at every lag (Student's t), and the p-values are corrected for the number of lags (Holm).
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from memspan.decay.measurement import measure
from memspan.errors import InputError
from memspan.information import EntropyEstimator
from memspan.information.lags import chosen_lags
from memspan.progress import SILENT, Progress
from memspan.results import Comparison, Measurement, PairVerdict
from memspan.sequences import Sequence

Floats = NDArray[np.float64]
MOST_SAMPLES = 16
# Corrected p-value below which a lag counts as different.
CERTAIN = 0.01
# Between the two, a pair is neither different nor alike.
DOUBTFUL = 0.05
# Nats of dependence that must have been visible before two sources without any are called alike.
NOTHING = 0.01
# A pair is called alike only if a difference of this share of the information would have been seen at some lag.
RESOLVED = 0.25


def compare(
    sources: Mapping[str, Any],
    lags: int | str | Iterable[int] | None = None,
    *,
    symbols: str | None = None,
    max_lag: int | None = None,
    estimator: EntropyEstimator | str | None = None,
    null: str = "auto",
    level: float = 1e-3,
    above: float | None = None,
    seed: int = 0,
    workers: int | None = None,
    force: bool = False,
    progress: Progress = SILENT,
) -> Comparison:
    """Measure all sources at equal size and say for every pair whether they differ, where, and how surely.

    A source is a Sequence or what `Sequence.of` takes. Sources of different symbols, such as characters and words, are
    refused unless `force` is set: a lag of one is another distance in each. `max_lag` is the end of the default lags.
    """
    begun = time.perf_counter()
    if len(sources) < 2:
        raise InputError(f"got {len(sources)} source; compare needs two or more, as in compare train=a.txt valid=b.txt")
    sequences = {name: Sequence.of(source, symbols=symbols) for name, source in sources.items()}
    if not force:
        _refuse_different_symbols(sequences)
    size = min(source.length for source in sequences.values())
    samples = {name: _samples(source, size) for name, source in sequences.items()}
    longest = min(part.longest for parts in samples.values() for part in parts)
    chosen = chosen_lags(max_lag if lags is None else lags, longest)
    measured: dict[str, list[Measurement]] = {}
    for name, parts in samples.items():
        progress.say(f"measuring {name}: {len(parts)} x {size:,} symbols")
        measured[name] = [
            measure(
                part,
                chosen,
                estimator=estimator,
                null=null,
                level=level,
                above=above,
                seed=seed,
                workers=workers,
                progress=progress,
            )
            for part in parts
        ]
    sides = {name: _Side.of(parts) for name, parts in measured.items()}
    pairs = tuple(_verdict(a, b, sides[a], sides[b], chosen) for a, b in itertools.combinations(sides, 2))
    typical = {name: side.typical for name, side in sides.items()}
    return Comparison(size, typical, pairs, time.perf_counter() - begun)


def _refuse_different_symbols(sources: dict[str, Sequence]) -> None:
    """Lags are distances in symbols, so symbols must be of one kind; data whose symbols have no name fit any."""
    named = {name: source.symbols for name, source in sources.items() if source.symbols != "symbols"}
    if len(set(named.values())) > 1:
        kinds = ", ".join(f"{name} has {symbols}" for name, symbols in named.items())
        raise InputError(
            f"the sources have different symbols ({kinds}), so their lags are different distances; "
            "read all as the same with --as, or compare them anyway with --force"
        )


def _samples(source: Sequence, size: int) -> list[Sequence]:
    """Pieces of `size` symbols, evenly spread: one if the source is shorter than two of them."""
    number = min(source.length // size, MOST_SAMPLES)
    if source.length == size:
        return [source]
    starts = np.rint(np.linspace(0, source.length - size, number)).astype(np.int64) if number > 1 else [0]
    return [source.part(int(start), int(start) + size) for start in starts]


@final
@dataclass(frozen=True, eq=False)
class _Side:
    """One source: mean curve of its samples, variance of one sample, and how well that variance is known."""

    mean: Floats
    jackknife: Floats
    between: Floats
    samples: int
    blocks: int
    significant: NDArray[np.bool_]
    typical: Measurement

    @classmethod
    def of(cls, parts: list[Measurement]) -> _Side:
        curves = np.stack([part.curve.corrected for part in parts])
        # Of equal size, both sides have the bias of undersampled tables alike; their difference has none of it.
        errors = np.stack([part.curve.sampling_error for part in parts])
        mean = curves.mean(axis=0)
        between = curves.var(axis=0, ddof=1) if len(parts) > 2 else np.zeros_like(mean)
        distance = (((curves - mean) / np.maximum(errors, 1e-300)) ** 2).sum(axis=1)
        significant = np.mean([part.curve.significant for part in parts], axis=0) > 0.5
        typical = _noted(parts[int(np.argmin(distance))], len(parts))
        blocks = len(parts[0].curve.replicates)
        return cls(mean, (errors**2).mean(axis=0), between, len(parts), blocks, significant, typical)


def _noted(part: Measurement, samples: int) -> Measurement:
    if samples == 1:
        return part
    note = f"the most typical of {samples} samples of equal size; the verdict uses all of them"
    return replace(part, notes=(*part.notes, note))


def _verdict(name_a: str, name_b: str, a: _Side, b: _Side, lags: NDArray[np.int64]) -> PairVerdict:
    difference = a.mean - b.mean
    spread = np.maximum(a.between, b.between)  # what equal-size pieces of one source differ by
    error = np.sqrt(sum(np.maximum(side.jackknife, spread) / side.samples for side in (a, b)))
    freedom = max(min(a.blocks, b.blocks) - 1, 1) + sum(max(side.samples - 1, 0) for side in (a, b))
    p_values = _holm(2 * stdtr(freedom, -np.abs(difference) / np.maximum(error, 1e-300)))
    different = tuple(int(lag) for lag in lags[p_values < CERTAIN])
    verdict, explanation = _judge(a, b, difference, error, p_values, lags)
    return PairVerdict(
        name_a, name_b, verdict, float(p_values.min()), different, lags, difference, error, p_values, explanation
    )


def _judge(
    a: _Side, b: _Side, difference: Floats, error: Floats, p_values: Floats, lags: NDArray[np.int64]
) -> tuple[str, str]:
    if p_values.min() < CERTAIN:
        worst = int(np.argmin(p_values))
        return "different", (
            f"they differ at {np.sum(p_values < CERTAIN)} of {len(lags)} lags, most surely at lag {lags[worst]}: "
            f"{a.mean[worst]:.3g} against {b.mean[worst]:.3g} nats (difference {difference[worst]:+.2g} ± "
            f"{error[worst]:.1g}, p = {p_values[worst]:.1g} after correction for {len(lags)} lags)"
        )
    if p_values.min() < DOUBTFUL:
        return "undecided", (
            f"the smallest p-value, {p_values.min():.2g} after correction for {len(lags)} lags, is neither small enough to "
            "tell them apart nor large enough to call them alike; give more data"
        )
    visible = a.significant | b.significant
    if not visible.any():
        seen = 2 * float(error.min())
        if seen <= NOTHING:
            return (
                "alike",
                f"neither shows any dependence above its floor, and {seen:.1g} nats of it would have been seen",
            )
        return (
            "undecided",
            f"neither shows any dependence, but less than {seen:.1g} nats would not be seen; give more data",
        )
    level = np.maximum(a.mean, b.mean)[visible]
    resolution = float(np.min(2 * error[visible] / np.maximum(level, 1e-300)))
    if resolution <= RESOLVED:
        return "alike", (
            f"no lag differs (smallest p = {p_values.min():.2g} after correction for {len(lags)} lags), and a difference "
            f"of {100 * resolution:.0f} % of the information would have been seen where it is clearest"
        )
    return "undecided", (
        f"no lag differs, but even where it is clearest only a difference of {100 * resolution:.0f} % would have been seen; "
        "give more data"
    )


def _holm(p_values: Floats) -> Floats:
    """Holm's correction for the number of tests.

    >>> _holm(np.array([0.01, 0.5, 0.02])).tolist()
    [0.03, 0.5, 0.04]
    """
    order = np.argsort(p_values)
    stepped = np.maximum.accumulate(p_values[order] * np.arange(len(p_values), 0, -1))
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted

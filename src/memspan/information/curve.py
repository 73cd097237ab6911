"""`mutual_information`: I(tau) = H(x_t) + H(x_{t+tau}) - H(x_t, x_{t+tau}), in nats.  Shen 2019, Eq. 54.

Marginals are the lag's own. The floor is the same estimator on the null's tables. The error of the corrected value has
three parts: sampling (a block jackknife of the plug-in estimate, because Grassberger's (-1)^n makes a jackknife of
itself several times too large), the spread of the null, and the bias that undersampled tables still have, which
shows as a drift between quarters, halves and all of the data.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from memspan.engines import Threads, available_cores
from memspan.errors import InputError
from memspan.information.counting import Counter
from memspan.information.counts import PairCounts
from memspan.information.estimators import EntropyEstimator, Plugin, as_estimator, informations
from memspan.information.floor import Floor, FloorBuilder, independent_tables, p_of_scores, scores
from memspan.information.kernels import LARGEST_DENSE
from memspan.information.null import FEWEST_PARTS, mean_block
from memspan.information.span import ROUNDS, RangeProfile, chain, crossing_lags, find_reach, find_span, last_peak
from memspan.information.tables import aligned, marginals
from memspan.progress import SILENT, Progress
from memspan.results import Curve, Reach
from memspan.results.curve import SIGNIFICANCE
from memspan.sequences import Sequence

Floats = NDArray[np.float64]
LEVEL = 1e-3
# A floor of more than this share of the entropy leaves no room to correct into.
#
# corrected = (I - floor) / (1 - floor / min(H(X), H(Y))) is 0 at the floor and H where one symbol determines the other
# (the chance adjustment of Vinh, Epps and Bailey 2010); to first order in the floor it is I - floor (1 - I / min(H)).
FULL = 0.95
# Width, in log lag, over which the jackknife variance is averaged.
SMOOTHING = 0.3
# p-value from which a lag counts as one without dependence.
QUIET = 0.05
# Lags without dependence that are needed to see what the jackknife finds there.
FEWEST_QUIET = 8
# Jackknife error over the standard deviation of the null from which an estimate is far enough above the floor.
LINEAR = 5.0
# Tables with a smaller share of pairs in cells that hold a single one have no bias of undersampling; parts of the data may
# still differ because their composition does.
WELL_SAMPLED = 1e-4
# Standard deviations of the null from which a rising or a falling drift counts, and from which it is clear.
RISING, FALLING, CLEAR = 2.0, 6.0, 4.0
# The ratio of successive drifts, which is between its bounds; 0.5 is that of a bias proportional to 1/N.
FASTEST, USUAL, SLOWEST = 0.5, 0.6, 0.9
# All data, halves, quarters.
LEVELS = 3
# A null block of fewer mean ranges than this loses more than 5 % of the floor.
FEW_RANGES = 20


def mutual_information(
    data: Sequence | PairCounts | Iterable[Any],
    lags: int | str | Iterable[int] | None = None,
    *,
    symbols: str | None = None,
    estimator: EntropyEstimator | str | None = None,
    null: str = "auto",
    level: float = LEVEL,
    seed: int | np.random.Generator = 0,
    workers: int | None = None,
    keep: Path | None = None,
    progress: Progress = SILENT,
) -> Curve:
    """I(tau) of a Sequence, of pair counts, or of any list of documents, with floor, errors, span and reach.

    `data` is whatever `Sequence.of` takes; `symbols` ("chars", "words" or "items") is required for lists of short strings.
    `lags` is None (1 to 16, then 12 per decade, up to a tenth of the longest document and 10,000), an int (the same grid up
    to that lag), a list or an array, or a string such as "1:100". `estimator` is a name of `ESTIMATORS` or an estimator.
    `lags`, `symbols` and `null` belong to the counting and are not accepted with `PairCounts`. To find the reach, lags
    near the crossing of the level are counted in addition (not from `PairCounts`); they are not part of the curve.

    >>> curve = mutual_information(["ab" * 1000, "ba" * 1000], lags=[1, 2])
    >>> curve.information.round(2).tolist(), curve.estimator
    ([0.69, 0.69], 'grassberger')
    """
    if level <= 0:
        raise InputError(f"--level {level}: expected a positive number of nats")
    estimator = as_estimator(estimator)
    if isinstance(data, PairCounts):
        if lags is not None or symbols is not None:
            what = "symbols" if lags is None else "lags"
            raise InputError(f"{what} cannot be chosen: these pairs have been counted already")
        return estimate([data], estimator=estimator, level=level, seed=seed)
    data = Sequence.of(data, symbols=symbols)
    counter = Counter.of(data, lags, null=null, seed=seed, workers=workers, keep=keep, progress=progress)
    return estimate(counter.groups(), estimator=estimator, level=level, seed=seed, counter=counter)


def estimate(
    groups: Iterable[PairCounts],
    *,
    estimator: EntropyEstimator,
    level: float = LEVEL,
    seed: int | np.random.Generator = 0,
    counter: Counter | None = None,
) -> Curve:
    """The curve of counts that come in groups of lags and of draws of the null, in any order.

    With a `counter`, lags near the crossing of `level` are counted in addition.
    """
    parts: list[_LagValues] = []
    builder = FloorBuilder(estimator)
    first: PairCounts | None = None
    for counts in groups:
        if counts.blocks:
            first = first or counts
            parts.extend(_all_lag_values(counts, estimator))
        builder.add(counts)
    if first is None:
        raise InputError("there are no counts to estimate from")
    if first.null.kind == "independent":
        builder.add_tables(independent_tables(first, seed), len(first.alphabet))
    floor = builder.floor()
    # Significance, span and notes rest on the requested lags only; extra lags refine the reach.
    values = _Values.of(parts, floor)
    profile = RangeProfile(values.lags, values.agreement, len(first.alphabet), values.p_value < SIGNIFICANCE)
    near = values
    for _ in range(ROUNDS if counter is not None else 0):
        assert counter is not None
        longest = min(counter.sequence.longest, int(values.lags[-1]) + 1)
        more = crossing_lags(near.lags, near.corrected, near.stderr, near.stderr_bias, level, longest)
        if not len(more):
            break
        before = _last_surely_above(near, level)
        parts.extend(part for counts in counter.at(more).groups() for part in _all_lag_values(counts, estimator))
        near = _Values.of(sorted(parts, key=lambda part: part.lag), floor)
        if _last_surely_above(near, level) <= before:
            break
    span = find_span(values.lags, values.score, profile, values.draws)
    reach = Reach(0.0, level, None, False)
    if span.lag:
        reach = find_reach(
            near.lags, near.corrected, near.stderr, near.replicates, near.floor_sd, near.stderr_bias, level
        )
    return Curve(
        lags=values.lags,
        information=values.information,
        floor=values.floor,
        floor_sd=values.floor_sd,
        corrected=values.corrected,
        stderr=values.stderr,
        pairs=values.pairs,
        p_value=values.p_value,
        replicates=values.replicates,
        entropy=estimator.entropy(first.frequencies),
        alphabet=len(first.alphabet),
        length=first.length,
        documents=first.documents,
        estimator=estimator.name,
        null=first.null.kind,
        span=span,
        reach=reach,
        stderr_bias=values.stderr_bias,
        undersampled=values.undersampled,
        notes=(*first.notes, *_notes(first, values, profile)),
    )


def _last_surely_above(values: _Values, level: float) -> int:
    last = chain(values.lags, values.corrected >= level)
    peak = last_peak(values.lags, values.corrected, values.stderr, values.stderr_bias, level, last)
    return int(values.lags[max(peak, 0)])


def _notes(counts: PairCounts, values: _Values, profile: RangeProfile) -> tuple[str, ...]:
    notes = []
    block = mean_block(counts.length)
    ends = not values.p_value[-1] < SIGNIFICANCE  # else it is periodic, or longer than was measured
    if counts.null.kind == "blocks" and ends and block < FEW_RANGES * profile.mean_range:
        notes.append(
            f"structure lasts {profile.mean_range:.0f} symbols on average, and the blocks of the null are only {block:.0f} "
            "symbols long: the floor is too low, so long lags may look significant; give more data"
        )
    if values.undersampled.any():
        lags = values.lags[values.undersampled]
        notes.append(
            f"undersampled at {len(lags)} of {len(values.lags)} lags (the first is {lags[0]}): the estimate still changes "
            "with the amount of data, so it is a lower bound there; use a smaller alphabet (fewer levels, characters "
            "instead of words) or more data"
        )
    return tuple(notes)


@final
@dataclass(frozen=True, eq=False)
class _LagValues:
    """What is computed from the tables of one lag."""

    lag: int
    alphabet: int
    plugin: float
    agreement: float
    """sum_x P(x_t = x, x_{t+s} = x) / p(x) - 1."""
    information: tuple[NDArray[np.float64], ...]
    """The estimator's value of all data, of its halves, and of its quarters."""
    entropy: tuple[NDArray[np.float64], ...]
    """min(H(X), H(Y)) of the same."""
    pairs: tuple[NDArray[np.int64], ...]
    replicates: NDArray[np.float64]
    seen_once: float
    """Share of the pairs in cells that hold a single pair: by Good and Turing, the probability of a pair never seen."""


def _all_lag_values(counts: PairCounts, estimator: EntropyEstimator) -> list[_LagValues]:
    # Large tables are worth several threads; small ones are not worth the hand-over.
    engine = Threads(available_cores() if len(counts.alphabet) > LARGEST_DENSE else 1)
    return engine.map(functools.partial(_lag_values, counts, estimator), range(len(counts.lags)))


def _lag_values(counts: PairCounts, estimator: EntropyEstimator, index: int) -> _LagValues:
    size = len(counts.alphabet)
    keys, cells = aligned([block[index] for block in counts.blocks], size)
    if len(cells) >= FEWEST_PARTS:
        # Blocks are dealt out in turn, so that every part is composed like the whole.
        quarters = np.stack([cells[part::4].sum(axis=0, dtype=np.int64) for part in range(4)])
        # Halves are sums of quarters: nothing is counted twice.
        halves = quarters[:2] + quarters[2:]
        levels = [halves.sum(axis=0)[None], halves, quarters]
    else:
        levels = [cells.sum(axis=0, dtype=np.int64)[None]]
    total = levels[0][0]
    # Significance and jackknife use the plug-in estimator, which is smooth in the counts; Grassberger's alternates with
    # their parity, so that leaving a block out would add noise of its own.
    (plugin,), _ = informations(keys, total[None], size, Plugin())
    replicates = _without_each(keys, cells, total, size) - plugin
    # The bias grows with the pairs left out, and the last blocks lose pairs to the lag; take that part out.
    share = cells.sum(axis=1) / max(float(cells.sum(axis=1).mean()), 1.0)
    replicates -= np.nanmean(replicates) * (share - 1)
    values = [informations(keys, level, size, estimator) for level in levels]
    return _LagValues(
        int(counts.lags[index]),
        size,
        plugin,
        _agreement(keys, total, size),
        tuple(information for information, _ in values),
        tuple(entropy for _, entropy in values),
        tuple(level.sum(axis=1) for level in levels),
        replicates,
        np.count_nonzero(total == 1) / max(int(total.sum()), 1),
    )


def _agreement(keys: NDArray[np.int64] | None, total: NDArray[np.int64], alphabet: int) -> float:
    first, second = (margin[0].astype(np.float64) for margin in marginals(keys, total[None], alphabet))
    if keys is None:
        symbols, equal = np.arange(alphabet), total[:: alphabet + 1]
    else:
        diagonal = keys % (alphabet + 1) == 0
        symbols, equal = keys[diagonal] // (alphabet + 1), total[diagonal]
    pairs = float(total.sum())
    # The geometric mean of both marginals: they differ by the ends of documents.
    either = np.sqrt(first[symbols] * second[symbols])
    seen = either > 0
    # P(x, x) / p(x) - p(x), summed: rare symbols count no more than their share.
    return float(np.sum(equal[seen] / either[seen] - either[seen] / max(pairs, 1.0)))


def _without_each(
    keys: NDArray[np.int64] | None, cells: NDArray[np.integer[Any]], total: NDArray[np.int64], alphabet: int
) -> NDArray[np.float64]:
    """Plug-in information with each block left out in turn.

    Only cells that a block touches change, so sum n ln n is corrected there instead of being computed again.
    """
    # A block that holds all pairs leaves nothing to estimate from: NaN, which the jackknife ignores.
    x, y = marginals(keys, cells, alphabet)
    left = total.sum() - cells.sum(axis=1, dtype=np.int64)
    block, cell = np.nonzero(cells)
    before = total[cell]
    change = _n_log_n(before - cells[block, cell]) - _n_log_n(before)
    joint = np.sum(_n_log_n(total)) + np.bincount(block, change, minlength=len(cells))
    first, second = (np.sum(_n_log_n(margin.sum(axis=0) - margin), axis=1) for margin in (x, y))
    return np.where(left > 0, np.log(np.maximum(left, 1)) + (joint - first - second) / np.maximum(left, 1), np.nan)


def _n_log_n(n: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
    counts = n.astype(np.float64)
    return counts * np.log(np.maximum(counts, 1.0))


@final
@dataclass(frozen=True, eq=False)
class _Values:
    """The estimates of all lags with their errors; arrays run along the lags."""

    lags: NDArray[np.int64]
    information: Floats
    floor: Floats
    floor_sd: Floats
    corrected: Floats
    stderr: Floats
    stderr_bias: Floats
    undersampled: NDArray[np.bool_]
    pairs: NDArray[np.int64]
    score: Floats
    p_value: Floats
    agreement: Floats
    replicates: Floats
    draws: int

    @classmethod
    def of(cls, parts: list[_LagValues], floor: Floor) -> _Values:
        lags = np.array([part.lag for part in parts], dtype=np.int64)
        levels = min(floor.levels, len(parts[0].information))
        corrected = [_corrected(parts, floor, level) for level in range(levels)]
        pairs = np.array([part.pairs[0][0] for part in parts], dtype=np.int64)
        null = floor.at(pairs)
        room = _room(null.mean, np.array([part.entropy[0][0] for part in parts]))
        sd = null.sd / room
        replicates = np.stack([part.replicates for part in parts], axis=1) / room
        information = np.array([part.information[0][0] for part in parts])
        score = scores(np.array([part.plugin for part in parts]), null.plugin_mean, null.plugin_sd)
        p_value = p_of_scores(score, null.draws)
        sampling = np.sqrt(
            _sampling_variance(
                lags,
                replicates,
                sd,
                quiet=p_value > QUIET,
                above=information - null.mean,
                # Grassberger's (-1)^n is off by up to one count per symbol.
                correction=np.hypot(information - corrected[0][0], parts[0].alphabet / pairs),
            )
        )
        bias = np.zeros(len(lags))
        if levels == LEVELS:
            values, noise = zip(*corrected, strict=True)
            sparse = np.array([part.seen_once > WELL_SAMPLED for part in parts])
            bias = _remaining_bias(list(values), np.sqrt(sd**2 + sum(error**2 for error in noise)), sparse)
        return cls(
            lags=lags,
            information=information,
            floor=null.mean,
            floor_sd=null.sd,
            corrected=corrected[0][0],
            stderr=np.hypot(sampling, bias),
            stderr_bias=bias,
            undersampled=bias > sampling,
            pairs=pairs,
            score=score,
            p_value=p_value,
            agreement=np.array([part.agreement for part in parts]),
            replicates=np.nan_to_num(replicates),
            draws=null.draws,
        )


def _corrected(parts: list[_LagValues], floor: Floor, level: int) -> tuple[Floats, Floats]:
    """The mean corrected value of the parts of a level (all data, halves or quarters), and the error of its floor."""
    information, entropy, pairs = (
        np.stack([getattr(part, name)[level] for part in parts]) for name in ("information", "entropy", "pairs")
    )
    values, errors = [], []
    for part in range(information.shape[1]):
        null = floor.at(pairs[:, part], level)
        values.append((information[:, part] - null.mean) / _room(null.mean, entropy[:, part]))
        errors.append(null.sd / np.sqrt(null.draws))
    return np.mean(values, axis=0), np.mean(errors, axis=0)


def _room(floor: Floats, entropy: Floats) -> Floats:
    return 1 - np.clip(floor / np.maximum(entropy, 1e-300), 0, FULL)


def _sampling_variance(
    lags: NDArray[np.int64],
    replicates: Floats,
    sd: Floats,
    *,
    quiet: NDArray[np.bool_],
    above: Floats,
    correction: Floats,
) -> Floats:
    """Variance of the corrected values from the jackknife and from the spread of the null, `sd`.

    Information is a sum of squares. If z has mean m and variance 1, z^2 has variance 2 + 4 m^2, of which the jackknife
    finds 4 z^2, with mean 4 + 4 m^2; without dependence that is twice the variance of the null. So the variance is that of
    the null plus what the jackknife has beyond twice of it. In undersampled tables the jackknife finds more than twice;
    the lags without dependence (`quiet`) show how much. Where z^2 is small by chance its jackknife variance is small, too,
    so near the floor the excess is averaged over neighboring lags.

    A periodic sequence is locked to its phase, and varies less than permuted blocks, whose phases agree by chance. Far
    above the floor (`above` is information - floor) its variance is that of the jackknife. The null then overstates the
    bias, by the more of the `correction` the less the data vary, which counts as an error.
    """
    blocks = np.sum(np.isfinite(replicates), axis=0)
    spread = np.nansum((replicates - np.nanmean(replicates, axis=0)) ** 2, axis=0)
    jackknife = (blocks - 1) / np.maximum(blocks, 1) * spread
    ratio = jackknife / np.maximum(sd**2, 1e-300)
    usual = max(2.0, float(np.median(ratio[quiet]))) if quiet.sum() >= FEWEST_QUIET else 2.0
    position = np.log(lags.astype(np.float64))
    weights = np.exp(-(((position[:, None] - position) / SMOOTHING) ** 2) / 2)
    own = jackknife - usual * sd**2
    excess = np.where(ratio > LINEAR**2, own, weights @ own / weights.sum(axis=1))
    locked = (jackknife < sd**2) & (above > LINEAR * sd)
    return np.where(locked, jackknife + (correction * (1 - ratio)) ** 2, sd**2 + np.maximum(excess, 0.0))


def _remaining_bias(corrected: list[Floats], noise: Floats, sparse: NDArray[np.bool_]) -> Floats:
    """Bias that is left at the full amount of data, from the corrected values of all, halves and quarters.

    If the bias falls by a factor r with every doubling of the data, the drifts c(N) - c(N/2), c(N/2) - c(N/4), … are
    a geometric series, and what is left is drift x r / (1 - r) (Aitken). Lags without a clear drift take r from the others;
    the weaker the dependence the larger is the share that is missed, so the share found at stronger lags is the least.
    Without dependence the drift has the variance of the null and a long tail of negative values (hence the thresholds).
    """
    drift, before = corrected[0] - corrected[1], corrected[1] - corrected[2]
    counts = sparse & ((drift > RISING * noise) | (drift < -FALLING * noise))
    ratio = np.full(len(drift), USUAL)
    clear = sparse & (drift > CLEAR * noise)
    if clear.any():
        ratio[clear] = np.clip(drift[clear] / np.maximum(before[clear], 1e-300), FASTEST, SLOWEST)
        ratio[~clear] = ratio[clear].mean()
    bias = np.where(counts, np.abs(drift) * ratio / (1 - ratio), 0.0)
    share = np.where(clear, bias / np.maximum(corrected[0], 1e-300), 0.0)
    order = np.argsort(-corrected[0])
    missed = np.empty_like(share)
    missed[order] = np.minimum(np.maximum.accumulate(share[order]), 1.0)
    return np.where(sparse, np.maximum(bias, missed * np.maximum(corrected[0], 0.0)), 0.0)

"""`mutual_information`: I(tau) = H(x_t) + H(x_{t+tau}) - H(x_t, x_{t+tau}), in nats.  Shen 2019, Eq. 54.

Marginals are the lag's own. The floor is the same estimator on the null's tables; errors are a block jackknife of the
plug-in estimate (Grassberger's (-1)^n makes a jackknife of itself several times too large).
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
from memspan.information.estimators import EntropyEstimator, Grassberger, Plugin, informations
from memspan.information.floor import Floor, null_floor
from memspan.information.kernels import LARGEST_DENSE
from memspan.information.significance import p_values
from memspan.information.span import find_reach, find_span
from memspan.information.tables import aligned, marginals
from memspan.progress import SILENT, Progress
from memspan.results import Curve
from memspan.results.curve import SIGNIFICANCE
from memspan.sequences import Sequence

LEVEL = 1e-3
FULL = 0.95
"""A floor of more than this share of the entropy leaves no room to correct into.

corrected = (I - floor) / (1 - floor / min(H(X), H(Y))) is nothing at the floor and all of H where one symbol fixes the other
(the chance adjustment of Vinh, Epps and Bailey 2010); to first order in the floor it is I - floor (1 - I / min(H)).
"""
DIP = 3.0
"""Information is a sum of squares: where it dips by chance its jackknife error dips, too. So many quanta make up for it."""


def mutual_information(
    data: Sequence | PairCounts | Iterable[Any],
    lags: Iterable[int] | None = None,
    *,
    estimator: EntropyEstimator | None = None,
    null: str = "auto",
    level: float = LEVEL,
    seed: int | np.random.Generator = 0,
    workers: int | None = None,
    keep: Path | None = None,
    progress: Progress = SILENT,
) -> Curve:
    """I(tau) of a Sequence, of pair counts, or of any list of documents, with floor, errors, span and reach.

    `lags` and `null` belong to the counting and are not taken with `PairCounts`.

    >>> curve = mutual_information(["ab" * 1000, "ba" * 1000], lags=[1, 2])
    >>> curve.information.round(2).tolist(), curve.estimator
    ([0.69, 0.69], 'grassberger')
    """
    if level <= 0:
        raise InputError(f"--level {level}: expected a positive number of nats")
    estimator = estimator or Grassberger()
    if isinstance(data, PairCounts):
        if lags is not None:
            raise InputError("lags cannot be chosen any more: these pairs have been counted already")
        return estimate([data], estimator=estimator, level=level, seed=seed)
    counter = Counter.of(data, lags, null=null, seed=seed, workers=workers, keep=keep, progress=progress)
    return estimate(counter.groups(), estimator=estimator, level=level, seed=seed)


def estimate(
    groups: Iterable[PairCounts],
    *,
    estimator: EntropyEstimator,
    level: float = LEVEL,
    seed: int | np.random.Generator = 0,
) -> Curve:
    """The curve of counts that come in groups of lags; the null's tables come with the first group."""
    parts: list[_LagValues] = []
    floor: Floor | None = None
    first: PairCounts | None = None
    for counts in groups:
        if floor is None:
            first, floor = counts, null_floor(counts, estimator, seed)
        # Large tables are worth several threads; small ones are not worth the hand-over.
        engine = Threads(available_cores() if len(counts.alphabet) > LARGEST_DENSE else 1)
        parts.extend(engine.map(functools.partial(_lag_values, counts, estimator), range(len(counts.lags))))
    if first is None or floor is None:
        raise InputError("there are no counts to estimate from")
    return _curve(first, parts, floor, estimator, level)


@final
@dataclass(frozen=True, eq=False)
class _LagValues:
    lag: int
    information: float
    plugin: float
    pairs: int
    least_entropy: float
    replicates: NDArray[np.float64]


def _lag_values(counts: PairCounts, estimator: EntropyEstimator, index: int) -> _LagValues:
    size = len(counts.alphabet)
    keys, cells = aligned([block[index] for block in counts.blocks], size)
    total = cells.sum(axis=0, dtype=np.int64)
    (information,), (least,) = informations(keys, total[None], size, estimator)
    (plugin,), _ = informations(keys, total[None], size, Plugin())
    replicates = _without_each(keys, cells, total, size) - plugin
    return _LagValues(int(counts.lags[index]), information, plugin, int(total.sum()), least, replicates)


def _without_each(
    keys: NDArray[np.int64] | None, cells: NDArray[np.integer[Any]], total: NDArray[np.int64], alphabet: int
) -> NDArray[np.float64]:
    """Plug-in information with each block left out in turn.

    Only cells that a block touches change, so sum n ln n is corrected there instead of being computed again.
    """
    x, y = marginals(keys, cells, alphabet)
    left = total.sum() - cells.sum(axis=1, dtype=np.int64)
    block, cell = np.nonzero(cells)
    before = total[cell]
    change = _n_log_n(before - cells[block, cell]) - _n_log_n(before)
    joint = np.sum(_n_log_n(total)) + np.bincount(block, change, minlength=len(cells))
    first, second = (np.sum(_n_log_n(margin.sum(axis=0) - margin), axis=1) for margin in (x, y))
    return np.where(
        left > 0, np.log(np.maximum(left, 1)) + (joint - first - second) / np.maximum(left, 1), np.nan
    )


def _n_log_n(n: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
    counts = n.astype(np.float64)
    return counts * np.log(np.maximum(counts, 1.0))


def _curve(
    first: PairCounts, parts: list[_LagValues], floor: Floor, estimator: EntropyEstimator, level: float
) -> Curve:
    lags = np.array([part.lag for part in parts], dtype=np.int64)
    information = np.array([part.information for part in parts])
    pairs = np.array([part.pairs for part in parts], dtype=np.int64)
    least = np.array([part.least_entropy for part in parts])
    plugin = np.array([part.plugin for part in parts])
    mean, sd, draws = floor.at(lags, pairs)
    room = 1 - np.clip(mean / np.maximum(least, 1e-300), 0, FULL)
    corrected = (information - mean) / room
    replicates = np.stack([part.replicates for part in parts], axis=1) / room
    blocks = np.sum(np.isfinite(replicates), axis=0)
    spread = np.nansum((replicates - np.nanmean(replicates, axis=0)) ** 2, axis=0)
    stderr = np.sqrt((blocks - 1) / np.maximum(blocks, 1) * spread) + DIP * _quantum(draws)
    p_value = p_values(plugin, draws)
    reach = find_reach(
        lags, corrected, np.hypot(stderr, sd), p_value < SIGNIFICANCE, np.nan_to_num(replicates), sd, level
    )
    return Curve(
        lags=lags,
        information=information,
        floor=mean,
        floor_sd=sd,
        corrected=corrected,
        stderr=np.hypot(stderr, sd),
        pairs=pairs,
        p_value=p_value,
        replicates=np.nan_to_num(replicates),
        entropy=estimator.entropy(first.frequencies),
        alphabet=len(first.alphabet),
        length=first.length,
        documents=first.documents,
        estimator=estimator.name,
        null=first.null.kind,
        span=find_span(lags, p_value),
        reach=reach,
        stderr_bias=np.zeros(len(lags)),
        undersampled=np.zeros(len(lags), bool),
        notes=(*first.notes, *_far_note(floor)),
    )


def _quantum(draws: NDArray[np.float64]) -> NDArray[np.float64]:
    """Information of one squared standard normal at each lag: variance over twice the mean of the null's draws."""
    mean, sd = draws.mean(axis=1), draws.std(axis=1, ddof=1)
    return sd * np.minimum(
        sd / np.maximum(2 * mean, 1e-300), np.sqrt(0.5)
    )  # of one degree of freedom or more


def _far_note(floor: Floor) -> tuple[str, ...]:
    if not floor.far:
        return ()
    return (
        f"the sequence depends on itself even at the farthest distances ({floor.far:.2g} nats), as periodic sequences and "
        "sequences whose composition drifts do; this was not taken for floor",
    )

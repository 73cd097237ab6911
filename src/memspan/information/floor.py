"""The null's values of the estimator, brought to each lag's own number of pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.information.bias import expected_information
from memspan.information.counts import PairCounts
from memspan.information.estimators import EntropyEstimator, Plugin, informations
from memspan.information.kernels import LARGEST_DENSE, Table
from memspan.information.null import DRAWS, FEWEST_DRAWS
from memspan.information.tables import marginals

Floats = NDArray[np.float64]
CERTAIN = 4.0
"""Standard errors above zero from which dependence at far distances is believed."""


@final
@dataclass(frozen=True, eq=False)
class NullClass:
    """The draws of one class of lags: the estimator's and the plug-in values, their pairs and margins."""

    values: Floats
    plugin: Floats
    pairs: float
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    far: float
    """Dependence at far distances that was found and taken out, nats."""

    def at(self, pairs: Floats, estimator: EntropyEstimator) -> tuple[Floats, Floats, Floats]:
        """Mean and standard deviation of the estimator, and plug-in draws (lags x draws), for so many pairs.

        The bias of independent symbols is known for every number of pairs; structure multiplies that of the plug-in,
        and what another estimator takes off it is the same with structure and without.
        """
        every = np.append(pairs, self.pairs)
        plain = expected_information(self.first, self.second, every, Plugin())
        taken_off = plain - expected_information(self.first, self.second, every, estimator)
        ratio = plain[:-1] / plain[-1]
        change = self.plugin.mean() * (ratio - 1) - (taken_off[:-1] - taken_off[-1])
        return self.values.mean() + change, self.values.std(ddof=1) * ratio, self.plugin * ratio[:, None]


@final
@dataclass(frozen=True, eq=False)
class Floor:
    """What the estimator shows at each lag where there is no dependence."""

    lags: NDArray[np.int64]
    classes: tuple[NullClass, ...]
    estimator: EntropyEstimator

    @property
    def far(self) -> float:
        """Dependence at far distances that is not part of the floor, nats."""
        return max(one.far for one in self.classes)

    def at(self, lags: NDArray[np.int64], pairs: NDArray[np.int64]) -> tuple[Floats, Floats, Floats]:
        """Mean and standard deviation at each lag, and the plug-in values of the draws (lags x draws), nats."""
        number = np.maximum(np.searchsorted(self.lags, lags, side="right") - 1, 0)
        mean, sd = np.empty(len(lags)), np.empty(len(lags))
        draws = np.empty((len(lags), len(self.classes[0].plugin)))
        for k in np.unique(number):
            here = number == k
            counted = np.maximum(pairs[here], 1).astype(np.float64)
            mean[here], sd[here], draws[here] = self.classes[k].at(counted, self.estimator)
        return mean, sd, draws


def null_floor(counts: PairCounts, estimator: EntropyEstimator, seed: int | np.random.Generator) -> Floor:
    """The estimator on every table of the null; for independent symbols the tables are drawn here."""
    if counts.null.kind == "independent":
        tables = {(int(counts.lags[0]), draw): table for draw, table in enumerate(_independent(counts, seed))}
    else:
        tables = counts.null.draws
    if not tables:
        raise InputError(
            "these counts have no null tables; give all counts files of the folder, null-* included"
        )
    lags = sorted({lag for lag, _ in tables})
    drawn = {lag: [tables[place] for place in sorted(tables) if place[0] == lag] for lag in lags}
    classes = tuple(_null_class(drawn[lag], len(counts.alphabet), estimator) for lag in lags)
    return Floor(np.array(lags, dtype=np.int64), classes, estimator)


def _null_class(tables: list[Table], alphabet: int, estimator: EntropyEstimator) -> NullClass:
    values, plugin = (_informations(tables, alphabet, e) for e in (estimator, Plugin()))
    pairs = np.array([table.cells.sum(dtype=np.int64) for table in tables], dtype=np.float64)
    margins = [_margins(table, alphabet) for table in tables[:DRAWS]]
    first, second = (np.sum(side, axis=0) for side in zip(*margins, strict=True))
    whole, part = pairs[:DRAWS].mean(), pairs[DRAWS:]
    far = np.zeros(len(pairs[:DRAWS]))
    if len(part):
        bias = expected_information(first, second, np.array([whole, part.mean()]), Plugin())
        far = _far_dependence(plugin[:DRAWS], plugin[DRAWS:], bias)
    return NullClass(
        values[:DRAWS] - far, plugin[:DRAWS] - far, float(whole), first, second, float(far.mean())
    )


def _far_dependence(whole: Floats, part: Floats, bias: Floats) -> Floats:
    """The part of I that does not shrink with the number of pairs, from each shift of all and of a part of them.

    I(N) = far + factor x bias(N), with the bias of independent symbols for all and for a part of the pairs; short-range
    structure multiplies both alike. Zero unless the mean is four standard errors above zero; never so much that less than
    the bias of independent symbols would be left.
    """
    ratio = bias[0] / bias[1]
    far = (whole - ratio * part) / (1 - ratio)
    error = far.std(ddof=1) / np.sqrt(len(far))
    believed = far.mean() > CERTAIN * error
    kept = far - max(0.0, float(bias[0] - (whole - far).mean()))
    return kept if believed and kept.mean() > 0 else np.zeros_like(far)


def _margins(table: Table, alphabet: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    keys = None if table.keys is None else np.asarray(table.keys, np.int64)
    first, second = marginals(keys, table.cells[None], alphabet)
    return first[0], second[0]


def _informations(tables: list[Table], alphabet: int, estimator: EntropyEstimator) -> Floats:
    """I of every table."""
    if all(table.keys is None for table in tables):
        return informations(None, np.stack([table.cells for table in tables]), alphabet, estimator)[0]
    sparse = ((np.asarray(table.keys, np.int64), table.cells[None]) for table in tables)
    return np.concatenate([informations(keys, cells, alphabet, estimator)[0] for keys, cells in sparse])


def _independent(counts: PairCounts, seed: int | np.random.Generator) -> list[Table]:
    """Tables of symbols drawn one by one with the frequencies of the data, as many pairs as the first lag has."""
    generator = np.random.default_rng(seed)
    pairs, size = int(counts.pairs[0]), len(counts.alphabet)
    if size <= LARGEST_DENSE:
        share = counts.frequencies / counts.frequencies.sum()
        joint = np.outer(share, share).ravel()
        return [Table(None, generator.multinomial(pairs, joint)) for _ in range(DRAWS)]
    symbols = np.repeat(np.arange(size), counts.frequencies)
    tables = []
    for _ in range(FEWEST_DRAWS):
        keys = generator.permutation(symbols)[:pairs] * size + generator.permutation(symbols)[:pairs]
        tables.append(Table(*np.unique(keys, return_counts=True)))
    return tables

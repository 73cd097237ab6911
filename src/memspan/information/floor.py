"""The null's values of the estimator, scaled to each lag's own number of pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.information.bias import independent_bias
from memspan.information.counts import PairCounts
from memspan.information.estimators import EntropyEstimator, Plugin, informations
from memspan.information.kernels import LARGEST_DENSE, Table
from memspan.information.null import DRAWS, PARTS

CERTAIN = 4.0
"""Standard errors above zero from which dependence at far distances is believed."""


@final
@dataclass(frozen=True, eq=False)
class Floor:
    """Values of the null's draws per class of lags: `values` and `plugin` are classes x draws, with their pairs."""

    lags: NDArray[np.int64]
    values: NDArray[np.float64]
    plugin: NDArray[np.float64]
    pairs: NDArray[np.float64]
    far: float
    """Dependence at far distances that was found and is not part of the floor, nats."""

    def at(
        self, lags: NDArray[np.int64], pairs: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and standard deviation of the estimator under the null at each lag, nats."""
        scaled = self._scaled(self.values, lags, pairs)
        return scaled.mean(axis=1), scaled.std(axis=1, ddof=1)

    def plugin_draws(self, lags: NDArray[np.int64], pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """The plug-in information of the draws at each lag, shape lags x draws."""
        return self._scaled(self.plugin, lags, pairs)

    def _scaled(
        self, values: NDArray[np.float64], lags: NDArray[np.int64], pairs: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Bias is one over the number of pairs: a lag with fewer pairs than the null has a higher floor."""
        number = np.maximum(np.searchsorted(self.lags, lags, side="right") - 1, 0)
        return values[number] * self.pairs[number] / np.maximum(pairs, 1)[:, None]


def null_values(counts: PairCounts, estimator: EntropyEstimator, seed: int | np.random.Generator) -> Floor:
    """The estimator on every table of the null; for independent symbols the tables are drawn here."""
    if counts.null.kind == "independent":
        classes = counts.lags[:1]
        tables = {(int(classes[0]), draw): table for draw, table in enumerate(_independent(counts, seed))}
    else:
        classes, tables = counts.null.lags, counts.null.draws
    if not tables:
        raise InputError(
            "these counts have no null tables; give all counts files of the folder, null-*.counts included"
        )
    rows = [_class_values(tables, int(lag), len(counts.alphabet), estimator) for lag in classes]
    values, plugin, pairs, far = zip(*rows, strict=True)
    return Floor(np.asarray(classes), np.stack(values), np.stack(plugin), np.stack(pairs), max(far))


def _class_values(
    tables: dict[tuple[int, int], Table], lag: int, alphabet: int, estimator: EntropyEstimator
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], float]:
    """Values, plug-in values and pairs of one class's draws, without dependence at far distances; and that dependence."""
    mine = [tables[place] for place in sorted(tables) if place[0] == lag]
    value, plugin = (_informations(mine, alphabet, e) for e in (estimator, Plugin()))
    pairs = np.array([table.cells.sum(dtype=np.int64) for table in mine], dtype=np.float64)
    far = np.zeros(min(len(mine), DRAWS))
    if len(mine) > DRAWS:
        bias = [
            np.mean([independent_bias(table, alphabet) for table in part[:PARTS]])
            for part in (mine, mine[DRAWS:])
        ]
        far = _far_dependence(plugin[:DRAWS], plugin[DRAWS:], float(bias[0] / bias[1]))
    return value[:DRAWS] - far, plugin[:DRAWS] - far, pairs[:DRAWS], float(far.mean())


def _far_dependence(
    whole: NDArray[np.float64], part: NDArray[np.float64], ratio: float
) -> NDArray[np.float64]:
    """The part of I that does not shrink with the number of pairs, from each shift of all and of a part of them.

    I(N) = far + factor x bias(N): the bias of independent symbols is known, `ratio` is that of all over that of a part, and
    short-range structure multiplies both alike. Zero unless the mean is four standard errors above zero.
    """
    far = (whole - ratio * part) / (1 - ratio)
    error = far.std(ddof=1) / np.sqrt(len(far))
    return far if far.mean() > CERTAIN * error else np.zeros_like(far)


def _informations(tables: list[Table], alphabet: int, estimator: EntropyEstimator) -> NDArray[np.float64]:
    """I of every table."""
    if all(table.keys is None for table in tables):
        return informations(None, np.stack([table.cells for table in tables]), alphabet, estimator)[0]
    sparse = ((np.asarray(table.keys, np.int64), table.cells[None]) for table in tables)
    return np.concatenate([informations(keys, cells, alphabet, estimator)[0] for keys, cells in sparse])


def _independent(counts: PairCounts, seed: int | np.random.Generator) -> list[Table]:
    """Tables of symbols drawn one by one with the frequencies of the data, as many pairs as the first lag has."""
    generator = np.random.default_rng(seed)
    pairs, size = int(counts.pairs[0]), len(counts.alphabet)
    share = counts.frequencies / counts.frequencies.sum()
    if size <= LARGEST_DENSE:
        joint = np.outer(share, share).ravel()
        return [Table(None, generator.multinomial(pairs, joint)) for _ in range(DRAWS)]
    symbols = np.repeat(np.arange(size), counts.frequencies)
    tables = []
    for _ in range(DRAWS):
        keys = generator.permutation(symbols)[:pairs] * size + generator.permutation(symbols)[:pairs]
        tables.append(Table(*np.unique(keys, return_counts=True)))
    return tables

"""The floor: what the estimator shows at each lag if there is no dependence, and how probable the null makes a value.

The draws of the null have the pairs of the first lag of their class. They are scaled to the pairs of the other lags by
the bias of independent symbols, which is known for every number of pairs, however sparsely the cells are filled: a cell
with Poisson mean m has E[n g(n)] = m ln m + excess(m). For the plug-in estimate (g = ln) the excess is 1/2 in well-filled
cells, which gives the known bias (V - 1)^2 / 2N, and goes to zero in empty ones.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc, gammaln, ndtri, stdtr

from memspan.errors import InputError
from memspan.information.counts import PairCounts
from memspan.information.estimators import EntropyEstimator, Plugin
from memspan.information.kernels import LARGEST_DENSE, PairTable
from memspan.information.null import FEWEST_DRAWS, LEVEL, SPARSE_DRAWS
from memspan.information.tables import marginals

Floats = NDArray[np.float64]
LEAST, MOST, POINTS = 1e-6, 200.0, 600
# Numbers of pairs at which the expectation is computed; in between it is interpolated.
GRID = 6
ROUNDING = 1e-12
# Cells of tables that are evaluated at once.
TOGETHER = 1 << 20


@final
@dataclass(frozen=True, eq=False)
class NullValues:
    """The null at some lags: mean and standard deviation of the estimator and of the plug-in estimate, in nats."""

    mean: Floats
    sd: Floats
    plugin_mean: Floats
    plugin_sd: Floats
    draws: int
    """How many draws these rest on."""

    def mixed(self, other: NullValues, share: Floats) -> NullValues:
        """A share of the other values, the rest of these."""

        def between(a: Floats, b: Floats) -> Floats:
            return (1 - share) * a + share * b

        return NullValues(
            between(self.mean, other.mean),
            between(self.sd, other.sd),
            between(self.plugin_mean, other.plugin_mean),
            between(self.plugin_sd, other.plugin_sd),
            min(self.draws, other.draws),
        )


@final
@dataclass(frozen=True, eq=False)
class NullClass:
    """The draws of one class of lags: the estimator's and the plug-in values, their mean number of pairs, and margins."""

    values: Floats
    plugin: Floats
    pairs: float
    first: NDArray[np.int64]
    second: NDArray[np.int64]

    def at(self, pairs: Floats, estimator: EntropyEstimator) -> NullValues:
        """The null for these numbers of pairs.

        Structure multiplies the bias of the plug-in; what another estimator subtracts is the same with and without it.
        """
        every = np.append(pairs, self.pairs)
        plain = expected_information(self.first, self.second, every, Plugin())
        subtracted = plain - expected_information(self.first, self.second, every, estimator)
        ratio = plain[:-1] / plain[-1] if plain[-1] > 0 else np.ones(len(pairs))  # 0: a margin of one symbol
        change = self.plugin.mean() * (ratio - 1) - (subtracted[:-1] - subtracted[-1])
        # All draws have the margins of one lag; other lags have others, which an estimator may react to.
        kinds = int(np.count_nonzero(self.first) + np.count_nonzero(self.second))
        variance = (self.values.std(ddof=1) * ratio) ** 2 + estimator.noise(kinds) / pairs**2
        return NullValues(
            self.values.mean() + change,
            np.sqrt(variance),
            self.plugin.mean() * ratio,
            self.plugin.std(ddof=1) * ratio,
            len(self.plugin),
        )


@final
@dataclass(frozen=True, eq=False)
class Floor:
    """What the estimator shows without dependence, for all data and for halves and quarters of it."""

    lags: NDArray[np.int64]
    """The first lag of every class."""
    classes: tuple[tuple[NullClass, ...], ...]
    """For each level (all data, halves, quarters), the draws of every class of lags."""
    estimator: EntropyEstimator

    @property
    def levels(self) -> int:
        """1 if there are draws of all data only, 3 with halves and quarters."""
        return len(self.classes)

    def at(self, pairs: NDArray[np.int64], level: int = 0) -> NullValues:
        """The null at lags with these numbers of pairs, interpolated between the classes of lags.

        A class alone is scaled to other numbers of pairs by the bias of independent symbols. Where cells are sparsely
        filled that is not exact, so two classes are mixed in proportion to the logarithm of their numbers of pairs.
        """
        counted = np.maximum(pairs, 1).astype(np.float64)
        classes = sorted(self.classes[level], key=lambda one: -one.pairs)
        values = classes[0].at(counted, self.estimator)
        for more, fewer in itertools.pairwise(classes):
            span = np.log(more.pairs / fewer.pairs)
            share = np.clip(np.log(more.pairs / counted) / span, 0.0, 1.0) if span > 0 else np.zeros(len(counted))
            values = values.mixed(fewer.at(counted, self.estimator), share)
        return values


@final
@dataclass(eq=False)
class FloorBuilder:
    """Takes the tables of the null as they are counted and keeps only what the floor needs of them."""

    estimator: EntropyEstimator
    values: dict[tuple[int, int], tuple[float, float, int]] = field(default_factory=dict)
    """Estimator, plug-in and number of pairs by class and draw."""
    margins: dict[tuple[int, int], tuple[NDArray[np.int64], NDArray[np.int64]]] = field(default_factory=dict)
    """How often symbols are first and second, by class and level."""

    def add(self, counts: PairCounts) -> None:
        """Evaluate the draws of these counts."""
        self.add_tables(counts.null.draws, len(counts.alphabet))

    def add_tables(self, tables: dict[tuple[int, int], PairTable], alphabet: int) -> None:
        """Evaluate tables by class and draw; small ones together, which is faster."""
        places = list(tables)
        dense = all(table.keys is None for table in tables.values())
        size = max(1, TOGETHER // alphabet**2) if dense else 1
        for some in (places[k : k + size] for k in range(0, len(places), size)):
            keys = None if dense else np.asarray(tables[some[0]].keys, np.int64)
            cells = np.stack([tables[place].cells for place in some])
            margins = marginals(keys, cells, alphabet)
            sides = [[estimator.entropies(side) for side in margins] for estimator in (self.estimator, Plugin())]
            value, plugin = (
                x + y - estimator.entropies(cells)
                for (x, y), estimator in zip(sides, (self.estimator, Plugin()), strict=True)
            )
            pairs = cells.sum(axis=1, dtype=np.int64)
            for row, (lag, draw) in enumerate(some):
                self.values[lag, draw] = float(value[row]), float(plugin[row]), int(pairs[row])
                place = lag, draw // LEVEL
                first, second = margins[0][row], margins[1][row]
                if place in self.margins:
                    before = self.margins[place]
                    first, second = first + before[0], second + before[1]
                self.margins[place] = first, second

    def floor(self) -> Floor:
        """The floor of all draws so far."""
        if not self.values:
            raise InputError("these counts have no null tables; give all counts files of the folder, null-* included")
        lags = sorted({lag for lag, _ in self.values})
        levels = sorted({draw // LEVEL for _, draw in self.values})
        classes = tuple(tuple(self._null_class(lag, level) for lag in lags) for level in levels)
        return Floor(np.array(lags, dtype=np.int64), classes, self.estimator)

    def _null_class(self, lag: int, level: int) -> NullClass:
        drawn = sorted(draw for first, draw in self.values if first == lag and draw // LEVEL == level)
        values, plugin, pairs = np.array([self.values[lag, draw] for draw in drawn]).T
        return NullClass(values, plugin, float(pairs.mean()), *self.margins[lag, level])


def independent_tables(counts: PairCounts, seed: int | np.random.Generator) -> dict[tuple[int, int], PairTable]:
    """Tables of symbols drawn one by one with the frequencies of the data, with the pairs of the first lag."""
    generator = np.random.default_rng(seed)
    pairs, size, lag = int(counts.pairs[0]), len(counts.alphabet), int(counts.lags[0])
    if size <= LARGEST_DENSE:
        share = counts.frequencies / counts.frequencies.sum()
        joint = np.outer(share, share).ravel()
        return {(lag, draw): PairTable(None, generator.multinomial(pairs, joint)) for draw in range(FEWEST_DRAWS)}
    symbols = np.repeat(np.arange(size), counts.frequencies)
    tables: dict[tuple[int, int], PairTable] = {}
    for draw in range(SPARSE_DRAWS):
        keys = generator.permutation(symbols)[:pairs] * size + generator.permutation(symbols)[:pairs]
        tables[lag, draw] = PairTable(*np.unique(keys, return_counts=True))
    return tables


def scores(information: Floats, mean: Floats, sd: Floats) -> Floats:
    """Normal scores of the plug-in information under a gamma distribution with mean and sd of the null's draws.

    Plug-in information of independent symbols is a scaled chi-square, and a weighted sum of them for structured
    sequences, which a gamma distribution fits.
    """
    spread = sd > ROUNDING * np.maximum(np.abs(mean), 1e-300)
    shape = np.where(spread & (mean > 0), (mean / np.where(spread, sd, 1.0)) ** 2, 1.0)
    scale = np.maximum(mean, 1e-300) / shape
    upper = gammaincc(shape, np.maximum(information, 0.0) / scale)
    # Far out in the tail gammaincc is zero; the distance in standard deviations keeps the order of values there.
    far = (information - mean) / np.where(spread, sd, 1.0)
    by_spread = np.where(upper > 1e-300, -ndtri(np.maximum(upper, 1e-300)), np.maximum(far, 37.0))
    certain = np.where(information > mean + ROUNDING, np.inf, -np.inf)
    return np.where(spread, by_spread, certain)


def p_of_scores(score: Floats, draws: int) -> Floats:
    """One-sided p-values of normal scores; mean and variance rest on a number of draws, so by Student's distribution."""
    widened = np.clip(score, -1e6, 1e6) / np.sqrt(1 + 1 / draws)
    return np.where(np.isinf(score), score < 0, stdtr(draws - 1, -widened))


def expected_information(
    first: NDArray[np.int64], second: NDArray[np.int64], pairs: Floats, estimator: EntropyEstimator
) -> Floats:
    """E[I] in nats of pairs of independent symbols with these frequencies, for every number of pairs."""
    low, high = float(pairs.min()), float(pairs.max())
    if high <= low * (1 + 1e-9):
        return np.full(pairs.shape, _expected(first, second, low, estimator))
    grid = np.geomspace(low, high, GRID)
    total = [number * _expected(first, second, number, estimator) for number in grid]  # nearly constant, so smooth
    return np.interp(np.log(pairs), np.log(grid), total) / pairs


def _expected(first: NDArray[np.int64], second: NDArray[np.int64], pairs: float, estimator: EntropyEstimator) -> float:
    """Cells minus margins plus the total: inclusion and exclusion of the degrees of freedom."""
    (x, x_kinds), (y, y_kinds) = (_shares(margin) for margin in (first, second))
    cells = x_kinds @ excess(pairs * np.outer(x, y), estimator) @ y_kinds
    margins = sum(kinds @ excess(pairs * share, estimator) for share, kinds in ((x, x_kinds), (y, y_kinds)))
    return float((cells - margins + excess(np.array([pairs]), estimator)[0]) / pairs)


def _shares(margin: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Frequencies that occur, and how many symbols have each."""
    counts, kinds = np.unique(margin[margin > 0], return_counts=True)
    return counts / margin.sum(), kinds.astype(np.float64)


def excess(mean: Floats, estimator: EntropyEstimator) -> Floats:
    """E[n g(n)] - m ln m for n Poisson with mean m.

    >>> from memspan.information import Plugin
    >>> excess(np.array([1e-4, 1.0, 1e4]), Plugin()).round(3).tolist()
    [0.001, 0.573, 0.5]
    """
    grid, values = _tabulated(estimator)
    return np.interp(np.log(np.clip(mean, LEAST, MOST)), grid, values)


@functools.cache
def _tabulated(estimator: EntropyEstimator) -> tuple[Floats, Floats]:
    grid = np.linspace(np.log(LEAST), np.log(MOST), POINTS)
    n = np.arange(1, 600, dtype=np.float64)
    mean = np.exp(grid)[:, None]
    probability = np.exp(n * grid[:, None] - mean - gammaln(n + 1))
    # An offset of c per kind and observation is c less in every cell that is not empty.
    per_kind = estimator.offset(np.array(2.0), np.array(1.0)) - estimator.offset(np.array(1.0), np.array(1.0))
    return grid, probability @ (n * estimator.weight(n) - per_kind) - mean[:, 0] * grid

"""The null: what the estimator shows if the dependence at the lag is broken and everything else is kept.

Bias at long lags is (1/2N) times a sum over modes of (1 + l^2) / (1 - l^2) (Bartlett 1946), so a slowly varying chain has
hundreds of times the bias of shuffled symbols. A surrogate must keep the short-range structure of the data.

* `blocks` permutes blocks of the data. The pairs of a lag are two columns, x_t and x_{t + lag}. The second column is
  rotated by a random offset, cut into blocks of geometrically distributed length, and the blocks are put into random
  order. The number of pairs and both margins stay exactly those of the lag, structure within blocks is kept, and phases
  and long-range dependence are destroyed.
* `independent` draws symbols one by one with the same frequencies (what the literature calls shuffled).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.information.kernels import LARGEST_DENSE, Runs
from memspan.sequences import Sequence

Integers = NDArray[np.int64]

NULLS = ("auto", "blocks", "independent", "documents", "shifts")
# Nulls of version 0.1, which `blocks` replaces.
RENAMED = NULLS[3:]

# Blocks that the data are cut into on average: enough to destroy dependence, long enough to keep structure.
#
# A block of mean length L keeps a share of about 1 - s/L of the bias that structure of range s makes. Alphabets of
# 1,000 symbols need that share to one part in a thousand, so blocks are as long as a hundred of them allow.
BLOCKS = 100
# Blocks of short data are at least this long, as long as there are ten of them.
SHORTEST_BLOCK = 50
FEWEST_BLOCKS = 10

FEWEST_DRAWS, MOST_DRAWS, SPARSE_DRAWS = 48, 256, 32
# Draws are added until together they have this many pairs, because they decide how much the result depends on the seed.
PAIRS = 1 << 28
# Draws of the null of halves, and as many of quarters, of the data.
PART_DRAWS = 16
# Jackknife blocks that are needed to divide the data into quarters.
FEWEST_PARTS = 4
# Cells that the tables of all draws may have together.
TABLE_CELLS = 1 << 25
# Limits of one draw; its value is scaled to the number of pairs of each lag (see `floor`).
PAIRS_PER_DRAW, SPARSE_PAIRS_PER_DRAW, STRETCHES_PER_DRAW = 1 << 25, 1 << 22, 1 << 17
# Draws are numbered from 0, those of halves from 1 x this and those of quarters from 2 x this.
LEVEL = 1 << 20
# A lag with less than the first share of the pairs of its class starts a new class; the last lag needs the second.
NEW_CLASS, LAST_CLASS = 0.8, 0.98


@final
@dataclass(frozen=True, eq=False)
class NullPlan:
    """Which null is drawn, how often and for which lags; `lags` are the first lags of classes of similar pair numbers."""

    kind: str
    lags: Integers
    seed: int
    block: float
    """Mean length of the permuted blocks, in symbols."""
    draws: tuple[int, ...]
    """Numbers of the draws: those of all data, then of halves, then of quarters of it (see `part_of`)."""
    share: float
    """Share of the pairs that a draw uses."""
    note: str = ""


def part_of(draw: int) -> tuple[int, int]:
    """The number of parts that the data are divided into, and which of them this draw uses.

    >>> part_of(5), part_of(LEVEL + 5), part_of(2 * LEVEL + 5)
    ((1, 0), (2, 1), (4, 1))
    """
    parts = 1 << draw // LEVEL
    return parts, draw % LEVEL % parts


def plan_null(sequence: Sequence, lags: Integers, name: str, seed: int, blocks: int) -> NullPlan:
    """Choose the number of draws and the length of blocks; `blocks` is the number of jackknife blocks of the data."""
    if name not in NULLS:
        raise InputError(f"--null {name}: expected one of {', '.join(NULLS[:3])}")
    kind = "independent" if name == "independent" else "blocks"
    note = f"the null {name!r} of version 0.1 is replaced by 'blocks'" if name in RENAMED else ""
    alphabet, length = len(sequence.alphabet), sequence.length
    if kind == "independent":
        return NullPlan(kind, lags[:1], seed, 1.0, (), 1.0, note)
    large = alphabet > LARGEST_DENSE
    share = min(
        1.0, (SPARSE_PAIRS_PER_DRAW if large else PAIRS_PER_DRAW) / length, STRETCHES_PER_DRAW / sequence.n_documents
    )
    affordable = min(PAIRS / (share * length), TABLE_CELLS / (length if large else alphabet**2))
    fewest = SPARSE_DRAWS if large else FEWEST_DRAWS
    whole = 4 * round(min(max(affordable, fewest), MOST_DRAWS) / 4)
    classes = _classes(sequence, lags)
    if len(classes) > 1:  # classes share the draws that one would have
        whole = max(fewest, 4 * round(whole / len(classes) / 4))
    draws = list(range(whole))
    if blocks >= FEWEST_PARTS:
        draws += [level * LEVEL + draw for level in (1, 2) for draw in range(PART_DRAWS)]
    return NullPlan(kind, classes, seed, mean_block(length), tuple(draws), share, note)


def mean_block(length: int) -> float:
    """Mean length of the permuted blocks of data of this length.

    >>> mean_block(860_000), mean_block(2_000), mean_block(100)
    (8600.0, 50, 10.0)
    """
    return max(length / BLOCKS, min(SHORTEST_BLOCK, length / FEWEST_BLOCKS), 1.0)


def _classes(sequence: Sequence, lags: Integers) -> Integers:
    lengths = np.diff(sequence.offsets)
    first: list[int] = []
    reference = 0.0
    for lag in lags.tolist():
        pairs = float(np.maximum(lengths - lag, 0).sum())
        if not first or pairs < NEW_CLASS * reference:
            first.append(lag)
            reference = pairs
        elif lag == lags[-1] and pairs < LAST_CLASS * reference:
            first.append(lag)
    return np.array(first, dtype=np.int64)


def null_runs(sequence: Sequence, plan: NullPlan, cuts: Integers, lag: int, draw: int, piece: int) -> Runs:
    """The pairs of one draw, for the class of lags that starts with `lag`; `cuts` are those of the jackknife blocks."""
    generator = np.random.default_rng([plan.seed, draw, lag])
    parts, part = part_of(draw)
    start, n = _stretches(sequence.offsets, cuts if parts > 1 else cuts[[0, -1]], lag, parts, part)
    if plan.share < 1:
        start, n = _thinned(start, n, plan.share, piece, generator)
    # Blocks of a part are shorter in proportion, as those of data of its length would be.
    block = max(plan.block / parts, 1.0) * min(1.0, plan.share)
    return _split(permuted_runs(start, start + lag, n, block, generator), piece)


def _stretches(offsets: Integers, cuts: Integers, lag: int, parts: int, part: int) -> tuple[Integers, Integers]:
    """Start and length of the stretches of first symbols of pairs, in documents and in every `parts`-th block."""
    edges = np.unique(np.concatenate([offsets, cuts]))
    start, stop = edges[:-1], edges[1:]
    document = np.searchsorted(offsets, start, side="right") - 1
    block = np.searchsorted(cuts, start, side="right") - 1
    n = np.minimum(stop, offsets[document + 1] - lag) - start
    chosen = (n > 0) & (block % parts == part)
    return start[chosen], n[chosen]


def _thinned(
    start: Integers, n: Integers, share: float, piece: int, generator: np.random.Generator
) -> tuple[Integers, Integers]:
    """A share of the pairs, spread over the data: of many stretches some, of long ones the beginning of every piece."""
    if len(n) > STRETCHES_PER_DRAW:
        chosen = np.flatnonzero(generator.random(len(n)) < share)
        return start[chosen], n[chosen]
    pieces = _split(Runs(start, start, n), piece)
    return pieces.x, np.ceil(pieces.n * share).astype(np.int64)


def permuted_runs(first: Integers, second: Integers, n: Integers, block: float, generator: np.random.Generator) -> Runs:
    """Pair one column with another whose blocks were permuted.

    The columns are the stretches `first[k]` … `first[k] + n[k] - 1` and `second[k]` … laid end to end. The second is
    closed to a circle, cut with probability 1/block after each symbol, and its blocks are put into random order.
    """
    ends = np.cumsum(n)
    total = int(ends[-1]) if len(ends) else 0
    if total < 2:
        return Runs(first, second, n)
    number_of_cuts = max(1, generator.binomial(total - 1, 1 / max(block, 1.0)))
    cuts = np.unique(1 + generator.integers(total - 1, size=number_of_cuts))
    edges = np.unique(np.concatenate([[0], cuts, ends]))
    start, size = edges[:-1], np.diff(edges)
    number = np.searchsorted(cuts, start, side="right") % len(cuts)  # what follows the last cut precedes the first
    head = start < cuts[0]
    order = np.lexsort((start, head, generator.permutation(len(cuts))[number]))
    start, size = start[order], size[order]
    placed = np.cumsum(size) - size
    # Both columns as positions laid end to end: cut where a stretch of either ends.
    edges = np.unique(np.concatenate([placed, ends]))
    at, length = edges[:-1], np.diff(edges)
    piece = np.searchsorted(placed, at, side="right") - 1
    other = start[piece] + (at - placed[piece])
    return Runs(_position(at, first, ends, n), _position(other, second, ends, n), length)


def _position(at: Integers, start: Integers, ends: Integers, n: Integers) -> Integers:
    """Where position `at` of the stretches laid end to end lies in the sequence."""
    stretch = np.searchsorted(ends, at, side="right")
    return start[stretch] + at - (ends[stretch] - n[stretch])


def _split(runs: Runs, piece: int) -> Runs:
    """The same pairs in runs of at most `piece`."""
    parts = -(-runs.n // piece)
    if not len(parts) or parts.max() <= 1:
        return runs
    number = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
    offset = number * piece
    x, y, n = (np.repeat(values, parts) for values in (runs.x, runs.y, runs.n))
    return Runs(x + offset, y + offset, np.minimum(n - offset, piece))

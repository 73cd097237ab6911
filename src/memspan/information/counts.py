"""`PairCounts`: exact joint histograms per lag and block, with those of the null. Merge with +, save, load."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import os
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.information.kernels import MOST_BLOCKS, Table
from memspan.information.tables import aligned, moved, summed

Draws = dict[tuple[int, int], Table]
LARGEST_TABLE = 1 << 27
"""Cells of the largest table that `joint` writes out."""


@final
@dataclass(frozen=True, eq=False)
class NullCounts:
    """Tables of the null: `draws[lag, draw]` for the class of lags that begins with `lag`; empty if `independent`."""

    kind: str
    seed: int
    draws: Draws = field(default_factory=dict)

    @property
    def lags(self) -> NDArray[np.int64]:
        """The first lag of every class."""
        return np.array(sorted({lag for lag, _ in self.draws}), dtype=np.int64)


@final
@dataclass(frozen=True, eq=False)
class PairCounts:
    """How often symbol b follows symbol a at each lag, by block.

    `blocks[k][i]` is block k's table at `lags[i]`. Counts of parts of the data add up with +, whoever counted them.

    >>> import memspan as ms
    >>> counts = ms.count_pairs(["abab" * 20], lags=[1, 2])
    >>> counts.joint(1)
    array([[ 0, 40],
           [39,  0]])
    >>> (counts + counts).pairs.tolist()
    [158, 156]
    """

    lags: NDArray[np.int64]
    alphabet: tuple[Hashable, ...]
    blocks: tuple[tuple[Table, ...], ...]
    null: NullCounts
    frequencies: NDArray[np.int64]
    """How often each symbol occurs; shape alphabet."""
    documents: int
    symbols: str = "symbols"
    paths: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    column: str | None = None

    @property
    def length(self) -> int:
        """Number of symbols."""
        return int(self.frequencies.sum())

    @property
    def pairs(self) -> NDArray[np.int64]:
        """Number of pairs per lag."""
        sums = [[int(table.cells.sum(dtype=np.int64)) for table in block] for block in self.blocks]
        return np.array(sums, dtype=np.int64).reshape(len(self.blocks), len(self.lags)).sum(axis=0)

    def joint(self, lag: int) -> NDArray[np.int64]:
        """The table at one lag, shape alphabet x alphabet: rows are first symbols, columns second ones."""
        if len(self.alphabet) ** 2 > LARGEST_TABLE:
            raise InputError(
                f"a table of {len(self.alphabet):,} x {len(self.alphabet):,} symbols is too large to show"
            )
        index = np.flatnonzero(self.lags == lag)
        if not len(index):
            raise InputError(f"lag {lag} was not counted; counted are {self.lags.tolist()[:20]}")
        keys, cells = aligned([block[int(index[0])] for block in self.blocks], len(self.alphabet))
        table = np.zeros(len(self.alphabet) ** 2, np.int64)
        table[keys if keys is not None else slice(None)] = cells.sum(axis=0, dtype=np.int64)
        return table.reshape(len(self.alphabet), -1)

    def __add__(self, other: PairCounts) -> PairCounts:
        return merge([self, other])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the counts to one file, atomically (see `memspan.information.counts_file`)."""
        from memspan.information.counts_file import save_counts

        save_counts(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> PairCounts:
        """Read what `save` wrote; damaged and foreign files are refused."""
        from memspan.information.counts_file import load_counts

        return load_counts(path)[0]


def merge(parts: Iterable[PairCounts]) -> PairCounts:
    """The counts of all parts together, over the union of their alphabets."""
    parts = list(parts)
    first = parts[0]
    for part in parts[1:]:
        _check_alike(first, part)
    alphabet = _union([part.alphabet for part in parts])
    parts = [_recoded(part, alphabet) for part in parts]
    size = len(alphabet)
    return PairCounts(
        first.lags,
        alphabet,
        _folded([block for part in parts for block in part.blocks], size),
        NullCounts(first.null.kind, first.null.seed, _merged_draws([part.null for part in parts], size)),
        np.sum([part.frequencies for part in parts], axis=0),
        sum(part.documents for part in parts),
        first.symbols,
        tuple(dict.fromkeys(path for part in parts for path in part.paths)),
        tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        first.column,
    )


def join_lags(groups: list[PairCounts]) -> PairCounts:
    """Counts of the same blocks at different lags as one."""
    first = groups[0]
    if len(groups) == 1:
        return first
    lags = np.concatenate([group.lags for group in groups])
    if len(np.unique(lags)) < len(lags) or len({len(group.blocks) for group in groups}) > 1:
        raise InputError(
            "these counts are of different runs and cannot be joined; give the files of one run, or add runs"
        )
    order = np.argsort(lags)
    joined = (
        tuple(itertools.chain.from_iterable(tables))
        for tables in zip(*(g.blocks for g in groups), strict=True)
    )
    blocks = tuple(tuple(tables[i] for i in order) for tables in joined)
    null = next((group.null for group in groups if group.null.draws), first.null)
    return dataclasses.replace(first, lags=lags[order], blocks=blocks, null=null)


def _merged_draws(nulls: list[NullCounts], alphabet: int) -> Draws:
    """Draws of parts of one run are put together; draws of different data are added, class by class."""
    merged: Draws = {}
    for null in nulls:
        drawn, before = {draw for _, draw in null.draws}, {draw for _, draw in merged}
        if not drawn & before:
            merged |= null.draws
            continue
        lags = sorted({lag for lag, _ in null.draws} | {lag for lag, _ in merged})
        merged = {
            (lag, draw): summed([_containing(some, lag, draw) for some in (merged, null.draws)], alphabet)
            for lag in lags
            for draw in sorted(drawn & before)
        }
    return merged


def _containing(draws: Draws, lag: int, draw: int) -> Table:
    """The table of the class of lags that `lag` belongs to."""
    lags = sorted({first for first, _ in draws})
    return draws[max((first for first in lags if first <= lag), default=lags[0]), draw]


def _check_alike(a: PairCounts, b: PairCounts) -> None:
    if not np.array_equal(a.lags, b.lags):
        raise InputError(
            "these counts are of different lags and cannot be added; count both with the same --lags"
        )
    if a.symbols != b.symbols:
        raise InputError(
            f"counts of {a.symbols} and of {b.symbols} cannot be added; count both with the same --as"
        )
    if a.null.kind != b.null.kind:
        raise InputError(
            f"counts with null {a.null.kind} and {b.null.kind} cannot be added; count both with the same --null"
        )


def _union(alphabets: list[tuple[Hashable, ...]]) -> tuple[Hashable, ...]:
    if all(alphabet == alphabets[0] for alphabet in alphabets):
        return alphabets[0]
    labels: list[Any] = list(dict.fromkeys(label for alphabet in alphabets for label in alphabet))
    try:
        return tuple(sorted(labels))
    except TypeError:
        return tuple(labels)


def _recoded(part: PairCounts, alphabet: tuple[Hashable, ...]) -> PairCounts:
    """The same counts with symbol numbers of a larger alphabet."""
    if part.alphabet == alphabet:
        return part
    number = {label: code for code, label in enumerate(alphabet)}
    codes = np.array([number[label] for label in part.alphabet], dtype=np.int64)
    move = functools.partial(moved, codes=codes, alphabet=len(alphabet))
    frequencies = np.zeros(len(alphabet), np.int64)
    frequencies[codes] = part.frequencies
    blocks = tuple(tuple(move(table) for table in block) for block in part.blocks)
    null = dataclasses.replace(part.null, draws={key: move(table) for key, table in part.null.draws.items()})
    return dataclasses.replace(part, alphabet=alphabet, blocks=blocks, null=null, frequencies=frequencies)


def _folded(blocks: list[tuple[Table, ...]], alphabet: int) -> tuple[tuple[Table, ...], ...]:
    """At most 64 blocks: neighbours are added together until that is so."""
    while len(blocks) > MOST_BLOCKS:
        blocks = [
            tuple(summed(list(tables), alphabet) for tables in zip(*blocks[k : k + 2], strict=True))
            for k in range(0, len(blocks), 2)
        ]
    return tuple(blocks)

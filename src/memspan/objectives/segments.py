"""Texts cut into segments, and pairs of them: those that follow each other, those that do not, and those nearby."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from memspan.errors import InputError

LENGTH = 40
"""Symbols of a segment.  Cao and Xu 2020, section 5.2."""


class Padded(NamedTuple):
    """Sequences of unequal length side by side, each from its first step on."""

    symbols: Tensor
    """(time, batch) int64; behind a sequence's end stands anything"""
    lengths: Tensor
    """(batch,) int64, 1 or more"""

    @property
    def mask(self) -> Tensor:
        """(time, batch) bool: which symbols there are."""
        steps = torch.arange(len(self.symbols), device=self.symbols.device)
        return steps.unsqueeze(1) < self.lengths

    def columns(self, part: slice) -> Padded:
        """Some of the sequences, no longer than they need to be."""
        lengths = self.lengths[part]
        return Padded(self.symbols[: int(lengths.max()), part], lengths)

    def followed_by(self, second: Padded) -> Padded:
        """Every sequence with one of another batch directly behind it."""
        lengths = self.lengths + second.lengths
        joined = self.symbols.new_zeros(int(lengths.max()), len(lengths))
        joined[: len(self.symbols)] = torch.where(self.mask, self.symbols, 0)
        times = torch.arange(len(second.symbols), device=joined.device).unsqueeze(1) + self.lengths
        columns = torch.arange(len(lengths), device=joined.device).expand_as(times)
        there = second.mask
        joined[times[there], columns[there]] = second.symbols[there]
        return Padded(joined, lengths)


@final
@dataclass(frozen=True, eq=False)
class Segments:
    """A text in pieces, in its order."""

    symbols: NDArray[np.int64]
    """(count, length), padded at the end"""
    lengths: NDArray[np.int64]
    """(count,)"""

    def __len__(self) -> int:
        return len(self.lengths)

    def take(
        self, which: NDArray[np.int64], device: torch.device | str = "cpu", *, whole: bool = False
    ) -> Padded:
        """Some of them, by number; with all of their padding, or with no more than the longest needs."""
        lengths = self.lengths[which]
        symbols = self.symbols[which, : None if whole else lengths.max()].T
        return Padded(
            torch.from_numpy(np.ascontiguousarray(symbols)).to(device), torch.from_numpy(lengths).to(device)
        )


def lines(text: NDArray[np.int64], end: int, length: int = LENGTH, *, filler: int | None = None) -> Segments:
    """The lines that are not empty, each with its `end`; of longer ones the first length - 1 symbols and the end.

    Behind a shorter one stands `filler`, as often as it takes; None: the end.

    "Sentences" are lines of the file, in the source as well: a sentence of the Penn Treebank, a paragraph of WikiText-2.

    >>> lines(np.array([5, 6, 0, 0, 7, 8, 9, 0]), end=0, length=3).symbols.tolist()
    [[5, 6, 0], [7, 8, 0]]
    >>> lines(np.array([5, 0, 7, 8, 0]), end=0, length=4, filler=9).symbols.tolist()
    [[5, 0, 9, 9], [7, 8, 0, 9]]
    """
    check_length(length)
    ends = np.flatnonzero(text == end)
    starts = np.concatenate([[0], ends[:-1] + 1]) if len(ends) else ends
    full = ends > starts
    starts, ends = starts[full], ends[full]
    kept = np.minimum(ends - starts, length - 1)
    check_enough(len(starts), "lines that are not empty", "windows: --set bmi.segments=windows")
    places = starts[:, None] + np.arange(length)
    there = np.arange(length) < kept[:, None]
    symbols = np.where(there, text[np.minimum(places, len(text) - 1)], end if filler is None else filler)
    symbols[np.arange(len(kept)), kept] = end
    return Segments(symbols, kept + 1)


def windows(text: NDArray[np.int64], length: int = LENGTH, gap: int = 0) -> Segments:
    """Pieces of equal length, so many symbols apart from each other.

    >>> windows(np.arange(8), length=3, gap=1).symbols.tolist()
    [[0, 1, 2], [4, 5, 6]]
    """
    check_length(length)
    if gap < 0:
        raise InputError(f"the gap between segments is {gap}; expected 0 or more")
    count = (len(text) + gap) // (length + gap)
    check_enough(count, f"segments of {length} symbols", "a longer text or a smaller bmi.length")
    starts = np.arange(count) * (length + gap)
    return Segments(text[starts[:, None] + np.arange(length)], np.full(count, length))


class Pairs(NamedTuple):
    """Numbers of segments; the same place of each belongs together."""

    first: NDArray[np.int64]
    """X, anywhere but at the end"""
    next: NDArray[np.int64]
    """Y*, which follows it"""
    other: NDArray[np.int64]
    """Any segment at all: X and Y are then as if drawn by themselves"""
    near: NDArray[np.int64]
    """A sample of the proposal: Y* with probability `rate`, else the next one with that probability, and so on"""
    log_proposal: NDArray[np.float64]
    """log G(near)"""


def draw_pairs(count: int, pairs: int, random: np.random.Generator, rate: float = 0.3) -> Pairs:
    """`pairs` of each kind out of `count` segments.  Cao and Xu 2020, algorithm 1 and Eq. 15."""
    check_enough(count, "segments", "a longer text")
    first = random.integers(0, count - 1, pairs)
    following = first + 1
    other = random.integers(0, count, pairs)
    left = count - following
    whole = -np.expm1(left * math.log1p(-rate))
    distance = np.floor(np.log1p(-random.random(pairs) * whole) / math.log1p(-rate)).astype(np.int64)
    distance = np.minimum(distance, left - 1)  # rounding
    return Pairs(first, following, other, following + distance, log_proposal(distance, left, rate))


def log_proposal(distance: NDArray[np.int64], left: NDArray[np.int64], rate: float) -> NDArray[np.float64]:
    """log of (1 - rate)^distance rate over its sum for distances 0 to left - 1: geometric, cut at the text's end.

    >>> np.exp(log_proposal(np.array([0, 1, 2]), np.array([3, 3, 3]), 0.5)).round(3).tolist()  # 4/7, 2/7, 1/7
    [0.571, 0.286, 0.143]
    """
    fails = math.log1p(-rate)
    return (distance * fails + math.log(rate) - np.log(-np.expm1(left * fails))).astype(np.float64)


def check_length(length: int) -> None:
    """Refuse segments that hold nothing."""
    if isinstance(length, bool) or not isinstance(length, int) or length < 2:
        raise InputError(f"segments have {length!r} symbols; expected a whole number of 2 or more")


def check_enough(count: int, what: str, instead: str) -> None:
    """Refuse a text without two segments, of which no pair can be made."""
    if count < 2:
        raise InputError(f"the text has {count} {what}; expected two or more; give {instead}")

"""Texts cut into segments, pairs of segments, and how a model encodes them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, final, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from memspan.errors import InputError

# Symbols of a segment.  Cao and Xu 2020, section 5.2.
LENGTH = 40


class Padded(NamedTuple):
    """A batch of sequences of different lengths, aligned at their first step."""

    symbols: Tensor
    """(time, batch) int64; values beyond the end of a sequence are arbitrary"""
    lengths: Tensor
    """(batch,) int64, 1 or more"""

    @property
    def mask(self) -> Tensor:
        """(time, batch) bool: which symbols are part of a sequence."""
        steps = torch.arange(len(self.symbols), device=self.symbols.device)
        return steps.unsqueeze(1) < self.lengths

    def columns(self, part: slice) -> Padded:
        """A subset of the sequences, with no more padding than necessary."""
        lengths = self.lengths[part]
        return Padded(self.symbols[: int(lengths.max()), part], lengths)

    def followed_by(self, second: Padded) -> Padded:
        """Each sequence concatenated with the corresponding one of another batch."""
        lengths = self.lengths + second.lengths
        joined = self.symbols.new_zeros(int(lengths.max()), len(lengths))
        joined[: len(self.symbols)] = torch.where(self.mask, self.symbols, 0)
        times = torch.arange(len(second.symbols), device=joined.device).unsqueeze(1) + self.lengths
        columns = torch.arange(len(lengths), device=joined.device).expand_as(times)
        mask = second.mask
        joined[times[mask], columns[mask]] = second.symbols[mask]
        return Padded(joined, lengths)


@final
@dataclass(frozen=True, eq=False)
class Segments:
    """The segments of a text, in order."""

    symbols: NDArray[np.int64]
    """(count, length), padded at the end"""
    lengths: NDArray[np.int64]
    """(count,)"""

    def __len__(self) -> int:
        return len(self.lengths)

    def last_symbols(self, which: NDArray[np.int64]) -> NDArray[np.int64]:
        """The last symbol of each of these segments: of lines their end."""
        return self.symbols[which, self.lengths[which] - 1]

    def take(self, which: NDArray[np.int64], device: torch.device | str = "cpu", *, whole: bool = False) -> Padded:
        """The segments with these numbers; with all of their padding if `whole`, else only up to the longest."""
        lengths = self.lengths[which]
        symbols = self.symbols[which, : None if whole else lengths.max()].T
        return Padded(torch.from_numpy(np.ascontiguousarray(symbols)).to(device), torch.from_numpy(lengths).to(device))


def lines(text: NDArray[np.int64], end: int, length: int = LENGTH, *, filler: int | None = None) -> Segments:
    """The non-empty lines, each with its `end`; longer lines are cut to their first length - 1 symbols and the end.

    Shorter lines are padded with `filler`; None: with the end. "Sentences" are lines of the file, also in the paper:
    sentences of the Penn Treebank, paragraphs of WikiText-2.

    >>> lines(np.array([5, 6, 0, 0, 7, 8, 9, 0]), end=0, length=3).symbols.tolist()
    [[5, 6, 0], [7, 8, 0]]
    >>> lines(np.array([5, 0, 7, 8, 0]), end=0, length=4, filler=9).symbols.tolist()
    [[5, 0, 9, 9], [7, 8, 0, 9]]
    """
    _check_length(length)
    ends = np.flatnonzero(text == end)
    starts = np.concatenate([[0], ends[:-1] + 1]) if len(ends) else ends
    nonempty = ends > starts
    starts, ends = starts[nonempty], ends[nonempty]
    sizes = np.minimum(ends - starts, length - 1)
    _check_enough(len(starts), "non-empty lines", "windows: --set bmi.segments=windows")
    positions = starts[:, None] + np.arange(length)
    inside = np.arange(length) < sizes[:, None]
    symbols = np.where(inside, text[np.minimum(positions, len(text) - 1)], end if filler is None else filler)
    symbols[np.arange(len(sizes)), sizes] = end
    return Segments(symbols, sizes + 1)


def windows(text: NDArray[np.int64], length: int = LENGTH, gap: int = 0) -> Segments:
    """Segments of equal length, `gap` symbols apart.

    >>> windows(np.arange(8), length=3, gap=1).symbols.tolist()
    [[0, 1, 2], [4, 5, 6]]
    """
    _check_length(length)
    if gap < 0:
        raise InputError(f"the gap between segments is {gap}; expected 0 or more")
    count = (len(text) + gap) // (length + gap)
    _check_enough(count, f"segments of {length} symbols", "a longer text or a smaller bmi.length")
    starts = np.arange(count) * (length + gap)
    return Segments(text[starts[:, None] + np.arange(length)], np.full(count, length))


def _check_length(length: int) -> None:
    if isinstance(length, bool) or not isinstance(length, int) or length < 2:
        raise InputError(f"segments have {length!r} symbols; expected a whole number of 2 or more")


def _check_enough(count: int, what: str, instead: str) -> None:
    if count < 2:
        raise InputError(f"the text has {count} {what}; expected two or more; use {instead}")


class SegmentPairs(NamedTuple):
    """Numbers of segments; equal positions belong together."""

    first: NDArray[np.int64]
    """X, any segment but the last"""
    next: NDArray[np.int64]
    """Y*, which follows X"""
    other: NDArray[np.int64]
    """Any segment: independent of X"""
    near: NDArray[np.int64]
    """A sample of the proposal: Y* with probability `rate`, else the next one with that probability, and so on"""
    log_proposal: NDArray[np.float64]
    """log G(near)"""


def draw_pairs(count: int, pairs: int, random: np.random.Generator, rate: float = 0.3) -> SegmentPairs:
    """`pairs` of each kind out of `count` segments.  Cao and Xu 2020, algorithm 1 and Eq. 15."""
    _check_enough(count, "segments", "a longer text")
    first = random.integers(0, count - 1, pairs)
    following = first + 1
    other = random.integers(0, count, pairs)
    left = count - following
    # The inverse of the cumulative distribution of a geometric law that is truncated to `left` segments.
    total = -np.expm1(left * math.log1p(-rate))
    distance = np.floor(np.log1p(-random.random(pairs) * total) / math.log1p(-rate)).astype(np.int64)
    distance = np.minimum(distance, left - 1)  # rounding can exceed the range by one
    return SegmentPairs(first, following, other, following + distance, log_proposal(distance, left, rate))


def log_proposal(distance: NDArray[np.int64], left: NDArray[np.int64], rate: float) -> NDArray[np.float64]:
    """log of (1 - rate)^distance rate, normalized over 0 to left - 1: geometric, truncated at the text's end.

    >>> np.exp(log_proposal(np.array([0, 1, 2]), np.array([3, 3, 3]), 0.5)).round(3).tolist()  # 4/7, 2/7, 1/7
    [0.571, 0.286, 0.143]
    """
    log_failure = math.log1p(-rate)
    normalization = np.log(-np.expm1(left * log_failure))
    return (distance * log_failure + math.log(rate) - normalization).astype(np.float64)


@runtime_checkable
class Reader(Protocol):
    """A causal model that gives the states of its layers, and logits from the last."""

    def outputs(self, inputs: Tensor, /) -> tuple[list[Tensor], Any]:
        """States (time, batch, width) of each layer for symbols (time, batch), in order; and anything else."""
        ...

    def answered(self, hidden: Tensor, /) -> Tensor:
        """Logits (…, symbols) of states (…, width) of the last layer."""
        ...

    def parameters(self) -> Iterator[nn.Parameter]:
        """Trainable parameters."""
        ...


def pooled(model: Reader, segments: Padded, *, padding: bool = False) -> Tensor:
    """phi (batch, widths): the maximum of every unit of every layer over a segment, read from an empty state.

    Cao and Xu 2020, section 5. With `padding` the maximum includes the padding, as in the authors' program.
    """
    outputs, _ = model.outputs(segments.symbols)
    hidden = torch.cat(outputs, dim=-1)
    if not padding:
        # -inf never wins the maximum, and every segment has at least one symbol.
        hidden = hidden.masked_fill(~segments.mask.unsqueeze(-1), -torch.inf)
    return hidden.amax(dim=0)


def log_likelihoods(model: Reader, first: Padded, second: Padded) -> Tensor:
    """log Q(Y | X) / |Y| (batch,): the mean log-probability of the symbols of Y, right after X.

    Both are read in one call, and logits are computed only for the second.
    """
    both = first.followed_by(second)
    (*_, hidden), _ = model.outputs(both.symbols[:-1])
    times = torch.arange(1, len(both.symbols), device=hidden.device).unsqueeze(1)
    # The state after symbol t - 1 predicts symbol t; Y occupies the times |X| to |X| + |Y| - 1.
    scored = (times >= first.lengths) & (times < both.lengths)
    targets = both.symbols[1:][scored]
    # Under autocast logits are in half precision, too coarse for sums of log-probabilities.
    losses = functional.cross_entropy(model.answered(hidden[scored]).float(), targets, reduction="none")
    column = scored.nonzero()[:, 1]
    sums = losses.new_zeros(len(first.lengths)).index_add(0, column, losses)
    return -sums / second.lengths

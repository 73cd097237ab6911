"""Nanoseconds per pair of the counting kernels, next to what one writes with numpy or scikit-learn."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from memspan.bench.peers import peer
from memspan.bench.sizes import Sizes
from memspan.bench.timing import beside, race
from memspan.data import find
from memspan.information import Plugin, log_lags
from memspan.information.blocks import pieces
from memspan.information.estimators import informations
from memspan.information.kernels import Kernel, PairTable, choose_kernel
from memspan.results import Benchmark
from memspan.sequences import Memory, Sequence, read
from memspan.sequences.store import Symbols


def counting(sizes: Sizes) -> Iterator[Benchmark]:
    """Bytes, DNA, bits and words."""
    random_bytes = ranked(256, 0.0, sizes.symbols)
    yield _kernel_race("bytes, 256 symbols", random_bytes, sizes, "np.bincount", bincount)
    yield _score_race(random_bytes, sizes)
    dna, bits = ranked(4, 0.0, sizes.symbols), ranked(2, 0.0, sizes.symbols)
    yield _kernel_race("DNA, 4 letters", dna, sizes, "np.bincount", bincount)
    yield _kernel_race("bits, 2 symbols", bits, sizes, "np.bincount", bincount)
    name, words = _words(sizes)
    yield _kernel_race(name, words, sizes, "np.unique", unique)


def ranked(kinds: int, exponent: float, length: int) -> Sequence:
    """Independent symbols whose frequencies fall as a power of their rank; with exponent 0 all are equal."""
    frequency = np.arange(1.0, kinds + 1) ** -exponent
    steps = np.cumsum(frequency / frequency.sum())
    drawn = np.searchsorted(steps, np.random.default_rng(0).random(length)).clip(max=kinds - 1)
    small = np.uint8 if kinds <= 256 else np.uint16
    return Sequence(Memory(drawn.astype(small)), np.array([0, length]), tuple(range(kinds)))


def count_lags(kernel: Kernel, sequence: Sequence, lags: list[int]) -> list[PairTable]:
    """All pairs at all lags, piece by piece, as `count_pairs` does in one block."""
    accumulator = kernel.accumulator(len(lags))
    for piece in pieces(sequence, 0, sequence.length, max(kernel.piece, 8 * lags[-1])):
        prepared = kernel.prepare(sequence.store.read(piece.start, piece.needed(lags[-1])))
        for slot, lag in enumerate(lags):
            accumulator.add(slot, prepared, prepared, piece.runs(lag))
    return accumulator.tables()


def bincount(symbols: Symbols, kinds: int, lag: int) -> NDArray[np.int64]:
    """Pairs at one lag as a person writes it: one number per pair, counted by numpy."""
    return np.bincount(symbols[:-lag].astype(np.int64) * kinds + symbols[lag:], minlength=kinds**2)


def unique(symbols: Symbols, kinds: int, lag: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The same where a dense table does not fit."""
    return np.unique(symbols[:-lag].astype(np.int64) * kinds + symbols[lag:], return_counts=True)


Peer = Callable[[Symbols, int, int], object]


def _kernel_race(name: str, sequence: Sequence, sizes: Sizes, peer_name: str, one_lag: Peer) -> Benchmark:
    """Both sides count the same lags of the same symbols; what we prepare once for all lags is part of our time."""
    kinds, lags = len(sequence.alphabet), _lags(sizes)
    kernel, symbols = choose_kernel(kinds), sequence.store.read(0, sequence.length)
    ours, theirs = race(
        lambda: count_lags(kernel, sequence, lags),
        lambda: [one_lag(symbols, kinds, lag) for lag in lags],
        sizes.rounds,
    )
    pairs = sequence.length * len(lags) - sum(lags)
    return beside(f"{name}: counting pairs", peer_name, 1e9 * ours / pairs, 1e9 * theirs / pairs, _UNIT)


def _score_race(sequence: Sequence, sizes: Sizes) -> Benchmark:
    """scikit-learn's score includes the information itself, so ours does, too."""
    score, kernel, lags = peer("sklearn.metrics").mutual_info_score, choose_kernel(256), _lags(sizes)
    part = sequence.store.read(0, min(sizes.scored, sequence.length))

    def information() -> NDArray[np.float64]:
        tables = count_lags(kernel, sequence, lags)
        return informations(None, np.stack([table.cells for table in tables]), 256, Plugin())[0]

    lag = lags[-1]
    ours, theirs = race(information, lambda: score(part[:-lag], part[lag:]), sizes.rounds)
    pairs = sequence.length * len(lags) - sum(lags)
    return beside(
        "bytes, 256 symbols: information",
        "sklearn.metrics.mutual_info_score",
        1e9 * ours / pairs,
        1e9 * theirs / (len(part) - lag),
        _UNIT,
    )


def _lags(sizes: Sizes) -> list[int]:
    return log_lags(1, 1_000, 4)[: sizes.lags].tolist()


def _words(sizes: Sizes) -> tuple[str, Sequence]:
    """Real words where they are, else as many of a comparable distribution."""
    folder = find("wikitext-2")
    if folder is None:
        sequence, name = ranked(sizes.kinds_of_words, 1.0, sizes.words), "words drawn by rank"
    else:
        sequence, name = read(folder / "wiki.train.tokens", symbols="words"), "words of WikiText-2"
        sequence = sequence.part(0, min(sizes.words, sequence.length))
    return f"{name}, {len(sequence.alphabet):,} kinds", sequence


_UNIT = "ns per pair"

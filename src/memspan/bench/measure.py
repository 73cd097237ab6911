"""The benchmark `measure`: counting pairs, whole curves, two workers, every lag at once, and the import."""

from __future__ import annotations

import contextlib
import importlib
import itertools
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.bench.timing import cost_benchmark, race, seconds
from memspan.data import find
from memspan.errors import MissingExtraError
from memspan.information import Plugin, count_pairs, log_lags, mutual_information
from memspan.information.blocks import block_count, cut_blocks, pieces
from memspan.information.estimators import informations
from memspan.information.kernels import Kernel, PairTable, choose_kernel, spectral
from memspan.progress import SILENT, Progress
from memspan.results import Benchmark
from memspan.sequences import Memory, Sequence, read
from memspan.sequences.store import Symbols

# Modules that are needed, with the packages that provide them.
PEERS = {
    "sklearn.metrics": "scikit-learn",
    "threadpoolctl": "scikit-learn",
    "automutualinformation": "automutualinformation",
}
LETTERS = 27
# Number of benchmarks in addition to the whole curves.
COUNT = 8

_UNIT = "ns per pair"
_IMPORT = "import sys, time; t = time.perf_counter(); import {}; sys.stdout.write(str(time.perf_counter() - t))"


@final
@dataclass(frozen=True, kw_only=True)
class MeasureSizes:
    """Numbers of symbols and lags, and of turns per side.

    Large enough that start-up costs do not matter, less than two minutes in total.
    """

    symbols: int = 4_000_000
    """For alphabets of 256, 4 and 2 symbols."""
    scored: int = 1_000_000
    """For `mutual_info_score`, which takes two hundred times as long."""
    words: int = 2_000_000
    vocabulary: int = 33_000
    lags: int = 12
    """Lags per turn; they share the preparation of the symbols, as in normal use."""
    curves: tuple[int, ...] = (30_000, 300_000, 5_000_000)
    """For whole curves next to `automutualinformation`."""
    curve_lags: int = 50
    shared: int = 24_000_000
    """For two workers next to one."""
    shared_lags: int = 80
    long: int = 10_000_000
    """For every lag up to `every_lag`."""
    every_lag: int = 10_000
    sampled_lags: int = 30
    """Lags at which the kernel for single lags is timed."""
    rounds: int = 5
    long_rounds: int = 3


FULL = MeasureSizes()


def measure(progress: Progress = SILENT, sizes: MeasureSizes = FULL) -> tuple[Benchmark, ...]:
    """Everything on one core, except the two workers."""
    check_peers()
    done: list[Benchmark] = []
    with progress.stage("timing memspan next to its peers", COUNT + len(sizes.curves)) as stage, _one_core():
        for benchmark in _benchmarks(sizes):
            done.append(benchmark)
            stage.advance()
    return tuple(done)


def check_peers() -> None:
    """Import every peer, so that a missing one is reported before any work."""
    for module in PEERS:
        _peer(module)


def _peer(module: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError("this benchmark", PEERS[module], "bench") from error


def _one_core() -> contextlib.AbstractContextManager[object]:
    """Limit matrix products to one thread; everything else uses one anyway."""
    return _peer("threadpoolctl").threadpool_limits(limits=1)


def _benchmarks(sizes: MeasureSizes) -> Iterator[Benchmark]:
    random_bytes = ranked(256, 0.0, sizes.symbols)
    yield _counting("bytes, 256 symbols", random_bytes, sizes, "np.bincount", bincount)
    yield _score(random_bytes, sizes)
    dna, bits = ranked(4, 0.0, sizes.symbols), ranked(2, 0.0, sizes.symbols)
    yield _counting("DNA, 4 letters", dna, sizes, "np.bincount", bincount)
    yield _counting("bits, 2 symbols", bits, sizes, "np.bincount", bincount)
    name, words = _words(sizes)
    yield _counting(name, words, sizes, "np.unique", unique)
    for length in sizes.curves:
        yield _whole_curve(length, sizes)
    yield _two_workers(sizes)
    yield _every_lag(sizes)
    yield _import(sizes)


def ranked(alphabet: int, exponent: float, length: int) -> Sequence:
    """Independent symbols whose frequencies fall as a power of their rank; exponent 0 gives equal frequencies."""
    frequency = np.arange(1.0, alphabet + 1) ** -exponent
    steps = np.cumsum(frequency / frequency.sum())
    # Rounding may leave the last step below one, hence the clip.
    drawn = np.searchsorted(steps, np.random.default_rng(0).random(length)).clip(max=alphabet - 1)
    dtype = np.uint8 if alphabet <= 256 else np.uint16
    return Sequence(Memory(drawn.astype(dtype)), np.array([0, length]), tuple(range(alphabet)))


def _words(sizes: MeasureSizes) -> tuple[str, Sequence]:
    """WikiText-2 if it is on this machine, otherwise words of a similar distribution."""
    folder = find("wikitext-2")
    if folder is None:
        sequence, name = ranked(sizes.vocabulary, 1.0, sizes.words), "words drawn by rank"
    else:
        sequence, name = read(folder / "wiki.train.tokens", symbols="words"), "words of WikiText-2"
        sequence = sequence.part(0, min(sizes.words, sequence.length))
    return f"{name}, {len(sequence.alphabet):,} kinds", sequence


def bincount(symbols: Symbols, alphabet: int, lag: int) -> NDArray[np.int64]:
    """Pairs at one lag, the usual way: one number per pair, counted by numpy."""
    return np.bincount(symbols[:-lag].astype(np.int64) * alphabet + symbols[lag:], minlength=alphabet**2)


def unique(symbols: Symbols, alphabet: int, lag: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The same for alphabets that are too large for a dense table."""
    return np.unique(symbols[:-lag].astype(np.int64) * alphabet + symbols[lag:], return_counts=True)


def _counting(
    name: str, sequence: Sequence, sizes: MeasureSizes, peer: str, count: Callable[[Symbols, int, int], object]
) -> Benchmark:
    """Both sides count the same lags of the same symbols; our time includes the preparation for all lags."""
    alphabet, lags = len(sequence.alphabet), _lags(sizes)
    kernel, symbols = choose_kernel(alphabet), sequence.store.read(0, sequence.length)
    ours, theirs = race(
        lambda: count_lags(kernel, sequence, lags),
        lambda: [count(symbols, alphabet, lag) for lag in lags],
        sizes.rounds,
    )
    pairs = sequence.length * len(lags) - sum(lags)
    return cost_benchmark(f"{name}: counting pairs", peer, 1e9 * ours / pairs, 1e9 * theirs / pairs, _UNIT)


def _score(sequence: Sequence, sizes: MeasureSizes) -> Benchmark:
    """scikit-learn's score includes the mutual information itself, so ours does too."""
    score, kernel, lags = _peer("sklearn.metrics").mutual_info_score, choose_kernel(256), _lags(sizes)
    part = sequence.store.read(0, min(sizes.scored, sequence.length))

    def information() -> NDArray[np.float64]:
        tables = count_lags(kernel, sequence, lags)
        return informations(None, np.stack([table.cells for table in tables]), 256, Plugin())[0]

    lag = lags[-1]
    ours, theirs = race(information, lambda: score(part[:-lag], part[lag:]), sizes.rounds)
    pairs = sequence.length * len(lags) - sum(lags)
    return cost_benchmark(
        "bytes, 256 symbols: information",
        "sklearn.metrics.mutual_info_score",
        1e9 * ours / pairs,
        1e9 * theirs / (len(part) - lag),
        _UNIT,
    )


def _lags(sizes: MeasureSizes) -> list[int]:
    return log_lags(1, 1_000, 4)[: sizes.lags].tolist()


def count_lags(kernel: Kernel, sequence: Sequence, lags: list[int]) -> list[PairTable]:
    """All pairs at all lags, piece by piece, as `count_pairs` does in one block."""
    accumulator = kernel.accumulator(len(lags))
    # Pieces of at least eight largest lags, so that their overlap is a small share of the work.
    for piece in pieces(sequence, 0, sequence.length, max(kernel.piece, 8 * lags[-1])):
        prepared = kernel.prepare(sequence.store.read(piece.start, piece.needed(lags[-1])))
        for slot, lag in enumerate(lags):
            accumulator.add(slot, prepared, prepared, piece.runs(lag))
    return accumulator.tables()


def _whole_curve(length: int, sizes: MeasureSizes) -> Benchmark:
    """Estimate and null at the same lags of the same letters, one job at a time, both packages at their defaults.

    The peer is timed at one and at three lags; half of the difference is its cost per further lag. Several lengths are
    compared, because its start-up and its cost per lag weigh differently.
    """
    package = _peer("automutualinformation")
    sequence = ranked(LETTERS, 1.0, length)
    symbols = sequence.store.read(0, sequence.length)
    lags = log_lags(1, min(10_000, length // 10))[: sizes.curve_lags]

    def theirs(number: int) -> float:
        return seconds(
            lambda: package.sequential_mutual_information([symbols], distances=lags[:number], n_jobs=1, use_tqdm=False)
        )

    state = np.random.get_state()  # noqa: NPY002 - the peer seeds numpy's global generator
    rounds = [
        (seconds(lambda: mutual_information(sequence, lags, workers=1)), theirs(1), theirs(3))
        for _ in range(sizes.long_rounds)
    ]
    np.random.set_state(state)  # noqa: NPY002
    ours, one, three = (min(times) for times in zip(*rounds, strict=True))
    scaled = one + max(three - one, 0.0) / 2 * (len(lags) - 1)
    name = f"the curve of {sequence.length:,} letters at {len(lags)} lags (the peer timed at 3, scaled to all)"
    return cost_benchmark(name, "automutualinformation", ours, scaled, "s")


def _two_workers(sizes: MeasureSizes) -> Benchmark:
    """The same counts by two threads and by one."""
    sequence, lags = ranked(256, 0.0, sizes.shared), log_lags(1, 10_000, 24)[: sizes.shared_lags]
    ours, theirs = race(
        lambda: count_pairs(sequence, lags, null="independent", workers=2),
        lambda: count_pairs(sequence, lags, null="independent", workers=1),
        max(1, sizes.rounds - 2),
    )
    name = f"counting {len(lags)} lags of bytes with two workers"
    return cost_benchmark(name, "one worker", ours, theirs, "s")


def _every_lag(sizes: MeasureSizes) -> Benchmark:
    """All lags at once by FFT, next to our own kernel for single lags, timed at a few lags and scaled to all."""
    sequence, largest = ranked(LETTERS, 1.0, sizes.long), sizes.every_lag
    sampled = np.unique(np.linspace(1, largest, sizes.sampled_lags).astype(np.int64)).tolist()
    kernel = choose_kernel(LETTERS)
    ours, theirs = race(
        lambda: count_by_blocks(sequence, largest), lambda: count_lags(kernel, sequence, sampled), sizes.long_rounds
    )
    return cost_benchmark(
        f"every lag to {largest:,} of {sequence.length:,} letters "
        f"(the peer timed at {len(sampled)} lags, scaled to all)",
        "our kernel for single lags",
        ours,
        theirs * largest / len(sampled),
        "s",
    )


def count_by_blocks(sequence: Sequence, largest: int) -> int:
    """Count all lags 1 … `largest` of each block in turn, as `count_pairs` does; returns the number of pairs."""
    lags = np.arange(1, largest + 1)
    cuts = cut_blocks(sequence.offsets, block_count(sequence, lags)).tolist()
    pairs = 0
    for start, stop in itertools.pairwise(cuts):
        (piece,) = pieces(sequence, start, stop, stop - start)
        symbols = sequence.store.read(piece.start, piece.needed(largest))
        cells = spectral.count_every_lag(symbols, piece.segments - piece.start, LETTERS, largest)
        pairs += int(cells[1:].sum(dtype=np.int64))
    return pairs


def _import(sizes: MeasureSizes) -> Benchmark:
    """`import memspan` next to `import numpy`, each in a fresh interpreter; our names load on first use."""
    best = {"memspan": float("inf"), "numpy": float("inf")}
    for _ in range(sizes.rounds):
        for name in best:
            command = [sys.executable, "-c", _IMPORT.format(name)]
            duration = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            best[name] = min(best[name], float(duration))
    return cost_benchmark("import memspan", "import numpy", 1e3 * best["memspan"], 1e3 * best["numpy"], "ms")

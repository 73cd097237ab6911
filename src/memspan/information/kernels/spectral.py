"""Every lag up to L at once: correlations of indicator planes by blockwise FFT.

The counts of (a, b) at all lags are the cross-correlation of the planes [x = a] and [x = b]. The sequence is cut into
segments of S >= L symbols. With F_i the transform (of size 2S) of the planes of segment i, a pair that starts in segment i
ends there or in the next one, so its partner's transform is F_i + (-1)^f F_{i+1}: one transform per segment and symbol is
enough. Products are summed over segments per frequency, transformed back once, and rounded to integers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from memspan.errors import MemspanError
from memspan.sequences.store import Symbols

# The work grows with the square of the alphabet: beyond this, one pass per lag is faster for any number of lags.
MOST_SYMBOLS = 64
# Segments whose products are one matrix product per frequency.
GROUP = 32
# Frequencies multiplied at a time; an even number.
FREQUENCIES = 256
# Largest distance of a correlation from an integer; beyond it, double precision is used instead.
SAFE = 0.2
# Shorter transforms are dominated by the overhead of a call.
SHORTEST = 1024
# The requested lags must include at least one in this number of lags up to the largest.
SPARSEST = 4
# 400 MB: three spectra of the largest alphabet at 10,000 lags.
SPECTRUM_MEMORY = 3 << 27


def worthwhile(alphabet: int, lags: NDArray[np.int64], lengths: NDArray[np.int64]) -> bool:
    """Whether this kernel beats one pass per lag, by the measured costs of both (nanoseconds per symbol).

    Not for lags with large gaps or for spectra that do not fit the memory set aside.
    """
    largest = int(lags[-1])
    if alphabet > MOST_SYMBOLS or largest > SPARSEST * len(lags):
        return False
    step = _fast_length(max(largest + 1, SHORTEST))
    if 3 * (step + 1) * alphabet * max(alphabet, GROUP) * np.dtype(np.complex64).itemsize > SPECTRUM_MEMORY:
        return False
    # Bit planes cost a popcount per pair of symbols and 64 positions, dense tables a memory access per position.
    per_lag = 0.02 * (alphabet - 1) ** 2 + 0.02 if alphabet <= 4 else 0.6
    padded = float(np.sum(-(-lengths // step))) * step
    # The transforms are linear in the alphabet, the products of their spectra quadratic.
    spectral = 1.2 * padded * (15 * alphabet + 0.45 * alphabet**2)
    return per_lag * len(lags) * float(lengths.sum()) > spectral


def count_every_lag(symbols: Symbols, segments: NDArray[np.int64], alphabet: int, most: int) -> NDArray[np.uint32]:
    """Pair counts at the lags 0 … `most`, shape lags x V^2.

    `segments` has rows (begin, end, limit): the first of a pair lies in begin … end - 1, the second below limit.
    """
    # Single precision is twice as fast; whether it was exact is checked, and otherwise the count is repeated.
    for real in (np.float32, np.float64):
        cells, distance = _correlate(symbols, segments, alphabet, most, real)
        if distance < SAFE and _complete(cells, segments):
            return cells
    raise MemspanError(f"rounding error of {distance:.2f} counts in the spectral kernel; give fewer lags")


def _correlate(
    symbols: Symbols, segments: NDArray[np.int64], alphabet: int, most: int, real: Any
) -> tuple[NDArray[np.uint32], float]:
    step = _fast_length(max(most + 1, SHORTEST))
    spectrum = np.zeros((step + 1, alphabet, alphabet), np.result_type(real, np.complex64))
    transform = np.empty((step + 1, GROUP + 1, alphabet), spectrum.dtype)
    planes = np.empty((alphabet, 2 * step), real)
    for starts, end, limit in _groups(segments, step):
        for row, start in enumerate([*starts, starts[-1] + step]):
            transform[:, row] = _transform(symbols[start : max(start, min(start + step, limit))], planes)
        last = None
        if starts[-1] + step > end:  # the last stretch of first symbols ends before its partners do
            last = _transform(symbols[starts[-1] : end], planes)
        _add_products(spectrum, transform[:, : len(starts) + 1], last)
    back = np.asarray(scipy.fft.irfft(spectrum, n=2 * step, axis=0))[: most + 1].reshape(most + 1, -1)
    cells = np.rint(back)
    back -= cells
    return cells.astype(np.uint32), float(max(back.max(), -back.min()))


def _add_products(spectrum: NDArray[Any], transform: NDArray[Any], last: NDArray[Any] | None) -> None:
    """Add conj(first) x partner over all stretches, a few frequencies at a time so that all stays in the cache."""
    for low in range(0, len(spectrum), FREQUENCIES):
        part = slice(low, low + FREQUENCIES)
        here, there = transform[part, :-1], transform[part, 1:]
        # A shift by half of the transform multiplies odd frequencies by -1: a stretch and the next one, which holds the
        # partners of its last symbols, are joined without a transform of their own.
        partners = np.empty_like(here)
        np.add(here[0::2], there[0::2], out=partners[0::2])
        np.subtract(here[1::2], there[1::2], out=partners[1::2])
        first = np.conjugate(here)
        if last is not None:
            first[:, -1] = np.conjugate(last[part])
        spectrum[part] += np.matmul(first.transpose(0, 2, 1), partners)


def _fast_length(least: int) -> int:
    """The next length that a Fourier transform likes."""
    return int(scipy.fft.next_fast_len(least, real=True))  # pyright: ignore[reportArgumentType]


def _groups(segments: NDArray[np.int64], step: int) -> list[tuple[list[int], int, int]]:
    """Starts of up to GROUP stretches of one segment, with that segment's end and limit."""
    return [
        (list(range(start, min(start + GROUP * step, end), step)), end, limit)
        for begin, end, limit in segments.tolist()
        for start in range(begin, end, GROUP * step)
    ]


def _transform(symbols: Symbols, planes: NDArray[Any]) -> NDArray[Any]:
    """Transforms of the indicator planes, shape frequency x symbol; `planes` is working space."""
    planes[:] = 0
    planes[symbols, np.arange(len(symbols))] = 1
    return np.asarray(scipy.fft.rfft(planes, axis=1)).T


def _complete(cells: NDArray[np.uint32], segments: NDArray[np.int64]) -> bool:
    """Whether every lag's cells add up to its number of pairs."""
    lags = np.arange(len(cells))
    pairs = np.zeros(len(cells), np.int64)
    for begin, end, limit in segments.tolist():
        pairs += np.maximum(np.minimum(end, limit - lags) - begin, 0)
    return bool((cells.sum(axis=1, dtype=np.int64) == pairs).all())

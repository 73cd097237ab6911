"""The proof of a memory is its replay: the recurrence itself, run for thousands of periods, every symbol compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from memspan.errors import EvidenceError
from memspan.information.kernels.kernel import announce
from memspan.progress import SILENT, Progress
from memspan.results import LinearNetwork

SYMBOLS, PERIODS = 100_000, 1_000
"""How long a string is replayed: as many whole periods as make both."""
_WORK = 5e9
"""Multiplications that take some seconds."""


@final
@dataclass(frozen=True)
class Replay:
    """What running the recurrence gave."""

    symbols: int
    """Right symbols before the first wrong one, or all that were asked for."""
    margin: float
    """The least lead of the right symbol's score over any other; NaN where there is no other."""
    drift: float
    """The largest change of a coordinate between the first and the last whole period."""


def enough(network: LinearNetwork, period: int) -> int:
    """Symbols of whole periods that make 100,000 symbols and 1,000 periods; of a very large network, 100,000 symbols."""
    periods = -(-SYMBOLS // period)
    if PERIODS * period * np.count_nonzero(network.W_y) < _WORK:
        periods = max(PERIODS, periods)
    return period * periods


def replay(network: LinearNetwork, codes: NDArray[np.int64], symbols: int) -> Replay:
    """Run the recurrence for `symbols` steps against `codes`, over and over; stops at the first wrong symbol."""
    W_h, W_y = csr_array(network.W_h), csr_array(network.W_y)
    right, margin, drift = _replayed(
        (W_h.data, W_h.indices, W_h.indptr),
        np.ascontiguousarray(network.W_x),
        (W_y.data, W_y.indices, W_y.indptr),
        network.b_y,
        network.h_0,
        codes,
        symbols,
    )
    return Replay(int(right), float(margin) if len(network.alphabet) > 1 else np.nan, float(drift))


def verified(
    network: LinearNetwork, codes: NDArray[np.int64], symbols: int, *, progress: Progress = SILENT
) -> Replay:
    """A replay without a mistake; a network that makes one is refused."""
    announce(_replayed, progress, "the replay")
    ran = replay(network, codes, symbols)
    if ran.symbols < symbols:
        raise EvidenceError(
            f"the network writes {ran.symbols:,} symbols rightly and then a wrong one, of {symbols:,} that were asked for: "
            "its margin is too narrow for rounding errors; use --method cyclic"
        )
    return ran


@numba.njit(nogil=True, cache=True)
def _times(rows, vector, out):  # pragma: no cover - compiled
    """A sparse matrix times a vector: zeros that are left out change no sum."""
    data, indices, starts = rows
    for r in range(len(out)):
        total = 0.0
        for k in range(starts[r], starts[r + 1]):
            total += data[k] * vector[indices[k]]
        out[r] = total


@numba.njit(nogil=True, cache=True)
def _replayed(W_h, W_x, W_y, b_y, h_0, codes, symbols):  # pragma: no cover - compiled
    p, d, n = len(codes), len(h_0), len(b_y)
    first = np.empty((p, d))
    state, successor, scores = np.empty(d), np.empty(d), np.empty(n)
    _times(W_h, h_0, state)
    margin, drift = np.inf, 0.0
    last = symbols - p
    for step in range(symbols):
        place = step % p
        if step < p:
            first[place] = state
        elif step >= last:
            for i in range(d):
                drift = max(drift, abs(state[i] - first[place, i]))
        _times(W_y, state, scores)
        right, best, written = codes[place], -np.inf, 0
        for k in range(n):
            scores[k] += b_y[k]
            if scores[k] > scores[written]:
                written = k
            if k != right and scores[k] > best:
                best = scores[k]
        if written != right:
            return step, margin, drift
        margin = min(margin, scores[right] - best)
        _times(W_h, state, successor)
        for i in range(d):
            state[i] = successor[i] + W_x[i, written]
    return symbols, margin, drift


NOISE_PERIODS = 10
SURVIVING_SHARE = 0.9
_NETWORKS, _FEWEST = 100, 20
_NOISE_WORK = 4e9
"""Multiplications for the whole question: a few seconds. Larger networks are asked with fewer copies, or not at all."""
_LEAST, _MOST, _ROUNDS = 1e-16, 1.0, 14


def survived(
    network: LinearNetwork,
    codes: NDArray[np.int64],
    *,
    periods: int = NOISE_PERIODS,
    seed: int | np.random.Generator,
) -> float:
    """The noise with which nine networks in ten still write ten periods, relative to the root mean square of each tensor.

    Every weight gets its own Gaussian number once, which stays. The same numbers are scaled up and down, so the
    share of survivors hardly depends on luck from one size to the next. 0 where the least noise is too much, as for a
    map that expands; NaN where the network is too large to ask.
    """
    d, n = network.hidden_size, len(network.alphabet)
    steps = periods * len(codes)
    copies = min(_NETWORKS, int(_NOISE_WORK / (_ROUNDS * steps * d * (d + n))))
    if copies < _FEWEST:
        return np.nan
    random = np.random.default_rng(seed)
    tensors = (network.W_h, network.W_x, network.W_y, network.b_y, network.h_0)
    noise = [np.sqrt((w**2).mean()) * random.standard_normal((copies, *w.shape)) for w in tensors]
    low, high = np.log(_LEAST), np.log(_MOST)
    alive = False
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        W_h, W_x, W_y, b_y, h_0 = (w + np.exp(middle) * e for w, e in zip(tensors, noise, strict=True))
        if _surviving(W_h, W_x, W_y, b_y, h_0, codes, steps) >= SURVIVING_SHARE * copies:
            low, alive = middle, True
        else:
            high = middle
    return float(np.exp(low)) if alive else 0.0


@numba.njit(nogil=True, cache=True)
def _surviving(W_h, W_x, W_y, b_y, h_0, codes, steps):  # pragma: no cover - compiled
    """How many of several networks write the string without a mistake."""
    alive = 0
    for c in range(len(W_y)):
        state = W_h[c] @ h_0[c]
        good = True
        for step in range(steps):
            scores = W_y[c] @ state + b_y[c]
            written = np.argmax(scores)
            if written != codes[step % len(codes)]:
                good = False
                break
            state = W_h[c] @ state + W_x[c][:, written]
        alive += good
    return alive

"""Verification: the recurrence, run for thousands of periods and checked symbol by symbol; and its noise tolerance."""

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
"""Length of a replay: as many whole periods as make both."""
# Multiplications of a few seconds; very large networks replay fewer periods.
_REPLAY_WORK = 5e9
NOISE_PERIODS = 10
_SURVIVING_SHARE = 0.9
_COPIES, _FEWEST_COPIES = 100, 20
# Multiplications of a few seconds; larger networks are tested with fewer noisy copies, or not at all.
_NOISE_WORK = 4e9
_LEAST_NOISE, _MOST_NOISE, _BISECTIONS = 1e-16, 1.0, 14


@final
@dataclass(frozen=True)
class Replay:
    """Result of running the recurrence."""

    symbols: int
    """Correct symbols before the first error, or all that were requested."""
    margin: float
    """Smallest lead of the correct symbol's score over any other; NaN for a single symbol."""
    drift: float
    """Largest change of a coordinate between the first and the last whole period."""


def replay_length(network: LinearNetwork, period: int) -> int:
    """Symbols of whole periods that make 100,000 symbols and 1,000 periods; only the former for very large networks."""
    periods = -(-SYMBOLS // period)
    if PERIODS * period * np.count_nonzero(network.W_y) < _REPLAY_WORK:
        periods = max(PERIODS, periods)
    return period * periods


def verify(network: LinearNetwork, codes: NDArray[np.int64], symbols: int, *, progress: Progress = SILENT) -> Replay:
    """A replay without an error; raises EvidenceError if there is one."""
    announce(_replayed, progress, "the replay")
    ran = replay(network, codes, symbols)
    if ran.symbols < symbols:
        raise EvidenceError(
            f"the network emits {ran.symbols:,} correct symbols and then a wrong one; expected {symbols:,} without an "
            "error; its margin is too small for rounding errors; use --method cyclic"
        )
    return ran


def replay(network: LinearNetwork, codes: NDArray[np.int64], symbols: int) -> Replay:
    """Run the recurrence for `symbols` steps against `codes`, repeated; stops at the first wrong symbol."""
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


@numba.njit(nogil=True, cache=True)
def _times(rows, vector, out):  # pragma: no cover - compiled
    """A sparse matrix times a vector; omitting zeros changes no sum."""
    data, indices, starts = rows
    for r in range(len(out)):
        total = 0.0
        for k in range(starts[r], starts[r + 1]):
            total += data[k] * vector[indices[k]]
        out[r] = total


def noise_tolerance(
    network: LinearNetwork, codes: NDArray[np.int64], *, periods: int = NOISE_PERIODS, seed: int | np.random.Generator
) -> float:
    """Noise, relative to the root mean square of each tensor, at which 90 % of networks still replay ten periods.

    Each weight gets one Gaussian perturbation that stays fixed over time. The same perturbations are scaled up and down, so
    that the share of surviving networks depends smoothly on the scale. 0 if even the least noise is too much, as for an
    expanding map; NaN if the network is too large to test.
    """
    d, n = network.hidden_size, len(network.alphabet)
    steps = periods * len(codes)
    copies = min(_COPIES, int(_NOISE_WORK / (_BISECTIONS * steps * d * (d + n))))
    if copies < _FEWEST_COPIES:
        return np.nan
    random = np.random.default_rng(seed)
    tensors = (network.W_h, network.W_x, network.W_y, network.b_y, network.h_0)
    noise = [np.sqrt((w**2).mean()) * random.standard_normal((copies, *w.shape)) for w in tensors]
    low, high = np.log(_LEAST_NOISE), np.log(_MOST_NOISE)
    alive = False
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        W_h, W_x, W_y, b_y, h_0 = (w + np.exp(middle) * e for w, e in zip(tensors, noise, strict=True))
        if _surviving(W_h, W_x, W_y, b_y, h_0, codes, steps) >= _SURVIVING_SHARE * copies:
            low, alive = middle, True
        else:
            high = middle
    return float(np.exp(low)) if alive else 0.0


@numba.njit(nogil=True, cache=True)
def _surviving(W_h, W_x, W_y, b_y, h_0, codes, steps):  # pragma: no cover - compiled
    """Number of networks that replay the string without an error."""
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

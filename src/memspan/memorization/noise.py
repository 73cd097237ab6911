"""How much Gaussian noise on its weights a memory survives."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from memspan.results import LinearNetwork

PERIODS = 10
SHARE = 0.9
_NETWORKS, _FEWEST = 100, 20
_WORK = 4e9
"""Multiplications for the whole question: a few seconds. Larger networks are asked with fewer copies, or not at all."""
_LEAST, _MOST, _ROUNDS = 1e-16, 1.0, 14


def survived(
    network: LinearNetwork,
    codes: NDArray[np.int64],
    *,
    periods: int = PERIODS,
    seed: int | np.random.Generator,
) -> float:
    """The noise with which nine networks in ten still write ten periods, relative to the root mean square of each tensor.

    Every weight gets its own Gaussian number once, which stays. The same numbers are scaled up and down, so the
    share of survivors hardly depends on luck from one size to the next. 0 where the least noise is too much, as for a
    map that expands; NaN where the network is too large to ask.
    """
    d, n = network.hidden_size, len(network.alphabet)
    steps = periods * len(codes)
    copies = min(_NETWORKS, int(_WORK / (_ROUNDS * steps * d * (d + n))))
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
        if _surviving(W_h, W_x, W_y, b_y, h_0, codes, steps) >= SHARE * copies:
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

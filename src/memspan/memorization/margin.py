"""The affine functions that tell the places of an orbit apart with the largest margin: a linear program."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array

from memspan.errors import EvidenceError

LEAST = 1e-8
"""A smaller lead of the right symbol counts as none: rounding errors of long replays would eat it."""
_OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
_MOST_COEFFICIENTS = 1_000_000
"""HiGHS looks at the clock between its larger steps; those of programs up to this size take a few seconds."""


@final
@dataclass(frozen=True, eq=False)
class Readout:
    """W_y and b_y, and by how much the right symbol leads at its nearest miss."""

    W_y: NDArray[np.float64]
    b_y: NDArray[np.float64]
    margin: float


def widest(states: NDArray[np.float64], codes: NDArray[np.int64], symbols: int) -> Readout:
    """max t such that y_i[s_i] - y_i[k] >= t for every place i and k != s_i, y_i = W_y h_i + b_y, |W_y| <= 1.

    Solved by HiGHS. The margin is that of the weights as returned, not the solver's word for it; at most 0 where the
    places cannot be told apart.
    """
    readout = widest_within(np.inf, states, codes, symbols)
    if readout is None:
        raise EvidenceError(
            f"the linear program of {states.shape[0]} places and {symbols} symbols was not solved; use --method cyclic"
        )
    return readout


def widest_within(
    seconds: float, states: NDArray[np.float64], codes: NDArray[np.int64], symbols: int
) -> Readout | None:
    """`widest`, or None where it stays unknown: HiGHS takes longer than `seconds`, or gives up, or could not be stopped."""
    places, d = states.shape
    if np.isfinite(seconds) and 2 * places * (symbols - 1) * (d + 1) > _MOST_COEFFICIENTS:
        return None
    if symbols == 1:
        return Readout(np.zeros((1, d)), np.zeros(1), np.inf)
    bounds = [*([(-1.0, 1.0)] * d + [(None, None)]) * symbols, (0.0, None)]
    bounds[d] = (0.0, 0.0)  # only differences of biases matter
    cost = np.zeros(len(bounds))
    cost[-1] = -1.0
    A = _comparisons(states, codes, symbols)
    options = _OPTIONS if np.isinf(seconds) else {**_OPTIONS, "time_limit": max(seconds, 1e-3)}
    solved = linprog(
        cost, A_ub=A, b_ub=np.zeros(places * (symbols - 1)), bounds=bounds, method="highs", options=options
    )
    if solved.status != 0:
        return None
    weights = solved.x[:-1].reshape(symbols, d + 1)
    return _readout(states, codes, weights[:, :d], weights[:, d])


def one_by_one(
    seconds: float, states: NDArray[np.float64], codes: NDArray[np.int64], symbols: int
) -> Readout | None:
    """Each symbol told from all others by itself, the most frequent one left over; None where that stays unknown.

    Narrower than `widest`, but every program has two symbols only. A symbol's score is above 0 where it stands and below 0
    elsewhere; that of the one left over is 0 everywhere.
    """
    until = time.monotonic() + seconds
    W_y, b_y = np.zeros((symbols, states.shape[1])), np.zeros(symbols)
    for symbol in set(range(symbols)) - {int(np.bincount(codes).argmax())}:
        left = max(until - time.monotonic(), 0.0)
        readout = widest_within(left, states, (codes != symbol).astype(np.int64), 2)
        if readout is None:
            return None
        W_y[symbol], b_y[symbol] = readout.W_y[0] - readout.W_y[1], readout.b_y[0] - readout.b_y[1]
    return _readout(states, codes, W_y, b_y)


def whole(codes: NDArray[np.int64], symbols: int, states: NDArray[np.float64]) -> Readout:
    """The readout of all frequencies together: the score of a symbol is 1 where it stands and 0 elsewhere.

    The coordinates are orthogonal to each other and to the constant, so the weights are their means with the symbol.
    """
    stands = np.eye(symbols)[codes]
    W_y = stands.T @ states / (states**2).sum(axis=0)
    return _readout(states, codes, W_y, stands.mean(axis=0))


def _readout(
    states: NDArray[np.float64], codes: NDArray[np.int64], W_y: NDArray[np.float64], b_y: NDArray[np.float64]
) -> Readout:
    """Weights brought to a largest absolute value of one."""
    scale = np.abs(W_y).max()
    if scale > 0:
        W_y, b_y = W_y / scale, b_y / scale
    return Readout(W_y, b_y, least_lead(states @ W_y.T + b_y, codes))


def least_lead(scores: NDArray[np.float64], codes: NDArray[np.int64]) -> float:
    """The smallest lead of the right symbol's score over the best of the others; infinite for a single symbol.

    >>> least_lead(np.array([[3.0, 1.0], [0.0, 0.5]]), np.array([0, 1]))
    0.5
    """
    places = np.arange(len(codes))
    others = scores.copy()
    others[places, codes] = -np.inf
    return float((scores[places, codes] - others.max(axis=1)).min())


def _comparisons(states: NDArray[np.float64], codes: NDArray[np.int64], symbols: int) -> csr_array:
    """One row per place and wrong symbol: t + (w_k - w_s) . h + b_k - b_s <= 0; columns w_0, b_0, w_1, …, t."""
    places, d = states.shape
    with_bias = np.hstack([states, np.ones((places, 1))])
    place, wrong = np.nonzero(np.arange(symbols) != codes[:, None])
    span = np.arange(d + 1)
    columns = np.hstack(
        [
            codes[place][:, None] * (d + 1) + span,
            wrong[:, None] * (d + 1) + span,
            np.full((len(place), 1), symbols * (d + 1)),
        ]
    )
    values = np.hstack([-with_bias[place], with_bias[place], np.ones((len(place), 1))])
    starts = np.arange(len(place) + 1) * columns.shape[1]
    return csr_array((values.ravel(), columns.ravel(), starts), shape=(len(place), symbols * (d + 1) + 1))

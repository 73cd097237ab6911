"""The affine functions that tell the places of an orbit apart with the largest margin: a linear program."""

from __future__ import annotations

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
    places, d = states.shape
    if symbols == 1:
        return Readout(np.zeros((1, d)), np.zeros(1), np.inf)
    bounds = [*([(-1.0, 1.0)] * d + [(None, None)]) * symbols, (0.0, None)]
    bounds[d] = (0.0, 0.0)  # only differences of biases matter
    cost = np.zeros(len(bounds))
    cost[-1] = -1.0
    A = _comparisons(states, codes, symbols)
    solved = linprog(
        cost, A_ub=A, b_ub=np.zeros(places * (symbols - 1)), bounds=bounds, method="highs", options=_OPTIONS
    )
    if solved.x is None:
        raise EvidenceError(
            f"the linear program of {places} places and {symbols} symbols was not solved: {solved.message}; "
            "use --method cyclic"
        )
    weights = solved.x[:-1].reshape(symbols, d + 1)
    return _readout(states, codes, weights[:, :d], weights[:, d])


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

"""Linear separability of an orbit: readouts with the largest margin, and proofs that there is none.

The readout W_y, b_y with the largest margin is a linear program. Testing thousands of frequency sets that way would be too
slow, so most are first refuted in compiled code: an affine function separates two symbols exactly if no weighted mean of the
states of one is a weighted mean of the states of the other (Gordan's theorem). Phase one of the simplex method searches for
such weights. If it finds them, they are the proof and are checked; if not, the linear program decides.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import final

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array

from memspan.errors import EvidenceError

Array = NDArray[np.float64]
Codes = NDArray[np.int64]

# Smaller margins count as none: rounding errors would accumulate beyond them in long replays.
LEAST_MARGIN = 1e-8
# The defaults of HiGHS (1e-7) are coarser than the least margin.
_OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
# HiGHS checks its time limit only between large steps; programs of up to this size take a few seconds per
# step.
_MOST_COEFFICIENTS = 1_000_000
# Largest difference (summed over coordinates) of two weighted means that count as equal. Weights in [-1, 1] on up to 200
# coordinates, whose bias is at most 400, then lead by at most 4e-9 at every position: less than `LEAST_MARGIN`.
PROOF = 1e-11
# Smaller pivots are rounding errors.
_PIVOT = 1e-10


@final
@dataclass(frozen=True, eq=False)
class Readout:
    """W_y, b_y, and the margin: the smallest lead of the correct symbol over all positions."""

    W_y: Array
    b_y: Array
    margin: float


def widest(states: Array, codes: Codes, symbols: int) -> Readout:
    """max t such that y_i[s_i] - y_i[k] >= t for every position i and k != s_i, y_i = W_y h_i + b_y, |W_y| <= 1.

    Solved by HiGHS. The margin is computed from the returned weights rather than taken from the solver; it is at most 0
    if the symbols are inseparable.
    """
    readout = widest_within(np.inf, states, codes, symbols)
    if readout is None:
        raise EvidenceError(
            f"the linear program of {len(states)} positions and {symbols} symbols was not solved; use --method cyclic"
        )
    return readout


def widest_within(seconds: float, states: Array, codes: Codes, symbols: int) -> Readout | None:
    """`widest` with a time limit; None if HiGHS exceeds it or fails, or if the program is too large to be interrupted."""
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


def one_by_one(seconds: float, states: Array, codes: Codes, symbols: int) -> Readout | None:
    """Separate each symbol from all others, except the most frequent one; None if that is undecided in time.

    The margin is smaller than that of `widest`, but every program has two symbols only. A symbol's score is positive where
    it occurs and negative elsewhere; the score of the excepted symbol is 0 everywhere.
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


def full_readout(states: Array, codes: Codes, symbols: int) -> Readout:
    """The readout of all frequencies together: a symbol's score is 1 where it occurs and 0 elsewhere.

    The coordinates are orthogonal to each other and to the constant, so the weights are projections of the indicators.
    """
    indicators = np.eye(symbols)[codes]
    W_y = indicators.T @ states / (states**2).sum(axis=0)
    return _readout(states, codes, W_y, indicators.mean(axis=0))


def _readout(states: Array, codes: Codes, W_y: Array, b_y: Array) -> Readout:
    """Scale the weights to a largest absolute value of one."""
    scale = np.abs(W_y).max()
    if scale > 0:
        W_y, b_y = W_y / scale, b_y / scale
    return Readout(W_y, b_y, least_lead(states @ W_y.T + b_y, codes))


def least_lead(scores: Array, codes: Codes) -> float:
    """The smallest lead of the correct symbol's score over the best of the others; infinite for a single symbol.

    >>> least_lead(np.array([[3.0, 1.0], [0.0, 0.5]]), np.array([0, 1]))
    0.5
    """
    places = np.arange(len(codes))
    others = scores.copy()
    others[places, codes] = -np.inf
    return float((scores[places, codes] - others.max(axis=1)).min())


def _comparisons(states: Array, codes: Codes, symbols: int) -> csr_array:
    """One row per position and wrong symbol: t + (w_k - w_s) . h + b_k - b_s <= 0; columns w_0, b_0, w_1, …, t."""
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


def refuted(states: Array, codes: Codes, chosen: NDArray[np.int64]) -> NDArray[np.bool_]:
    """For each row of `chosen`, columns of `states`: True if two symbols are provably inseparable in these coordinates.

    `states` is (positions, coordinates), `codes` the symbol of each position. False decides nothing.
    """
    pairs = _pairs(codes)
    if len(pairs) == 0:
        return np.zeros(len(chosen), dtype=np.bool_)
    return _refuted(states, codes, pairs, chosen)


def _pairs(codes: Codes) -> NDArray[np.int64]:
    """Pairs of symbols that each occur at least twice, the most frequent first.

    A symbol that occurs once is always separable: the states lie on a sphere, so each is a vertex of their hull.
    """
    counts = np.bincount(codes)
    frequent = sorted(np.flatnonzero(counts > 1), key=lambda code: -counts[code])
    pairs = [(a, b) for place, b in enumerate(frequent) for a in frequent[:place]]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


@numba.njit(nogil=True, cache=True)
def _means_meet(points, tableau, basis):  # pragma: no cover - compiled
    """Whether non-negative weights of sum 1 bring the rows of `points` to a mean of zero; False also if undecided."""
    p, m = points.shape
    # Phase one of the simplex method. Columns are the points and the right-hand side; rows are the m coordinates, the sum of
    # the weights (with point 0 in the basis from the start), and the objective, the sum of the artificial variables.
    for r in range(m):
        first = points[0, r]
        sign = -1.0 if first > 0 else 1.0
        for i in range(p):
            tableau[r, i] = sign * (points[i, r] - first)
        tableau[r, p] = -sign * first
        basis[r] = -1
    basis[m] = 0
    tableau[m, :] = 1.0
    for i in range(p + 1):
        total = 0.0
        for r in range(m):
            total += tableau[r, i]
        tableau[m + 1, i] = total
    for step in range(40 * (m + 2)):
        if tableau[m + 1, p] < PROOF / 4:
            return _proves(points, tableau, basis)
        enters = -1
        steepest = _PIVOT
        for i in range(p):
            if tableau[m + 1, i] > steepest:
                enters = i
                if step >= 10 * (m + 2):
                    break  # Bland's rule cannot cycle
                steepest = tableau[m + 1, i]
        if enters < 0:
            return False
        leaves = -1
        nearest = np.inf
        for r in range(m + 1):
            if tableau[r, enters] > _PIVOT and tableau[r, p] / tableau[r, enters] < nearest:
                nearest = tableau[r, p] / tableau[r, enters]
                leaves = r
        if leaves < 0:
            return False
        _pivot(tableau, leaves, enters)
        basis[leaves] = enters
    return False


@numba.njit(nogil=True, cache=True)
def _pivot(tableau, row, column):  # pragma: no cover - compiled
    rows, width = tableau.shape
    scale = 1.0 / tableau[row, column]
    for i in range(width):
        tableau[row, i] *= scale
    for r in range(rows):
        factor = tableau[r, column]
        if r != row and factor != 0.0:
            for i in range(width):
                tableau[r, i] -= factor * tableau[row, i]


@numba.njit(nogil=True, cache=True)
def _proves(points, tableau, basis):  # pragma: no cover - compiled
    """Check the weights on the points themselves: the tableau has rounding errors, the proof must not."""
    p, m = points.shape
    total = 0.0
    for r in range(m + 1):
        if basis[r] >= 0:
            total += max(tableau[r, p], 0.0)
    if total < 0.5:
        return False
    difference = 0.0
    for c in range(m):
        mean = 0.0
        for r in range(m + 1):
            if basis[r] >= 0:
                mean += max(tableau[r, p], 0.0) * points[basis[r], c]
        difference += abs(mean)
    return difference <= PROOF * total


@numba.njit(nogil=True, cache=True)
def _refuted(states, codes, pairs, chosen):  # pragma: no cover - compiled
    """For each row of `chosen` (columns of `states`): whether some pair of symbols is inseparable."""
    p, (sets, width) = len(codes), chosen.shape
    points = np.empty((p, width + 1))
    tableau = np.empty((width + 3, p + 1))
    basis = np.empty(width + 2, np.int64)
    out = np.zeros(sets, np.bool_)
    last = 0
    for s in range(sets):
        for k in range(len(pairs)):
            # The pair that refuted the previous set is the most likely to refute this one.
            pair = last if k == 0 else (k - 1 if k <= last else k)
            places = 0
            for i in range(p):
                if codes[i] != pairs[pair, 0] and codes[i] != pairs[pair, 1]:
                    continue
                sign = 1.0 if codes[i] == pairs[pair, 0] else -1.0
                for c in range(width):
                    points[places, c] = sign * states[i, chosen[s, c]]
                points[places, width] = sign
                places += 1
            if _means_meet(points[:places], tableau[:, : places + 1], basis):
                out[s] = True
                last = pair
                break
    return out

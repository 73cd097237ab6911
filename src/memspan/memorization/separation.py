"""Which sets of frequencies cannot tell two symbols apart: refuted by the thousand, in compiled code.

Two symbols a and b can be told apart by an affine function of the state exactly if no weighted mean of a's states is a
weighted mean of b's (Gordan's theorem). Such weights are looked for by the simplex method, phase one; where they are
found they are the proof, and are checked. Where they are not, a linear program decides (`margin.py`).
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

PROOF = 1e-11
"""By how much two weighted means may differ (sum over coordinates) and still count as equal. Weights in [-1, 1] on up to
200 coordinates, whose bias is then 400 at most, can lead by no more than 4e-9 at every place: too little for
`margin.LEAST`."""
_PIVOT = 1e-10
"""Smaller pivots are rounding errors."""


@numba.njit(nogil=True, cache=True)
def _means_meet(points, tableau, basis):  # pragma: no cover - compiled
    """Whether weights >= 0 of sum 1 bring the rows of `points` to a mean of zero. False also where unsure."""
    p, m = points.shape
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
            return _checked(points, tableau, basis)
        enters = -1
        steepest = _PIVOT
        for i in range(p):
            if tableau[m + 1, i] > steepest:
                enters = i
                if step >= 10 * (m + 2):
                    break  # Bland's rule cannot go round in circles
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
def _checked(points, tableau, basis):  # pragma: no cover - compiled
    """The weights found, tried on the points themselves: the tableau has rounding errors, the proof must not."""
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
    """For each row of `chosen` (columns of `states`): whether some pair of symbols cannot be told apart."""
    p, (sets, width) = len(codes), chosen.shape
    points = np.empty((p, width + 1))
    tableau = np.empty((width + 3, p + 1))
    basis = np.empty(width + 2, np.int64)
    out = np.zeros(sets, np.bool_)
    last = 0
    for s in range(sets):
        for k in range(len(pairs)):
            # The pair that refuted the set before is the likeliest to refute this one.
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


def refuted(
    states: NDArray[np.float64], codes: NDArray[np.int64], chosen: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """For each row of `chosen`, columns of `states`: True where two symbols surely cannot be told apart by them.

    `states` is (places, coordinates), `codes` the symbol of each place. False decides nothing.
    """
    pairs = _pairs(codes)
    if len(pairs) == 0:
        return np.zeros(len(chosen), dtype=np.bool_)
    return _refuted(states, codes, pairs, chosen)


def _pairs(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Pairs of symbols that occur twice each or more, the most frequent first.

    A symbol that occurs once can always be told apart: the states lie on a sphere, so each is a corner of their hull.
    """
    counts = np.bincount(codes)
    frequent = sorted(np.flatnonzero(counts > 1), key=lambda code: -counts[code])
    pairs = [(a, b) for place, b in enumerate(frequent) for a in frequent[:place]]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)

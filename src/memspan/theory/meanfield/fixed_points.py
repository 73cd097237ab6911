"""Fixed points of the variance and of the correlation of two copies of a network.

Fixed points of the variance are roots of drive + sigma_w^2 Q(q) - q, located by a scan and refined by Newton's method. The
map of the covariance p of two copies is written in terms of the gap Q - p, so that nothing cancels for nearly equal copies.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memspan.errors import EvidenceError, InputError
from memspan.theory.meanfield.activations import Activation, Array
from memspan.theory.meanfield.parameters import Parameters

# Nodes of the scan: coarse for grids of many points, fine for the branches of a single point.
_SCAN, _FINE_SCAN = 160, 1000
# How often, and with how many values, the neighborhood of a turning point is refined.
_ZOOMS, _FAN = 5, 17
# Rounding makes flat curves turn often; only the first turning points are refined.
_MOST_TURNS = 8
# A minimum above this share of its neighbors cannot hide a root between two nodes.
_NEAR_MISS = 0.2
# Points whose scans (rows x nodes) are in memory at a time: 2.6 MB.
_ROWS = 2048
# Enough for pure bisection to reach double precision.
_NEWTON_STEPS = 60
# Start of the scan relative to the largest q, for a network without any drive.
_SMALLEST = 1e-8
# Variances beyond this count as divergence.
_LARGEST = 1e9
# Relative steps at which the iteration stops: the error of Newton's method is about the square of its last step.
_NEWTON_CLOSE, _BISECTION_CLOSE = 1e-9, 1e-15
_MOST_GAP_STEPS = 200
# Relative to Q.
_GAP_RESOLUTION = 1e-13


class VarianceMap(Protocol):
    """The part of a field that determines the fixed points of its variance."""

    @property
    def gate(self) -> Activation: ...

    def scale(self, parameters: Parameters) -> Array: ...

    def share(self, q: Array, mean: Array) -> tuple[Array, Array]: ...


def first_root(field: VarianceMap, parameters: Parameters) -> tuple[Array, NDArray[np.int64]]:
    """The smallest fixed point of q at every point, and the number of stable fixed points.

    Below the smallest fixed point the variance grows, so a network that starts at h = 0 converges to it (or starts near
    h = 0, if it has no drive).
    """
    nodes = _scan_nodes(field, parameters, _SCAN)
    low, high, guess = (np.empty(parameters.size) for _ in range(3))
    stable = np.empty(parameters.size, np.int64)
    table, row = _table(field, parameters.mean, nodes)
    for start in range(0, parameters.size, _ROWS):
        rows = slice(start, start + _ROWS)
        some = parameters.select(rows)
        excess = some.drive[:, None] + (some.w2 * field.scale(some))[:, None] * table[row[rows]] - nodes
        # A fixed point is stable where the excess falls through zero.
        falls = (excess[:, :-1] > 0) & (excess[:, 1:] <= 0)
        first = np.argmax(falls, axis=1)
        # Without drive q = 0 is a fixed point, below the first node.
        zero = excess[:, 0] <= 0
        low[rows] = np.where(zero, 0.0, nodes[first])
        high[rows] = np.where(zero, nodes[0], nodes[first + 1])
        guess[rows] = np.where(zero, 0.0, _chord(nodes, excess, first))
        stable[rows] = falls.sum(axis=1) + zero
        for point, below, above in _dips(field, some, nodes, excess, first):
            at = start + point
            low[at], high[at], guess[at] = below, above, (below + above) / 2
            stable[at] += 1
    return _refine(field, parameters, low, high, guess, rising=False), stable


def _dips(
    field: VarianceMap, parameters: Parameters, nodes: Array, excess: Array, first: NDArray[np.intp]
) -> Iterator[tuple[int, float, float]]:
    """Points whose excess dips to zero between two nodes, before the first sign change that the scan detected.

    Such pairs of fixed points lie close together near a fold, where a stable branch begins or ends.
    """
    here = excess[:, 1:-1]
    lowest = (
        (here <= excess[:, :-2]) & (here < excess[:, 2:]) & (here > 0) & (np.arange(1, nodes.size - 1) < first[:, None])
    )
    for point, left in np.argwhere(lowest):
        before, at, after = excess[point, left : left + 3]
        bottom = at - (after - before) ** 2 / (8 * (after - 2 * at + before))
        # The parabola through three nodes is accurate to a few percent of its height; only near misses are worth refining.
        if bottom > _NEAR_MISS * max(before, after):
            continue
        one, fan = parameters.select([point]), nodes[left : left + 3]
        for _ in range(_ZOOMS):
            fan = np.linspace(fan[0], fan[-1], _FAN)
            values = _excess(field, one.repeated(_FAN), fan)[0]
            deepest = int(np.argmin(values))
            if values[deepest] <= 0:
                found = int(np.argmax(values <= 0))
                yield int(point), float(fan[max(found - 1, 0)]), float(fan[found])
                break
            fan = fan[max(deepest - 1, 0) : deepest + 2]


def all_roots(field: VarianceMap, parameters: Parameters) -> Array:
    """Every fixed point of q at a single point, ascending."""
    nodes = _scan_nodes(field, parameters, _FINE_SCAN)
    nodes = np.unique(np.append(nodes, 0.0)) if parameters.drive[0] == 0 else nodes
    for _ in range(_ZOOMS):
        excess = _excess(field, parameters.repeated(nodes.size), nodes)[0]
        turns = np.flatnonzero(np.diff(np.sign(np.diff(excess)))) + 1
        fans = [np.linspace(nodes[i - 1], nodes[i + 1], _FAN) for i in turns[:_MOST_TURNS]]
        nodes = np.unique(np.concatenate([nodes, *fans]))
    excess = _excess(field, parameters.repeated(nodes.size), nodes)[0]
    exact = nodes[excess == 0]
    found = []
    for i in np.flatnonzero(excess[:-1] * excess[1:] < 0):
        guess = _chord(nodes, excess[None], np.array([i]))
        rising = bool(excess[i] < 0)
        found.append(_refine(field, parameters, nodes[[i]], nodes[[i + 1]], guess, rising=rising))
    return np.unique(np.concatenate([exact, *found]))


def _chord(nodes: Array, excess: Array, first: NDArray[np.intp]) -> Array:
    """Zero of the straight line between two nodes."""
    rows = np.arange(first.size)
    left, right = excess[rows, first], excess[rows, first + 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.nan_to_num(left / (left - right), nan=0.5)
    return nodes[first] + np.clip(share, 0.0, 1.0) * (nodes[first + 1] - nodes[first])


def _scan_nodes(field: VarianceMap, parameters: Parameters, count: int) -> Array:
    drive, reach = parameters.drive, parameters.w2 * field.scale(parameters)
    # The margins keep roots at the very ends of the range inside the scan.
    highest = float(np.max(drive + reach)) * 1.0001 + 1e-12
    if not np.isfinite(field.gate.bound):
        highest = _upper_bound(field, parameters)
    lowest = max(float(np.min(drive)) * 0.9999, _SMALLEST * highest)
    return np.geomspace(lowest, highest, count)


def _upper_bound(field: VarianceMap, parameters: Parameters) -> float:
    """A q above all fixed points of an unbounded activation; raises InputError if there is none."""
    highest = max(1.0, float(np.max(parameters.drive)))
    while highest < _LARGEST:
        q = np.full(parameters.size, highest)
        share = field.share(q, parameters.mean)[0]
        if np.all(parameters.drive + parameters.w2 * field.scale(parameters) * share < q):
            return highest
        highest *= 4
    worst = float(np.sqrt(parameters.w2.max()))
    raise InputError(
        f"the variance grows without bound at sigma_w = {worst:g} with an unbounded activation; expected sigma_w below 1"
    )


def _table(field: VarianceMap, mean: Array, nodes: Array) -> tuple[Array, NDArray[np.intp]]:
    """The share at every node for each distinct bias mean, and the row of each point."""
    # In a phase diagram most points share their bias mean, so the table is small.
    means, row = np.unique(mean, return_inverse=True)
    q, repeated = np.tile(nodes, means.size), np.repeat(means, nodes.size)
    return field.share(q, repeated)[0].reshape(means.size, nodes.size), row


def _refine(
    field: VarianceMap, parameters: Parameters, low: Array, high: Array, guess: Array, *, rising: bool
) -> Array:
    """Newton's method inside [low, high], with bisection where it would leave the bracket; converged points stop."""
    q, left = guess.copy(), np.arange(guess.size)
    for _ in range(_NEWTON_STEPS):
        here = q[left]
        excess, slope = _excess(field, parameters.select(left), here)
        # The side of the root follows from the sign of the excess and from whether it rises there.
        above = (excess > 0) != rising
        low[left], high[left] = np.where(above, here, low[left]), np.where(above, high[left], here)
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = here - excess / slope
        # A Newton step outside the bracket is replaced by bisection.
        inside = np.isfinite(newton) & (newton >= low[left]) & (newton <= high[left])
        q[left] = np.where(inside, newton, (low[left] + high[left]) / 2)
        close = np.where(inside, _NEWTON_CLOSE, _BISECTION_CLOSE) * here
        left = left[np.abs(q[left] - here) > close]
        if not left.size:
            break
    return q


def _excess(field: VarianceMap, parameters: Parameters, q: Array) -> tuple[Array, Array]:
    """drive + sigma_w^2 Q(q) - q and its derivative."""
    share, slope = field.share(q, parameters.mean)
    reach = parameters.w2 * field.scale(parameters)
    return parameters.drive + reach * share - q, reach * slope - 1


class CorrelationMap(Protocol):
    """The map of the gap Q - p for many points at once; `correlation` is that of the inputs."""

    @property
    def Q(self) -> Array:
        """The second moment, which is the gap of uncorrelated states."""
        ...

    def distance(self, gap: Array, correlation: float) -> Array:
        """1 - c of the pre-activations."""
        ...

    def next(self, gap: Array, correlation: float) -> Array:
        """The gap after one step."""
        ...

    def slope(self, gap: Array, correlation: float) -> Array:
        """d next / d gap = chi."""
        ...

    def error(self, gap: Array, correlation: float) -> Array:
        """Bound on the error of chi from the tail of the series."""
        ...


def stable_gap(step: CorrelationMap, correlation: float) -> Array:
    """The stable fixed point of the gap.

    For input correlations >= 0 the map p -> p_next is a power series with positive coefficients. It is convex, and Newton's
    iteration from p = 0 rises to the smallest fixed point, which is the stable one. For negative correlations p may have
    either sign, because biases are shared. A bracket protects the iteration in both cases.
    """
    low = np.zeros_like(step.Q)
    # The gap Q - p is at most Q for p >= 0, and at most 2 Q for any p.
    high = 2 * step.Q if correlation < 0 else step.Q.copy()
    gap = step.Q.copy()
    tolerance = _GAP_RESOLUTION * np.maximum(step.Q, 1e-300)
    for _ in range(_MOST_GAP_STEPS):
        excess = step.next(gap, correlation) - gap
        # The fixed point lies above the present gap if the next gap is larger.
        low, high = np.where(excess > 0, gap, low), np.where(excess > 0, high, gap)
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = gap - excess / (step.slope(gap, correlation) - 1)
        inside = np.isfinite(newton) & (newton >= low) & (newton <= high)
        moved = np.where(excess == 0, gap, np.where(inside, newton, (low + high) / 2))
        done = np.abs(moved - gap) <= tolerance
        gap = moved
        if done.all():
            break
    if np.max(np.abs(step.next(gap, correlation) - gap) / np.maximum(step.Q, 1e-300)) < 1e-9:
        return gap
    raise EvidenceError(
        "the fixed point of the correlation did not converge; expected nine digits; change the parameters slightly"
    )


def input_distance(parameters: Parameters, q: Array, gap: Array, correlation: float) -> Array:
    """1 - c = (sigma_w^2 (Q - p) + sigma_v^2 R (1 - Sigma)) / q, clipped to [0, 2]; 0 if nothing varies."""
    apart = parameters.w2 * gap + parameters.v2 * parameters.R * (1 - correlation)
    return np.clip(np.where(q > 0, apart / np.where(q > 0, q, 1.0), 0.0), 0.0, 2.0)

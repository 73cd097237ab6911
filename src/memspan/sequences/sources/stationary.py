"""Transition matrices: what makes one, and the law that it leaves unchanged."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memspan.errors import InputError

ROW_SUM_ERROR = 1e-9
"""Rows may miss one by this much (numbers printed with ten digits); they are then scaled to sum to one."""


def checked_probabilities(values: ArrayLike, what: str) -> NDArray[np.float64]:
    """A copy whose last axis sums to one, read-only; refused if it is no probability."""
    p = np.array(values, dtype=np.float64)
    if p.ndim == 0 or p.size == 0 or not np.all(np.isfinite(p)) or np.any(p < 0.0):
        raise InputError(f"{what} has an entry that is negative or no number; expected probabilities")
    total = p.sum(axis=-1, keepdims=True)
    if np.any(np.abs(total - 1.0) > ROW_SUM_ERROR):
        worst = total.flat[int(np.argmax(np.abs(total - 1.0)))]
        raise InputError(f"{what} sums to {worst:.10g}; expected 1 (each row, if it has rows)")
    p /= total
    p.setflags(write=False)
    return p


def checked_transition(values: ArrayLike) -> NDArray[np.float64]:
    """P[s, s'] = p(s' | s), square, each row summing to one, every state reachable from every other."""
    p = checked_probabilities(values, "the transition matrix")
    if p.ndim != 2 or p.shape[0] != p.shape[1] or len(p) < 2:
        raise InputError(f"the transition matrix has shape {p.shape}; expected two or more states, square")
    stationary(p)
    return p


def stationary(transition: NDArray[np.float64]) -> NDArray[np.float64]:
    """pi = pi P, by eliminating one state after the other (Grassmann, Taksar and Heyman 1985).

    It subtracts nothing, so small probabilities keep all their digits; and it meets a zero exactly where some
    state cannot reach, or be reached from, another: such a chain has no single stationary law and is refused.

    >>> stationary(np.array([[0.9, 0.1], [0.3, 0.7]])).round(6).tolist()
    [0.75, 0.25]
    """
    a = np.array(transition, dtype=np.float64)
    for n in range(len(a) - 1, 0, -1):
        leaving = a[n, :n].sum()
        if leaving <= 0.0:
            raise InputError(_REDUCIBLE)
        a[:n, n] /= leaving
        a[:n, :n] += np.outer(a[:n, n], a[n, :n])
    pi = np.ones(len(a))
    for n in range(1, len(a)):
        pi[n] = pi[:n] @ a[:n, n]
    if np.any(pi <= 0.0):
        raise InputError(_REDUCIBLE)
    return pi / pi.sum()


_REDUCIBLE = (
    "the transition matrix is reducible (some state cannot be reached from another); "
    "expected one class of states: give each class its own source"
)

"""Sparse attention: patterns of attended states, and the number of Jacobian factors between two steps.

An attention pattern is a sequence of index sets: `pattern[k - 1]` is A_k, the subset of 1, …, k that step k attends to, each
with weight 1 / |A_k|. Time counts from 1, as in Kerg 2020.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from memspan.errors import InputError

Pattern = Sequence[Collection[int]]


def dependency_depth(pattern: Pattern, t: int, T: int) -> int:
    """The smallest number of Jacobians dh_{j+1}/ds_j on any path of the gradient from s_T back to h_t.

    Kerg 2020, section 3.1. s_k reads h_k and the states of A_k for free; h_{j+1} reads s_j through one Jacobian. So this
    is a shortest path, found by breadth-first search from s_T: level d is the set of summaries s_k that are d Jacobians
    away. The plain recurrence needs T - t, and no pattern needs more.

    Step 9 attends to state 6, and step 5 (which produced 6) to state 2:

    >>> pattern = [{k} for k in range(1, 10)]
    >>> dependency_depth(pattern, 2, 9)
    7
    >>> pattern[9 - 1], pattern[5 - 1] = {6}, {2}
    >>> dependency_depth(pattern, 2, 9)
    1
    """
    sets = checked_pattern(pattern)
    if not 1 <= t <= T <= len(sets):
        raise InputError(f"t = {t}, T = {T}; expected 1 <= t <= T <= {len(sets)}, the steps of the pattern")
    depth, summaries = 0, {T}
    while True:
        states = {j for k in summaries for j in sets[k - 1] | {k}}
        if t in states:
            return depth
        depth, summaries = depth + 1, {j - 1 for j in states if j > t}


def sparse_attention_bound(eigenvalue: complex, kappa: int, depth: int) -> float:
    """|ds_T/dh_t| >= lambda^d / kappa^(d+1), for a positive real eigenvalue lambda <= 1 of a normal V.

    Kerg 2020, Theorem 2 as a number (errata 11). With at most kappa attended states of equal weight and a linear
    recurrence, every path contributes a non-negative term, and the shortest, with d Jacobians, has d + 1 weights of at
    least 1 / kappa. The printed kappa^-d omits lambda^d and one weight, which is correct as an order of growth for
    constant kappa and d, but not as a number.

    >>> sparse_attention_bound(0.5, kappa=2, depth=3)
    0.0078125
    """
    value = complex(eigenvalue)
    if value.imag != 0 or not 0 < value.real <= 1:
        raise InputError(f"eigenvalue {eigenvalue}; expected a positive real one of at most 1 for this bound")
    if kappa < 1 or depth < 0:
        raise InputError(f"kappa {kappa}, depth {depth}; expected kappa >= 1 attended states and depth >= 0")
    return (value.real / kappa) ** depth / kappa


def printed_sparse_bound(kappa: int, depth: int) -> float:
    """kappa^-d, Theorem 2 as printed in Kerg 2020 (Eq. 5); violated as a number (errata 11)."""
    return float(kappa) ** -depth


def sparsity(pattern: Pattern) -> int:
    """kappa, the largest number of states that any step attends to."""
    return max(len(states) for states in checked_pattern(pattern))


def random_pattern(
    steps: int, kappa: int, *, window: int | None = None, seed: int | np.random.Generator
) -> tuple[frozenset[int], ...]:
    """A_k: `kappa` random states of the last `window` (default all); all of them where fewer exist.

    >>> [len(states) for states in random_pattern(5, 3, seed=0)]
    [1, 2, 3, 3, 3]
    >>> min(random_pattern(100, 2, window=10, seed=0)[-1]) > 90
    True
    """
    if steps < 1 or kappa < 1 or (window is not None and window < 1):
        raise InputError(f"{steps} steps, kappa {kappa}, window {window}; expected at least one of each")
    rng = np.random.default_rng(seed)
    sets: list[frozenset[int]] = []
    for k in range(1, steps + 1):
        reachable = min(k, window or k)
        back = rng.choice(reachable, size=min(reachable, kappa), replace=False)
        sets.append(frozenset((k - back).tolist()))
    return tuple(sets)


def checked_pattern(pattern: Pattern) -> tuple[frozenset[int], ...]:
    """The pattern as frozen sets; raises InputError unless every step attends to at least one state and to no future one."""
    if not len(pattern):
        raise InputError("an attention pattern without steps; expected one set of states for every step")
    sets = tuple(frozenset(states) for states in pattern)
    for k, states in enumerate(sets, start=1):
        if not states or min(states) < 1 or max(states) > k:
            raise InputError(f"step {k} attends to {sorted(states)}; expected some of the states 1 to {k}")
    return sets

"""Dependency depth against an enumeration of paths, and Theorem 2's bound against the gradient."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memspan.errors import InputError
from memspan.theory.attention import (
    AttentiveRNN,
    SparseAlignment,
    dependency_depth,
    printed_sparse_bound,
    random_pattern,
    sparse_attention_bound,
    sparsity,
)
from memspan.theory.meanfield.activations import Identity

ROUNDING = 1e-9


def gradient(pattern: tuple[frozenset[int], ...], eigenvalue: float, t: int) -> float:
    network = AttentiveRNN(
        np.array([[eigenvalue]]), np.zeros((1, 1)), np.zeros(1), SparseAlignment(pattern), Identity()
    )
    return float(network.run(np.zeros((len(pattern) - 1, 1)), np.ones(1)).gradient(t, len(pattern))[0, 0])


def depth_by_chains(pattern: tuple[frozenset[int], ...], t: int, T: int) -> int:
    """The smallest s for which some chain 0 <= i_1 < … < i_s < T - t has no zero factor (Eq. 287)."""

    def reads(summary: int, state: int) -> bool:
        return state == summary or state in pattern[summary - 1]

    for depth in range(T - t + 1):
        for chain in combinations(range(t, T), depth):
            stops = [*chain, T]
            links = pairwise(stops)
            if reads(stops[0], t) and all(reads(after, before + 1) for before, after in links):
                return depth
    raise AssertionError("the recurrence joins all steps")


@pytest.mark.parametrize("seed", range(12))
def test_the_depth_is_that_of_the_shortest_chain(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pattern = random_pattern(9, int(rng.integers(1, 4)), window=[None, 3][seed % 2], seed=rng)
    for t in range(1, 10):
        assert dependency_depth(pattern, t, 9) == depth_by_chains(pattern, t, 9)


def test_without_attention_to_the_past_the_depth_is_the_distance() -> None:
    pattern = [{k} for k in range(1, 31)]
    assert [dependency_depth(pattern, t, 30) for t in (30, 29, 10, 1)] == [0, 1, 20, 29]


def test_a_direct_look_back_has_depth_zero() -> None:
    pattern = [{k} for k in range(1, 30)] + [{4}]
    assert dependency_depth(pattern, 4, 30) == 0


@settings(max_examples=60, deadline=None)
@given(
    steps=st.integers(2, 25),
    kappa=st.integers(1, 5),
    eigenvalue=st.floats(0.01, 1.0),
    window=st.sampled_from([None, 3, 6]),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_gradient_is_never_below_the_bound(
    steps: int, kappa: int, eigenvalue: float, window: int | None, seed: int
) -> None:
    pattern = random_pattern(steps, kappa, window=window, seed=seed)
    t = 1 + seed % steps
    bound = sparse_attention_bound(eigenvalue, sparsity(pattern), dependency_depth(pattern, t, steps))
    assert gradient(pattern, eigenvalue, t) >= bound * (1 - ROUNDING)


def test_the_bound_can_be_met() -> None:
    """One path, two weights of 1/2: all but that path is worth lambda^2 or less of it."""
    pattern = tuple(frozenset(s) for s in ({1}, {1, 2}, {1, 3}, {1, 4}, {1, 2}, {1, 6}, {1, 7}, {1, 8}, {1, 6}))
    assert dependency_depth(pattern, 2, 9) == 1
    assert gradient(pattern, 0.01, 2) == pytest.approx(sparse_attention_bound(0.01, 2, 1), rel=0.05)


def test_the_printed_bound_is_violated() -> None:
    """Erratum 11: lambda = 0.1, kappa = 2, d = 1 passes on 0.029, not 0.5."""
    early = ({1}, {1, 2}, {1, 3}, {1, 2})
    pattern = tuple(frozenset(states) for states in (*early, *([{1, 5}] * 36)))
    assert (sparsity(pattern), dependency_depth(pattern, 2, 40)) == (2, 1)
    assert gradient(pattern, 0.1, 2) == pytest.approx(0.029, abs=5e-5)
    assert printed_sparse_bound(2, 1) == 0.5
    assert sparse_attention_bound(0.1, 2, 1) == pytest.approx(0.025)


def test_a_bound_too_small_for_a_float_is_zero() -> None:
    assert sparse_attention_bound(0.1, 1_000, 1_000) == 0.0


@pytest.mark.parametrize(
    ("eigenvalue", "kappa", "depth", "message"),
    [
        (0.0, 2, 1, "positive real"),
        (-0.5, 2, 1, "positive real"),
        (1.1, 2, 1, "positive real"),
        (0.5 + 0.1j, 2, 1, "positive real"),
        (np.nan, 2, 1, "positive real"),
        (0.5, 0, 1, "kappa >= 1"),
        (0.5, 2, -1, "depth >= 0"),
    ],
)
def test_what_the_bound_does_not_cover_is_refused(eigenvalue: complex, kappa: int, depth: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        sparse_attention_bound(eigenvalue, kappa, depth)


@pytest.mark.parametrize("pattern", [[], [{1}, set()], [{1}, {3}], [{0}]])
def test_patterns_that_look_nowhere_or_ahead_are_refused(pattern: list[set[int]]) -> None:
    with pytest.raises(InputError):
        dependency_depth(pattern, 1, 1)


@pytest.mark.parametrize(("t", "T"), [(0, 2), (2, 1), (1, 4)])
def test_steps_outside_the_pattern_are_refused(t: int, T: int) -> None:
    with pytest.raises(InputError, match="1 <= t <= T <= 3"):
        dependency_depth([{1}, {2}, {3}], t, T)


def test_random_patterns_need_a_step_and_a_state() -> None:
    for steps, kappa, window in ((0, 1, None), (1, 0, None), (1, 1, 0)):
        with pytest.raises(InputError, match="at least one of each"):
            random_pattern(steps, kappa, window=window, seed=0)

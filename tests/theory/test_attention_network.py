"""The recursion of Proposition 1 against differences, a plain loop and an enumeration of every chain."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.theory.attention import (
    Additive,
    Alignment,
    AttentiveRNN,
    AttentiveRun,
    SparseAlignment,
    UniformAlignment,
    random_pattern,
)
from memspan.theory.meanfield.activations import Activation, Identity, Tanh

Array = NDArray[np.float64]
UNITS, INPUTS, STEPS = 3, 2, 9
STEP = 1e-5
DIFFERENCES = 1e-6
"""Relative to the largest entry; central differences with this step are good to about 1e-8 here."""
ROUNDING = 1e-12
TANH = Tanh()


def alignment_of(kind: str, rng: np.random.Generator) -> Alignment:
    W_a, U_a = rng.normal(size=(2, 4, UNITS))
    if kind == "additive":
        return Additive(W_a, U_a, 2 * rng.normal(size=4))
    if kind == "keys":
        return Additive(0 * W_a, U_a, 2 * rng.normal(size=4))
    return UniformAlignment() if kind == "uniform" else SparseAlignment(random_pattern(STEPS, 2, seed=rng))


def run_of(kind: str, seed: int = 0, *, gain: float = 0.7, activation: Activation = TANH) -> AttentiveRun:
    rng = np.random.default_rng(seed)
    V, U, b = gain * rng.normal(size=(UNITS, UNITS)), rng.normal(size=(UNITS, INPUTS)), rng.normal(size=UNITS)
    network = AttentiveRNN(V, U, 0.1 * b, alignment_of(kind, rng), activation)
    return network.run(rng.normal(size=(STEPS - 1, INPUTS)), np.tanh(rng.normal(size=UNITS)))


def plain_summary(run: AttentiveRun, t: int, h_t: Array, T: int) -> Array:
    """s_T with h_t put in, written out with lists: an oracle for the forward pass (additive scores, tanh)."""
    network, scores = run.network, run.network.alignment
    assert isinstance(scores, Additive)
    h, s = [*run.states[: t - 1], h_t], list(run.summaries[: t - 1])
    for k in range(t, T + 1):
        if k > t:
            h.append(np.tanh(network.V @ s[-1] + network.U @ run.inputs[k - 2] + network.b))
        before = s[-1] if s else np.zeros(UNITS)
        e = [np.exp(scores.v_a @ np.tanh(scores.W_a @ before + scores.U_a @ state)) for state in h]
        s.append(h[-1] + sum(weight * state for weight, state in zip(e, h, strict=True)) / sum(e))
    return s[-1]


@pytest.mark.parametrize(("t", "T"), [(1, 1), (1, 2), (1, STEPS), (4, 4), (4, 7), (8, STEPS)])
def test_the_gradient_is_that_of_central_differences(t: int, T: int) -> None:
    run = run_of("additive")
    columns = [
        (plain_summary(run, t, run.states[t - 1] + e, T) - plain_summary(run, t, run.states[t - 1] - e, T)) / (2 * STEP)
        for e in STEP * np.eye(UNITS)
    ]
    gradient = run.gradient(t, T)
    assert np.abs(gradient - np.stack(columns, axis=1)).max() <= DIFFERENCES * np.abs(gradient).max()


@pytest.mark.parametrize("kind", ["additive", "keys", "uniform", "sparse"])
@pytest.mark.parametrize("activation", [TANH, Identity()])
def test_the_gradient_is_right_for_every_alignment(kind: str, activation: Activation) -> None:
    run = run_of(kind, activation=activation)
    gradient, h = run.gradient(2, STEPS), run.states[1]
    for unit, e in enumerate(STEP * np.eye(UNITS)):
        column = (run.replaced(2, h + e).summaries[-1] - run.replaced(2, h - e).summaries[-1]) / (2 * STEP)
        assert np.abs(gradient[:, unit] - column).max() <= DIFFERENCES * np.abs(gradient).max()


def test_the_forward_pass_is_the_equations_written_plainly() -> None:
    run = run_of("additive")
    assert run.summaries[-1] == pytest.approx(plain_summary(run, 1, run.states[0], STEPS), rel=ROUNDING)
    assert run.weights.sum(axis=1) == pytest.approx(np.ones(STEPS), rel=ROUNDING)
    assert not np.triu(run.weights, 1).any()


def chains_of(run: AttentiveRun, t: int, k: int, depth: int) -> Array:
    """The sum over 0 <= i_1 < … < i_s < k of F_{k,i_s} … F_{i_2,i_1} E_{i_1}, chain by chain."""
    factors = list(run._factors(t, t + k))
    total = np.zeros((UNITS, UNITS))
    for chain in combinations(range(k), depth):
        stops = [*chain, k]
        product = factors[stops[0]][0]
        for before, after in pairwise(stops):
            product = factors[after][1][before] @ product
        total += product
    return total


@pytest.mark.parametrize("kind", ["additive", "sparse"])
@pytest.mark.parametrize(("t", "k"), [(1, 0), (1, 1), (3, 5), (1, 7)])
def test_each_part_is_the_sum_over_all_chains_of_its_length(kind: str, t: int, k: int) -> None:
    run = run_of(kind)
    parts = run.gradient_by_depth(t, t + k)
    assert len(parts) == k + 1
    for depth, part in enumerate(parts):
        assert part == pytest.approx(chains_of(run, t, k, depth), rel=1e-9, abs=ROUNDING)


@pytest.mark.parametrize("kind", ["additive", "keys", "uniform", "sparse"])
def test_the_parts_sum_to_the_gradient(kind: str) -> None:
    run = run_of(kind, seed=1)
    assert run.gradient_by_depth(2, STEPS).sum(axis=0) == pytest.approx(run.gradient(2, STEPS), rel=1e-9, abs=ROUNDING)


def test_factors_are_jacobians_where_the_scores_ignore_the_summary() -> None:
    """V enters once for every Jacobian: twice the V at the same states gives 2^s times the part of s factors."""
    run = run_of("keys")
    network = run.network
    doubled = AttentiveRun(
        AttentiveRNN(2 * network.V, network.U, network.b, network.alignment),
        run.inputs,
        run.states,
        run.summaries,
        run.weights,
        run.slopes,
    )
    powers = 2.0 ** np.arange(STEPS)[:, None, None]
    expected = powers * run.gradient_by_depth(1, STEPS)
    assert doubled.gradient_by_depth(1, STEPS) == pytest.approx(expected, rel=1e-9, abs=ROUNDING)


def test_without_recurrent_weights_only_scores_that_read_the_summary_leave_indirect_paths() -> None:
    """Erratum 11: with V = 0 there is no Jacobian, and still there are factors."""
    assert not run_of("keys", gain=0.0).gradient_by_depth(1, STEPS)[1:].any()
    assert np.abs(run_of("additive", gain=0.0).gradient_by_depth(1, STEPS)[1:]).max() > 1e-3


def test_the_first_summary_is_twice_the_first_state() -> None:
    run = run_of("additive")
    assert run.summaries[0] == pytest.approx(2 * run.states[0])
    assert run.gradient(1, 1) == pytest.approx(2 * np.eye(UNITS))


@pytest.mark.parametrize(("t", "T"), [(0, 3), (4, 3), (1, STEPS + 1)])
def test_steps_outside_the_run_are_refused(t: int, T: int) -> None:
    run = run_of("uniform")
    with pytest.raises(InputError, match=f"expected 1 <= t <= T <= {STEPS}"):
        run.gradient(t, T)
    with pytest.raises(InputError, match="expected 1 <= t <= T"):
        run.gradient_by_depth(t, T)


def test_parts_that_do_not_fit_are_refused() -> None:
    V, U, b = np.zeros((3, 3)), np.zeros((3, 2)), np.zeros(3)
    with pytest.raises(InputError, match="expected n × n, n × m and n"):
        AttentiveRNN(V[:2], U, b, UniformAlignment())
    with pytest.raises(InputError, match="scores of 2 units; expected 3"):
        AttentiveRNN(V, U, b, Additive(np.zeros((4, 2)), np.zeros((4, 2)), np.zeros(4)))
    with pytest.raises(InputError, match="expected q × n, q × n and q"):
        Additive(np.zeros((4, 3)), np.zeros((4, 3)), np.zeros(3))
    with pytest.raises(InputError, match="expected \\(T - 1\\) × 2 and 3"):
        AttentiveRNN(V, U, b, UniformAlignment()).run(np.zeros((5, 3)), b)
    with pytest.raises(InputError, match="a run of 3 steps or more; expected at most 2, the steps of the pattern"):
        AttentiveRNN(V, U, b, SparseAlignment([{1}, {2}])).run(np.zeros((4, 2)), b)

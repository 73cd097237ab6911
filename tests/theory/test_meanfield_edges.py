"""Where the mean-field core has to be careful: folds, biases with opposed inputs, extreme parameters, odd shapes."""

from __future__ import annotations

import numpy as np
import pytest

from memspan.errors import EvidenceError, InputError
from memspan.theory import (
    GRUCell,
    MinimalField,
    RandomNetwork,
    VanillaField,
    critical_minimal,
    critical_vanilla,
    feasible_range,
    gated_point,
    parameter_for,
)

PUBLISHED = {"sigma_w": 6.88, "sigma_v": 1.39, "input_variance": 0.46}


@pytest.mark.parametrize("correlation", [-1.0, -0.5, -1e-9, 0.0, 0.4])
@pytest.mark.parametrize(
    "field",
    [VanillaField(bias_mean=1.0), VanillaField(sigma_b=1.0), VanillaField(sigma_w=2.0, sigma_v=0.0, bias_mean=3.0)],
    ids=["mean", "spread", "no input"],
)
def test_shared_biases_keep_copies_alike_though_their_inputs_are_opposed(field, correlation):
    iterated = field.correlation_dynamics([correlation] * 500)[-1]
    assert field.fixed_point(correlation).c == pytest.approx(iterated, abs=1e-9)


@pytest.mark.parametrize(
    ("bias_mean", "above"), [(4.0, 1.0001), (5.0, 1.001), (6.0, 1.001), (8.0, 1.0001), (30.0, 1.001)]
)
def test_the_lower_branch_is_reached_however_close_the_fold_is(bias_mean, above):
    q = above * feasible_range(bias_mean).low
    field = critical_minimal(bias_mean=bias_mean, input_variance=0.46, q=q)
    first, second, third = field.branches()
    assert (first.stable, second.stable, third.stable) == (True, False, True)
    assert first.reached
    assert field.fixed_point().q == pytest.approx(q, rel=1e-9)
    assert field.fixed_point().branches == 2
    assert field.chi1 == pytest.approx(1, abs=1e-6)


def test_a_grid_finds_the_same_branch_as_its_points_near_a_fold():
    bias = np.linspace(4.58, 4.6, 41)
    grid = MinimalField(bias_mean=bias, **PUBLISHED).fixed_point()
    single = [MinimalField(bias_mean=float(mu), **PUBLISHED).branches() for mu in bias]
    assert grid.q == pytest.approx([branches[0].q for branches in single], rel=1e-9)
    assert grid.branches.tolist() == [sum(branch.stable for branch in branches) for branches in single]


@pytest.mark.parametrize("bias_mean", [-300.0, -40.0, 20.0, 40.0, 300.0])
def test_extreme_gates_have_finite_answers(bias_mean):
    field = MinimalField(bias_mean=bias_mean, **PUBLISHED)
    point = field.fixed_point()
    assert all(np.isfinite(value) for value in vars(point).values())
    assert field.jacobian_moments(3).variance >= 0
    assert field.phase == ("ordered" if bias_mean < 0 else "critical")


@pytest.mark.parametrize("bias_mean", [301.0, -1e6, np.nan, np.inf])
def test_a_bias_beyond_every_gate_is_refused(bias_mean):
    with pytest.raises(InputError, match="expected a number such as 4"):
        MinimalField(bias_mean=bias_mean)


def test_a_jacobian_too_large_for_a_number_is_refused_with_what_would_do():
    field = VanillaField(sigma_w=3.0)
    with pytest.raises(InputError, match="expected at most 642 steps"):
        field.jacobian_moments(2000)
    assert np.isfinite(field.jacobian_moments(642).variance)


def test_a_standard_deviation_whose_square_is_no_number_is_refused():
    with pytest.raises(InputError, match=r"at most 1e\+100"):
        VanillaField(sigma_w=1e200)
    with pytest.raises(EvidenceError, match="does not converge"):
        _ = VanillaField(sigma_w=1e50).chi1


def test_a_value_beyond_the_search_is_kept_where_it_is_good():
    answer = parameter_for(MinimalField(bias_mean=30.0, **PUBLISHED), 100.0)
    assert answer.value == 30.0
    assert answer.region.low == pytest.approx(5.627, abs=1e-3)


@pytest.mark.parametrize("timescale", [0.0, -1.0, np.nan, np.inf, 1e9])
def test_timescales_that_cannot_be_told_from_endless_are_refused(timescale):
    with pytest.raises(InputError, match="expected a positive number, at most 1e"):
        parameter_for(MinimalField(**PUBLISHED), timescale)


def test_what_needs_one_network_refuses_arrays():
    grid = VanillaField(sigma_w=np.ones(1))
    for ask in (grid.branches, grid.network, grid.jacobian_moments):
        with pytest.raises(InputError, match=r"got shape \(1,\); ask for one point at a time"):
            ask()
    with pytest.raises(InputError, match="one point at a time"):
        critical_vanilla(sigma_v=np.ones(2))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="one point at a time"):
        critical_minimal(bias_mean=np.ones(2))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="expected bias_mean or sigma_w"):
        parameter_for(VanillaField(), 10.0, parameter="sigma_v")  # type: ignore[arg-type]


def test_an_empty_grid_is_refused():
    with pytest.raises(InputError, match="empty array"):
        MinimalField(sigma_w=np.ones(0))


def test_a_gate_that_lets_nothing_through_is_refused_by_simulation():
    with pytest.raises(EvidenceError, match=r"lost to rounding|still changes"):
        gated_point(RandomNetwork(cell=GRUCell(), bias_mean=40.0), width=64, steps=60, networks=2)

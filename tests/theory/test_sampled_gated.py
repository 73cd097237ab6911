"""chi measured by sampling: against closed forms where there are some, and against real matrices where there are none."""

from __future__ import annotations

import math

import numpy as np
import pytest

from memspan.errors import EvidenceError, InputError
from memspan.theory.meanfield.minimal import MinimalField
from memspan.theory.meanfield.vanilla import VanillaField
from memspan.theory.sampled.cells import ElementwiseCell, GRUCell, LSTMCell, MinimalCell, RandomNetwork, VanillaCell
from memspan.theory.sampled.gated import gated_point, relaxation
from memspan.theory.sampled.simulation import Growth, growth

FIVE_PERCENT = 0.05
"""How near the timescales of sampling and of real matrices must be."""
PUBLISHED = {"sigma_w": 6.88, "sigma_v": 1.39, "input_variance": 0.46}


@pytest.mark.parametrize(("bias_mean", "chi1", "steps"), [(6.0, 0.9928, 1000), (-4.0, 0.5449, 120)])
def test_the_growth_of_minimal_networks_is_the_slope_of_the_theory(bias_mean: float, chi1: float, steps: int) -> None:
    network = RandomNetwork(cell=MinimalCell(), bias_mean=bias_mean, **PUBLISHED)
    found = growth(network, width=2000, steps=steps, networks=8 if bias_mean < 0 else 2, seed=1)
    assert found.chi == pytest.approx(chi1, rel=0.01)
    assert not found.chaotic


def test_a_chaotic_minimal_network_has_no_finite_timescale() -> None:
    found = growth(
        RandomNetwork(cell=MinimalCell(), bias_mean=2.0, **PUBLISHED), width=2000, steps=80, networks=8, seed=2
    )
    assert found.chi == pytest.approx(1.1213, rel=0.01)
    assert found.chaotic
    assert math.isinf(found.timescale)
    assert math.isnan(found.timescale_error)


def test_tied_orthogonal_weights_shrink_every_difference_of_a_linear_network_alike() -> None:
    network = RandomNetwork(cell=VanillaCell(lambda e: e), sigma_w=0.9)
    found = growth(network, width=40, steps=6, networks=2, directions=3, tied=True, weights="orthogonal", seed=3)
    assert found.chi == pytest.approx(0.81, rel=1e-8)  # differences of 1e-6 are exact to 1e-10
    assert found.error < 1e-8


def test_the_error_of_a_timescale_is_that_of_chi_carried_through() -> None:
    found = Growth(0.9, 1e-6)
    moved = Growth(0.9 + 1e-6, 0.0).timescale - found.timescale
    assert found.timescale_error == pytest.approx(moved, rel=1e-4)
    assert found.timescale == pytest.approx(9.4912, abs=1e-4)


def test_standard_errors_of_the_growth_are_those_of_repeated_measurements() -> None:
    network = RandomNetwork(cell=GRUCell(), bias_mean=1.0)
    runs = [growth(network, width=200, steps=20, networks=10, seed=k) for k in range(40)]
    spread = np.std([run.chi for run in runs], ddof=1)
    assert np.mean([run.error for run in runs]) == pytest.approx(spread, rel=0.4)  # 40 values: known to 11 %


@pytest.mark.parametrize(
    ("cell", "bias_mean"), [(LSTMCell(), 1.0), (LSTMCell(), 2.0), (GRUCell(), 0.0), (GRUCell(), 2.0)]
)
def test_timescales_are_those_of_fresh_matrices(cell: ElementwiseCell, bias_mean: float) -> None:
    network = RandomNetwork(cell=cell, bias_mean=bias_mean)
    sampled = growth(network, width=2048, steps=60, networks=6, seed=4)
    real = growth(network, width=120, steps=40, networks=10, directions=4, matrices=True, seed=5)
    assert sampled.timescale == pytest.approx(real.timescale, rel=FIVE_PERCENT)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cell", "bias_mean"),
    [(LSTMCell(), 1.0), (LSTMCell(), 2.0), (LSTMCell(), 4.0), (GRUCell(), 0.0), (GRUCell(), 2.0), (GRUCell(), 4.0)],
)
def test_timescales_are_those_of_fresh_matrices_of_width_2000(cell: ElementwiseCell, bias_mean: float) -> None:
    network = RandomNetwork(cell=cell, bias_mean=bias_mean)
    sampled = gated_point(network, seed=6)
    real = growth(network, width=2000, steps=80, networks=2, directions=4, matrices=True, seed=7)
    assert sampled.timescale == pytest.approx(real.timescale, rel=FIVE_PERCENT)


@pytest.mark.parametrize(
    ("field", "input_correlation"),
    [
        (VanillaField(sigma_w=1.5, sigma_v=0.3), 0.5),
        (VanillaField(sigma_w=2.5, sigma_v=0.1), 1.0),
        (MinimalField(bias_mean=0.0, **PUBLISHED), 0.99),
    ],
    ids=["vanilla", "chaotic vanilla", "minimal"],
)
def test_pairs_relax_with_the_slope_of_the_theory(field: VanillaField | MinimalField, input_correlation: float) -> None:
    found = relaxation(field.network(), input_correlation=input_correlation, width=2048, steps=100, networks=8, seed=8)
    expected = float(field.fixed_point(input_correlation).chi)
    assert found.chi == pytest.approx(expected, abs=5 * found.error)
    assert found.chi == pytest.approx(expected, rel=0.03)


def test_a_response_that_is_lost_in_noise_is_refused() -> None:
    memoryless = RandomNetwork(cell=VanillaCell(), sigma_w=1e-3)
    with pytest.raises(EvidenceError, match=r"lost in noise after one step; .* pass more networks"):
        relaxation(memoryless, input_correlation=0.5, width=50, steps=16, networks=4)


def test_the_point_of_a_minimal_network_is_that_of_the_theory() -> None:
    """The sampler knows nothing of closed forms, so a cell that has them checks all of its numbers."""
    field = MinimalField(bias_mean=0.0, **PUBLISHED)
    expected = field.fixed_point(0.9)
    found = gated_point(field.network(), input_correlation=0.9, seed=9)
    for name in ("q", "Q", "c", "chi1"):
        value, error = getattr(found, name), getattr(found, f"{name}_error")
        assert value == pytest.approx(float(getattr(expected, name)), abs=5 * error + 1e-3)
    assert found.chi == pytest.approx(float(expected.chi), rel=0.05)
    assert found.timescale == pytest.approx(-1 / math.log(found.chi))


def test_equal_inputs_make_an_ordered_network_forget_where_it_came_from() -> None:
    point = gated_point(RandomNetwork(cell=LSTMCell(), bias_mean=1.0), seed=10)
    assert (point.c, point.c_error) == (1.0, 0.0)
    assert point.chi == point.chi1 < 1
    assert point.q == pytest.approx(point.Q + 1.0, abs=5 * point.q_error)  # sigma_w = sigma_v = R = 1


def test_a_chaotic_gru_settles_at_a_correlation_below_one() -> None:
    point = gated_point(RandomNetwork(cell=GRUCell(), sigma_w=8.0), seed=11)
    assert point.chi1 > 1 > point.chi
    assert 0 < point.c < 0.5
    assert math.isfinite(point.timescale)


def test_a_network_that_has_not_settled_is_refused() -> None:
    with pytest.raises(EvidenceError, match=r"still changes by .* after 20 steps; .* steps=80"):
        gated_point(RandomNetwork(cell=LSTMCell(), bias_mean=5.0), steps=20)


def test_points_need_several_networks_and_steps() -> None:
    network = RandomNetwork(cell=GRUCell())
    with pytest.raises(InputError, match="got 1 networks and None steps"):
        gated_point(network, networks=1)
    with pytest.raises(InputError, match="got 8 networks and 4 steps"):
        gated_point(network, steps=4)
    with pytest.raises(InputError, match="input_correlation is 2"):
        gated_point(network, input_correlation=2)
    with pytest.raises(InputError, match="directions is 0"):
        growth(network, width=3, steps=3, networks=3, directions=0)

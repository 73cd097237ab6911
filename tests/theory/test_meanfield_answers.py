"""What the mean-field core answers or refuses: activations, parameters, critical weights, timescales, Jacobians."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
import pytest
from numpy.typing import NDArray

from memspan.errors import EvidenceError, InputError
from memspan.theory.meanfield.activations import Activation, Erf, Identity, Tanh
from memspan.theory.meanfield.gaussian import expectation
from memspan.theory.meanfield.inverse import critical_minimal, critical_vanilla, feasible_range, parameter_for
from memspan.theory.meanfield.jacobian import linear_variance, moments_of
from memspan.theory.meanfield.minimal import MinimalField
from memspan.theory.meanfield.vanilla import VanillaField

Array = NDArray[np.float64]

ROUNDING = 1e-12


def published(bias_mean: object) -> MinimalField:
    return MinimalField(sigma_w=6.88, sigma_v=1.39, bias_mean=bias_mean, input_variance=0.46)


@final
@dataclass(frozen=True)
class Steep(Activation):
    """tanh(5 e), declared with a strip five times too wide."""

    strip: ClassVar[float] = np.pi / 2
    bound: ClassVar[float] = 1.0

    def value(self, e: Array) -> Array:
        return np.tanh(5 * e)

    def slopes(self, e: Array) -> tuple[Array, Array]:
        t = np.tanh(5 * e)
        return 5 * (1 - t**2), -50 * t * (1 - t**2)


@final
@dataclass(frozen=True)
class Kinked(Activation):
    """A rectifier: continuous, with a jump in its slope."""

    strip: ClassVar[float] = 1.0
    bound: ClassVar[float] = np.inf

    def value(self, e: Array) -> Array:
        return np.maximum(e, 0.0)

    def slopes(self, e: Array) -> tuple[Array, Array]:
        return (e > 0).astype(float), np.zeros_like(e)


@final
@dataclass(frozen=True)
class Jumping(Activation):
    """The sign of e."""

    strip: ClassVar[float] = 1.0
    bound: ClassVar[float] = 1.0

    def value(self, e: Array) -> Array:
        return np.where(e > 0.1, 1.0, 0.0)

    def slopes(self, e: Array) -> tuple[Array, Array]:
        return np.zeros_like(e), np.zeros_like(e)


def test_a_strip_that_is_wrong_is_made_up_for_by_halving_the_step() -> None:
    steep, tanh = VanillaField(sigma_w=0.5, activation=Steep()), Tanh()
    q = steep.fixed_point().q
    (expected,), _ = expectation(lambda e: (tanh.value(e) ** 2,), np.array([25 * q]), np.zeros(1), strip=tanh.strip)
    assert expected[0] == pytest.approx(steep.fixed_point().Q, abs=1e-9)


@pytest.mark.parametrize("phi", [Kinked(), Jumping()], ids=["kink", "jump"])
def test_an_activation_that_is_not_smooth_is_refused(phi: Activation) -> None:
    with pytest.raises(EvidenceError, match="quadrature does not converge") as refusal:
        VanillaField(sigma_w=0.5, activation=phi).fixed_point(0.5)
    assert "\n" not in str(refusal.value)


def test_a_variance_beyond_the_quadrature_is_refused() -> None:
    with pytest.raises(EvidenceError, match="use smaller sigma_w"):
        MinimalField(sigma_w=1e5).fixed_point()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"sigma_w": -1.0}, "sigma_w is -1"),
        ({"sigma_v": np.nan}, "sigma_v is nan"),
        ({"sigma_b": np.inf}, "sigma_b is inf"),
        ({"input_variance": -0.1}, "input_variance is -0.1"),
        ({"bias_mean": np.inf}, "bias_mean is not finite"),
        ({"sigma_w": "one"}, "expected a number"),
        ({"sigma_w": np.ones(2), "sigma_v": np.ones(3)}, "have shapes .* expected shapes that broadcast"),
    ],
)
@pytest.mark.parametrize("kind", [MinimalField, VanillaField])
def test_parameters_that_make_no_network_are_refused(kind: type, wrong: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        kind(**wrong)


@pytest.mark.parametrize("correlation", [1.1, -1.01, np.nan])
def test_what_is_no_correlation_is_refused(correlation: float) -> None:
    with pytest.raises(InputError, match="expected a correlation from -1 to 1"):
        published(0.0).fixed_point(correlation)
    with pytest.raises(InputError, match="expected a correlation from -1 to 1"):
        published(0.0).correlation_dynamics([0.0, correlation])


def test_a_linear_network_that_explodes_is_refused() -> None:
    with pytest.raises(InputError, match="grows without bound at sigma_w = 1"):
        VanillaField(sigma_w=1.0, activation=Identity()).fixed_point()


def test_branches_of_a_grid_are_refused() -> None:
    with pytest.raises(InputError, match="one point at a time"):
        published(np.array([0.0, 1.0])).branches()


@pytest.mark.parametrize(("mu", "q"), [(2.0, 4.815), (6.0, 3.5424)])
def test_algorithm_1_has_an_answer_from_here_on(mu: float, q: float) -> None:
    assert feasible_range(mu).low == pytest.approx(q, abs=1e-3)
    field = critical_minimal(bias_mean=mu, input_variance=0.46, q=1.02 * q)
    point = field.fixed_point()
    assert field.chi1 == pytest.approx(1.0, abs=1e-6)
    assert point.q == pytest.approx(1.02 * q, rel=1e-9)
    assert point.variance_slope < 1
    with pytest.raises(InputError, match="feasible are q from"):
        critical_minimal(bias_mean=mu, input_variance=0.46, q=0.999 * q)


def test_feasibility_does_not_depend_on_the_input_variance() -> None:
    for R in (0.01, 10.0):
        assert critical_minimal(bias_mean=2.0, input_variance=R).chi1 == pytest.approx(1.0, abs=1e-9)


def test_the_published_weights_are_nearly_what_algorithm_1_gives() -> None:
    """Nearly, because their chi_1 is 0.9988."""
    field = critical_minimal(bias_mean=0.0, input_variance=0.46, q=15.94)
    assert (field.sigma_w, field.sigma_v) == pytest.approx((6.88, 1.39), abs=0.03)


def test_no_critical_minimal_network_has_silent_inputs() -> None:
    with pytest.raises(InputError, match="input_variance is 0"):
        critical_minimal(bias_mean=2.0, input_variance=0.0)


@pytest.mark.parametrize("phi", [Tanh(), Erf()], ids=["tanh", "erf"])
@pytest.mark.parametrize("sigma_v", [0.0, 0.3, 1.0])
def test_critical_vanilla_networks_are_critical(phi: Activation, sigma_v: float) -> None:
    field = critical_vanilla(sigma_v=sigma_v, activation=phi)
    assert field.chi1 == pytest.approx(1.0, abs=1e-9)
    assert sigma_v > 0 or field.sigma_w == 1


def test_a_linear_network_with_inputs_is_never_critical() -> None:
    with pytest.raises(InputError, match="no sigma_w makes this vanilla RNN critical"):
        critical_vanilla(activation=Identity())


def test_the_sigma_w_for_a_timescale_gives_that_timescale() -> None:
    answer = parameter_for(published(6.0), 200.0, parameter="sigma_w")
    assert answer.timescale >= 200
    assert answer.field.timescale() == pytest.approx(200, rel=1e-3)
    assert answer.region.low <= answer.value <= answer.region.high


def test_a_value_that_lasts_long_enough_is_left_as_it_is() -> None:
    answer = parameter_for(published(8.0), 500.0, parameter="sigma_w")
    assert answer.value == 6.88
    assert answer.timescale == pytest.approx(963.87, abs=0.01)
    assert answer.region.low < 6.88 < answer.region.high


@pytest.mark.slow
def test_every_large_bias_mean_lasts_long_enough() -> None:
    answer = parameter_for(published(6.0), 500.0)
    assert answer.field.timescale() == pytest.approx(500, rel=1e-3)
    assert answer.region.open


def test_a_timescale_that_no_value_gives_is_refused_with_the_longest() -> None:
    with pytest.raises(InputError, match=r"the longest is .* steps"):
        parameter_for(VanillaField(sigma_v=1.0), 1000.0, parameter="sigma_w", input_correlation=0.5)
    with pytest.raises(InputError, match="expected a positive number"):
        parameter_for(published(6.0), -1.0)


@pytest.mark.parametrize("weights", ["gaussian", "orthogonal"])
@pytest.mark.parametrize("mu", [0.0, 6.0])
def test_over_one_step_the_recursion_is_the_corrected_equation_12(mu: float, weights: str) -> None:
    parts = published(mu).jacobian_parts()
    one = moments_of(parts, 1, weights)
    assert one.variance == pytest.approx(linear_variance(parts, 1, weights), rel=1e-9)
    assert one.mean == pytest.approx(published(mu).chi1, rel=1e-12)


def test_over_ten_steps_the_two_agree_where_gates_are_open_and_not_where_they_are_busy() -> None:
    for mu, low, high in ((6.0, 1.0, 1.001), (0.0, 1.15, 1.2)):
        parts = published(mu).jacobian_parts()
        ratio = moments_of(parts, 10, "gaussian").variance / linear_variance(parts, 10, "gaussian")
        assert low <= ratio <= high


def test_a_linear_orthogonal_network_is_isometric_up_to_its_scale() -> None:
    field = VanillaField(sigma_w=0.9, sigma_v=0.0, sigma_b=0.1, activation=Identity())
    moments = field.jacobian_moments(4, weights="orthogonal")
    assert moments.mean == pytest.approx(0.81**4, rel=1e-9)
    assert moments.variance == pytest.approx(0.0, abs=ROUNDING)


@pytest.mark.parametrize(("steps", "weights"), [(0, "gaussian"), (1, "sparse")])
def test_jacobians_of_no_steps_or_of_unknown_weights_are_refused(steps: int, weights: str) -> None:
    with pytest.raises(InputError, match="expected"):
        published(0.0).jacobian_moments(steps, weights=weights)

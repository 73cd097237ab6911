"""The mean-field core against plain quadrature, plain iteration, finite differences and known values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import erf, expit

from memspan.theory.meanfield.activations import Activation, Erf, Identity, Sigmoid, Tanh
from memspan.theory.meanfield.field import Field
from memspan.theory.meanfield.gaussian import TwoPoint, expectation, two_point
from memspan.theory.meanfield.minimal import MinimalField
from memspan.theory.meanfield.vanilla import VanillaField

Array = NDArray[np.float64]

SERIES = 1e-9
"""The requested tail of the series is 1e-10; slopes carry factors of a few."""
ROUNDING = 1e-12
DIFFERENCE = 1e-5
"""Half a step of finite differences: they are off by its square times a third derivative."""
PRINTED = 1e-4

PHI: list[tuple[Activation, Callable[[Array], Array]]] = [
    (Tanh(), np.tanh),
    (Erf(), lambda e: erf(np.sqrt(np.pi) / 2 * e)),
    (Sigmoid(), expit),
]
CORRELATIONS = (-1.0, -0.7, 0.0, 0.3, 0.9, 0.999, 1.0)


def plain(f: Callable[[Array], Array], q: float, mean: float, c: float) -> float:
    """E[f(e) f(e')] by the trapezoidal rule in two dimensions."""
    z = np.linspace(-8.5, 8.5, 341)
    weights = np.exp(-(z**2) / 2)
    weights /= weights.sum()
    first = f(np.sqrt(q) * z + mean)
    second = f(np.sqrt(q) * (c * z[:, None] + np.sqrt(1 - c**2) * z) + mean)
    return float((weights * first) @ second @ weights)


def published(bias_mean: object) -> MinimalField:
    return MinimalField(sigma_w=6.88, sigma_v=1.39, bias_mean=bias_mean, input_variance=0.46)


def two_points(phi: Activation, q: float, mean: float) -> tuple:
    """The series of phi and of phi'."""
    at, means = np.array([q]), np.array([mean])

    def squares(e: Array) -> tuple[Array, ...]:
        return phi.value(e) ** 2, phi.slopes(e)[0] ** 2

    (value, slope), _ = expectation(squares, at, means, strip=phi.strip)
    return two_point(phi, at, means, (value, slope), digits=10)


@pytest.mark.parametrize(("phi", "f"), PHI, ids=["tanh", "erf", "sigmoid"])
@pytest.mark.parametrize(("q", "mean"), [(0.1, 0.0), (1.0, 0.5), (9.0, -2.0)])
def test_the_series_is_the_integral_in_two_dimensions(
    phi: Activation, f: Callable[[Array], Array], q: float, mean: float
) -> None:
    values, slopes = two_points(phi, q, mean)
    for c in CORRELATIONS:
        d = np.array([1 - c])
        assert values.value(d)[0] == pytest.approx(plain(f, q, mean, c), abs=SERIES)
        first = plain(lambda e: phi.slopes(e)[0], q, mean, c)
        assert slopes.value(d)[0] == pytest.approx(first, abs=SERIES)


@pytest.mark.parametrize("phi", [Tanh(), Erf(), Sigmoid()], ids=["tanh", "erf", "sigmoid"])
def test_slopes_are_the_derivatives_of_the_value(phi: Activation) -> None:
    e = np.linspace(-3, 3, 13)
    first, second = phi.slopes(e)
    up, down = e + DIFFERENCE, e - DIFFERENCE
    assert first == pytest.approx((phi.value(up) - phi.value(down)) / (2 * DIFFERENCE), abs=1e-8)
    assert second == pytest.approx((phi.slopes(up)[0] - phi.slopes(down)[0]) / (2 * DIFFERENCE), abs=1e-8)


@pytest.mark.parametrize("d", [1e-6, 1e-10, 1e-14])
def test_the_loss_keeps_its_digits_when_copies_are_almost_equal(d: float) -> None:
    """To first order E[f^2] - E[f f'] = q d E[f'^2]; the next order is smaller by about q d."""
    values, slopes = two_points(Sigmoid(), 4.0, 1.0)
    assert values.loss(np.array([d]))[0] == pytest.approx(4.0 * d * slopes.whole[0], rel=10 * d + 1e-8)


def test_the_error_of_a_series_is_an_upper_bound() -> None:
    """Of one that is cut off so early that its tail shows."""
    whole, _ = two_points(Sigmoid(), 9.0, 1.0)
    cut = TwoPoint(whole.squares[:12], whole.whole)
    differences = []
    for c in np.linspace(-1, 1, 21):
        d = np.array([1 - c])
        differences.append(abs(cut.value(d)[0] - whole.value(d)[0]))
        # For negative c what is left over may have either sign, so it counts twice.
        assert differences[-1] <= (2 if c < 0 else 1) * cut.error(d)[0] + ROUNDING
    assert max(differences) > 1e-5


@pytest.mark.parametrize("sigma", [-0.5, 0.0, 0.9, 1.0])
@pytest.mark.parametrize("gap_share", [0.2, 1.0, 1.5])
def test_a_step_of_the_minimal_field_is_the_plain_equation(sigma: float, gap_share: float) -> None:
    field = MinimalField(sigma_w=2.0, sigma_v=1.2, sigma_b=0.6, bias_mean=0.8, input_variance=0.5)
    point, q, Q = field.fixed_point(), field.fixed_point().q, field.fixed_point().Q
    step = field.correlation_map(np.array([q]), np.array([Q]), field.parameters, digits=10)
    p = Q * (1 - gap_share)
    c = (4 * p + 1.44 * 0.5 * sigma + 0.36) / point.q
    both, neither = plain(expit, q, 0.8, c), plain(lambda e: expit(-e), q, 0.8, c)
    expected = Q - (p * both + 0.5 * sigma * neither)
    gap = np.array([Q * gap_share])
    assert step.distance(gap, sigma)[0] == pytest.approx(1 - c, abs=ROUNDING)
    assert step.next(gap, sigma)[0] == pytest.approx(expected, abs=SERIES)


FIELDS: list[Field] = [
    MinimalField(sigma_w=2.0, sigma_v=1.0, sigma_b=0.7**0.5, bias_mean=1.0, input_variance=0.46),
    MinimalField(sigma_w=6.88, sigma_v=1.39, bias_mean=2.0, input_variance=0.46),
    VanillaField(sigma_w=1.4, sigma_v=0.5, sigma_b=0.3, bias_mean=0.2),
    VanillaField(sigma_w=0.8, sigma_v=1.0, activation=Erf()),
]
NAMES = ["minimal-biased", "minimal-chaotic", "vanilla-tanh", "vanilla-erf"]


@pytest.mark.parametrize("field", FIELDS, ids=NAMES)
@pytest.mark.parametrize("sigma", [-0.4, 0.5, 1.0])
def test_chi_is_the_slope_of_the_step(field: Field, sigma: float) -> None:
    point = field.fixed_point(sigma)
    step = field.correlation_map(np.array([point.q]), np.array([point.Q]), field.parameters, digits=10)
    drive = field.sigma_v**2 * field.input_variance * (1 - sigma)
    gap = np.array([(point.q * (1 - point.c) - drive) / field.sigma_w**2])
    assert point.chi == pytest.approx(step.slope(gap, sigma)[0], abs=SERIES)
    # Copies cannot be more than equal: at a gap of 0 the difference is taken one step further up.
    nearby = np.maximum(gap, DIFFERENCE)
    up, down = (step.next(nearby + s * DIFFERENCE, sigma)[0] for s in (1, -1))
    assert step.slope(nearby, sigma)[0] == pytest.approx((up - down) / (2 * DIFFERENCE), abs=1e-6)


@pytest.mark.parametrize("field", FIELDS, ids=NAMES)
def test_the_variance_slope_is_the_slope_of_the_variance_step(field: Field) -> None:
    point = field.fixed_point()
    at = np.array([point.Q + DIFFERENCE, point.Q - DIFFERENCE])
    up, down = field.variance_step(at, field.parameters.repeated(2))
    assert point.variance_slope == pytest.approx((up - down) / (2 * DIFFERENCE), abs=1e-7)


@pytest.mark.parametrize("field", FIELDS, ids=NAMES)
def test_the_variance_is_where_plain_iteration_from_zero_ends(field: Field) -> None:
    Q = np.zeros(1)
    for _ in range(100):
        Q = field.variance_step(Q, field.parameters)
    assert Q[0] == pytest.approx(field.fixed_point().Q, rel=1e-9)


@pytest.mark.parametrize("field", FIELDS, ids=NAMES)
@pytest.mark.parametrize("sigma", [0.5, 1.0])
def test_the_correlation_is_where_plain_iteration_ends(field: Field, sigma: float) -> None:
    c = field.correlation_dynamics([sigma] * 200, initial_correlation=0.0)
    assert c[-1] == pytest.approx(field.fixed_point(sigma).c, abs=1e-7)


def test_a_grid_is_the_loop_over_its_points() -> None:
    sigma_w, mu = np.array([[0.5], [3.0], [6.88]]), np.array([-2.0, 0.0, 4.59, 7.0])
    grid = MinimalField(sigma_w=sigma_w, sigma_v=1.39, bias_mean=mu, input_variance=0.46).fixed_point(0.99)
    for i, w in enumerate(sigma_w[:, 0]):
        for j, m in enumerate(mu):
            one = MinimalField(sigma_w=w, sigma_v=1.39, bias_mean=m, input_variance=0.46).fixed_point(0.99)
            for name in ("q", "Q", "c", "chi", "chi1", "variance_slope", "branches"):
                assert getattr(grid, name)[i, j] == pytest.approx(getattr(one, name), abs=SERIES), name


def test_dynamics_of_a_grid_are_those_of_its_points() -> None:
    inputs = [0.0] * 5 + [1.0] * 5
    grid = published(np.array([-1.0, 3.0])).correlation_dynamics(inputs, initial_correlation=0.3)
    for j, mu in enumerate((-1.0, 3.0)):
        one = published(mu).correlation_dynamics(inputs, initial_correlation=0.3)
        assert grid[:, j] == pytest.approx(one, abs=SERIES)


CHI_1 = {0.0: 0.9988, 2.0: 1.1213, 4.0: 1.0958, 6.0: 0.9928, -4.0: 0.5449}


@pytest.mark.parametrize(("mu", "chi1"), CHI_1.items())
def test_chi_1_of_the_published_network(mu: float, chi1: float) -> None:
    assert published(mu).chi1 == pytest.approx(chi1, abs=PRINTED)


@pytest.mark.parametrize(("mu", "tau"), [(6.0, 139), (7.6, 649), (8.0, 964)])
def test_timescales_of_the_published_network(mu: float, tau: int) -> None:
    assert round(published(mu).timescale()) == tau


def test_the_published_network_has_two_stable_branches_nearby_its_second_edge() -> None:
    low, middle, high = published(4.59).branches()
    assert (low.stable, middle.stable, high.stable) == (True, False, True)
    assert (low.reached, middle.reached, high.reached) == (True, False, False)
    assert pytest.approx([0.036, 0.076], abs=5e-4) == [low.Q, high.Q]
    assert (low.chi1, high.chi1) == pytest.approx((0.997, 1.028), abs=5e-4)
    assert published(4.59).fixed_point().branches == 2
    assert published(0.0).fixed_point().branches == 1


def test_under_equal_inputs_an_ordered_network_forgets_and_a_chaotic_one_does_not() -> None:
    assert published(-2.0).fixed_point().c == 1
    assert published(2.0).fixed_point().c == pytest.approx(0.78788, abs=1e-5)
    assert published(2.0).fixed_point().chi < 1 < published(2.0).chi1


def test_uncorrelated_inputs_without_shared_biases_leave_no_correlation() -> None:
    assert published(6.0).fixed_point(0.0).c == pytest.approx(0.0, abs=ROUNDING)


def test_a_linear_network_is_solved_exactly() -> None:
    field = VanillaField(sigma_w=0.8, sigma_v=1.0, activation=Identity(), input_variance=0.5)
    point = field.fixed_point(0.3)
    assert point.q == pytest.approx(0.5 / (1 - 0.64), rel=1e-9)
    assert (point.c, point.chi, point.chi1) == pytest.approx((0.3, 0.64, 0.64), abs=1e-9)

"""Erratum 6 (Chen et al. 2018): both copies share their biases, so sigma_b^2 enters c and chi; Eq. 3 lacks a 1/2."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy import optimize
from scipy.special import expit

from memspan.progress import Progress
from memspan.reproductions.charts import chart, dashed, points
from memspan.reproductions.claims import ONE, claim
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, line
from memspan.theory.meanfield.field import FixedPoint
from memspan.theory.meanfield.gaussian import expectation
from memspan.theory.meanfield.minimal import MinimalField
from memspan.theory.meanfield.vanilla import VanillaField
from memspan.theory.sampled.simulation import Simulation, simulate

Array = NDArray[np.float64]

SIGMA_W, SIGMA_V, INPUT_VARIANCE, BIAS_MEAN = 2.0, 1.0, 0.46, 1.0
INPUT_CORRELATION = 0.5
BIAS_VARIANCE = 0.7
FIVE_DIGITS = 5e-6
# Half of the step of finite differences; the error of the slope is of the order of its square.
_DIFFERENCE = 1e-4
# Correlation and variance have settled after half of them.
_STEPS = 40
# Variances of the lines in the charts.
_BIAS_VARIANCES = np.linspace(0.0, 2.0, 11)


def run(*, seed: int, progress: Progress, width: int, networks: int, variances: int) -> Outcome:
    """Compare the slope and fixed point of the correlation map with networks at several bias variances."""
    simulated = {}
    bias_variances = np.unique(np.append(np.linspace(0.0, 2.0, variances), BIAS_VARIANCE)).tolist()
    with progress.stage("networks with real matrices and biases", len(bias_variances)) as stage:
        for number, variance in enumerate(bias_variances):
            simulated[variance] = _simulate(width, networks, PlainCorrelationMap(variance), [seed, number])
            stage.advance()
    claims = (*_slope_claims(), _shared_claim(simulated[BIAS_VARIANCE]), _density_claim(width, networks, seed))
    return Outcome(claims, (_slope_chart(), _correlation_chart(simulated)), _NOTES)


@final
@dataclass(frozen=True, eq=False)
class PlainCorrelationMap:
    """The correlation map of one minimal RNN under inputs of correlation 0.5, written exactly as the equations."""

    bias_variance: float

    @cached_property
    def field(self) -> MinimalField:
        """The same network in `memspan.theory`."""
        return MinimalField(
            sigma_w=SIGMA_W,
            sigma_v=SIGMA_V,
            sigma_b=float(np.sqrt(self.bias_variance)),
            bias_mean=BIAS_MEAN,
            input_variance=INPUT_VARIANCE,
        )

    @cached_property
    def point(self) -> FixedPoint:
        """Its fixed point in `memspan.theory`."""
        return self.field.fixed_point(INPUT_CORRELATION)

    def step(self, covariance: float, *, shared: float) -> float:
        """E[h h'] after one step (Eq. 37), where biases add `shared` to the covariance of the pre-activations."""
        both, neither = _gate_products(self.point.q, self._correlation_at(covariance, shared))
        return covariance * both + INPUT_VARIANCE * INPUT_CORRELATION * neither

    @property
    def slope(self) -> float:
        """chi by finite differences of Eq. 37, around its fixed point."""
        p = self.covariance(shared=self.bias_variance)
        up, down = (self.step(p + sign * _DIFFERENCE, shared=self.bias_variance) for sign in (1, -1))
        return (up - down) / (2 * _DIFFERENCE)

    @property
    def printed_slope(self) -> float:
        """chi by Eq. 9 at the correct q and c; the term -sigma_b^2 E[sigma' sigma'] is missing."""
        point = self.point
        both = _gate_products(point.q, point.c)[0]
        through = point.q * point.c + (SIGMA_W**2 - SIGMA_V**2) * INPUT_VARIANCE * INPUT_CORRELATION
        return both + through * _slope_product(point.q, point.c)

    def covariance(self, *, shared: float) -> float:
        """The fixed point of `step`."""
        Q = self.point.Q
        return optimize.root_scalar(lambda p: self.step(p, shared=shared) - p, bracket=(-Q, Q), xtol=1e-14).root

    def correlation(self, *, shared: float) -> float:
        """c*, where biases add `shared` to the covariance: sigma_b^2, or 0 for the printed sigma_b^2 I."""
        return self._correlation_at(self.covariance(shared=shared), shared)

    def _correlation_at(self, covariance: float, shared: float) -> float:
        driven = SIGMA_V**2 * INPUT_VARIANCE * INPUT_CORRELATION
        return (SIGMA_W**2 * covariance + driven + shared) / self.point.q


def _pair(q: float, c: float) -> tuple[Array, Array, Array]:
    """Weights of a plain product rule, and the two correlated pre-activations at its nodes."""
    z = np.linspace(-9.0, 9.0, 91)
    weights = np.exp(-(z**2) / 2)
    weights /= weights.sum()
    first = np.sqrt(q) * z[:, None] + BIAS_MEAN
    second = np.sqrt(q) * (c * z[:, None] + np.sqrt(1 - c**2) * z) + BIAS_MEAN
    return np.outer(weights, weights), first, second


def _gate_products(q: float, c: float) -> tuple[float, float]:
    """E[u u'] and E[(1-u)(1-u')]."""
    weights, first, second = _pair(q, c)
    both, neither = (np.sum(weights * expit(sign * first) * expit(sign * second)) for sign in (1, -1))
    return float(both), float(neither)


def _slope_product(q: float, c: float) -> float:
    """E[sigma' sigma']."""
    weights, first, second = _pair(q, c)
    return float(np.sum(weights * expit(first) * expit(-first) * expit(second) * expit(-second)))


def _simulate(width: int, networks: int, mapping: PlainCorrelationMap, stream: list[int]) -> Simulation:
    """Real matrices and biases, redrawn at every step and used by both copies."""
    return simulate(
        mapping.field.network(),
        width=width,
        steps=_STEPS,
        networks=networks,
        input_correlation=INPUT_CORRELATION,
        matrices=True,
        initial_variance=mapping.point.Q,
        initial_correlation=INPUT_CORRELATION,
        seed=np.random.default_rng(stream),
    )


def _mean_correlation(simulation: Simulation) -> tuple[float, float]:
    """Mean c of the second half of the steps, and the error of a single step as a bound on its error."""
    return float(simulation.c[_STEPS // 2 :].mean()), float(simulation.c_error[_STEPS // 2 :].max())


def _slope_claims() -> list[Claim]:
    mapping, unbiased = PlainCorrelationMap(BIAS_VARIANCE), PlainCorrelationMap(0.0)
    return [
        claim(
            "With a bias variance of 0.7 the correlation map has the slope 0.53150 (finite differences of Eq. 37). "
            "Eq. 9 as printed gives 0.55267."
        ).near(mapping.slope, FIVE_DIGITS, paper=0.55267, corrected=0.53150),
        claim("The corrected chi, with sigma_b^2 subtracted, equals that slope.").near(
            mapping.point.chi, FIVE_DIGITS, paper=mapping.printed_slope, corrected=mapping.slope
        ),
        claim("With equal biases Eq. 9 as printed is correct.").near(
            unbiased.printed_slope, FIVE_DIGITS, corrected=unbiased.slope
        ),
    ]


def _shared_claim(simulation: Simulation) -> Claim:
    mapping, (c, error) = PlainCorrelationMap(BIAS_VARIANCE), _mean_correlation(simulation)
    return claim(
        "Two copies of networks with real matrices and biases settle at the correlation c* of sigma_b^2 in all four "
        "entries, not at that of sigma_b^2 I (Eq. 2 and 6)."
    ).near(c, ONE * error, paper=mapping.correlation(shared=0.0), corrected=mapping.correlation(shared=BIAS_VARIANCE))


def _density_claim(width: int, networks: int, seed: int) -> Claim:
    """E[tanh^2] of a vanilla RNN, whose Gaussian measure Eq. 3 defines."""
    field = VanillaField(sigma_w=1.5, sigma_v=1.0, input_variance=0.5)
    point = field.fixed_point()
    simulation = simulate(
        field.network(),
        width=width,
        steps=_STEPS,
        networks=networks,
        matrices=True,
        initial_variance=point.Q,
        seed=np.random.default_rng([seed, 99]),
    )
    # The integrand is analytic in the strip |Im e| < pi / 2, up to the poles of tanh.
    (printed,), _ = expectation(lambda e: (np.tanh(e) ** 2,), np.array([point.q / 2]), np.zeros(1), strip=np.pi / 2)
    return claim(
        "E[tanh(e)^2] of simulated vanilla RNNs is that of a Gaussian of variance q. The exponent of Eq. 3 as printed "
        "is that of variance q / 2 (and, with its factor, of total mass 1/2)."
    ).near(
        simulation.Q[_STEPS // 2 :].mean(),
        ONE * simulation.Q_error[_STEPS // 2 :].max(),
        paper=printed[0],
        corrected=point.Q,
    )


def _slope_chart() -> Chart:
    maps = [PlainCorrelationMap(variance) for variance in _BIAS_VARIANCES.tolist()]
    return chart(
        "slope",
        "Eq. 9 as printed is wrong for random biases",
        "bias variance sigma_b^2",
        "slope chi of the correlation map",
        (
            line("corrected", _BIAS_VARIANCES, [each.point.chi for each in maps]),
            points("finite differences of Eq. 37", _BIAS_VARIANCES, [each.slope for each in maps]),
            dashed("Eq. 9 as printed", _BIAS_VARIANCES, [each.printed_slope for each in maps]),
        ),
        "chi is the factor by which the distance from the fixed-point correlation shrinks per step. The printed form "
        "holds only for equal biases. Minimal RNN with sigma_w = 2, sigma_v = 1, R = 0.46, bias mean 1, inputs of "
        "correlation 0.5.",
    )


def _correlation_chart(simulated: dict[float, Simulation]) -> Chart:
    maps = [PlainCorrelationMap(variance) for variance in _BIAS_VARIANCES.tolist()]
    settled = np.array([_mean_correlation(simulation) for simulation in simulated.values()])
    return chart(
        "correlation",
        "Both copies have the same biases, which increases their correlation",
        "bias variance sigma_b^2",
        "fixed-point correlation c*",
        (
            line(
                "sigma_b^2 in all four entries",
                _BIAS_VARIANCES,
                [each.correlation(shared=each.bias_variance) for each in maps],
            ),
            points("simulation, with two standard errors", list(simulated), settled[:, 0], settled[:, 1]),
            dashed(
                "sigma_b^2 I, as printed in Eq. 6", _BIAS_VARIANCES, [each.correlation(shared=0.0) for each in maps]
            ),
        ),
        "Markers are random networks with real matrices and biases. The identity matrix in Eq. 2 and 6 would mean "
        "that each copy has its own biases, which lowers their correlation. The networks are those of the other "
        "figure.",
    )


_NOTES = (
    "Eq. 38 of the paper has the correct sigma_b^2. Eq. 40 contains an undefined J_-.",
    "All numbers are for one network: sigma_w = 2, sigma_v = 1, R = 0.46, bias mean 1, inputs of correlation 0.5.",
)

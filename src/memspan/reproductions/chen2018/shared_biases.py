"""Erratum 6: the spread of biases is shared by both copies, and the slope chi must know it; Eq. 3 lacks a 1/2."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy import optimize
from scipy.special import expit

from memspan.progress import Progress
from memspan.reproductions.claims import ONE
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, claim_near, line
from memspan.theory.field import FixedPoint
from memspan.theory.gaussian import expectation
from memspan.theory.minimal import MinimalField
from memspan.theory.simulation import Simulation, simulate
from memspan.theory.vanilla import VanillaField

Array = NDArray[np.float64]

SIGMA_W, SIGMA_V, INPUT_VARIANCE, BIAS_MEAN = 2.0, 1.0, 0.46, 1.0
INPUT_CORRELATION = 0.5
BIAS_VARIANCE = 0.7
FIVE_DIGITS = 5e-6
_DIFFERENCE = 1e-4
"""Half of the step of finite differences: the slope is off by some of its square."""
_STEPS = 40
"""Correlation and variance have settled after half of them."""


@final
@dataclass(frozen=True)
class _Size:
    width: int
    networks: int
    points: int
    """Spreads of biases that are simulated."""


_SIZES = {"smoke": _Size(150, 8, 2), "laptop": _Size(600, 16, 5), "paper": _Size(1_000, 32, 9)}


@final
@dataclass(frozen=True, eq=False)
class Slopes:
    """One minimal RNN with this variance of biases, under inputs of correlation 0.5; written out as the equations stand."""

    bias_variance: float

    @cached_property
    def field(self) -> MinimalField:
        """The same, as the library has it."""
        return MinimalField(
            sigma_w=SIGMA_W,
            sigma_v=SIGMA_V,
            sigma_b=float(np.sqrt(self.bias_variance)),
            bias_mean=BIAS_MEAN,
            input_variance=INPUT_VARIANCE,
        )

    @cached_property
    def point(self) -> FixedPoint:
        """Its variances, and c* and chi as the library has them."""
        return self.field.fixed_point(INPUT_CORRELATION)

    def step(self, covariance: float, *, shared: float) -> float:
        """E[h h'] after one step (Eq. 37), where biases add `shared` to the covariance of the sums."""
        q = self.point.q
        c = (SIGMA_W**2 * covariance + self._driven + shared) / q
        both, neither = _gate_products(q, c)
        return covariance * both + INPUT_VARIANCE * INPUT_CORRELATION * neither

    @property
    def measured(self) -> float:
        """chi by finite difference of Eq. 37, around its fixed point."""
        p = self.covariance(shared=self.bias_variance)
        up, down = (self.step(p + sign * _DIFFERENCE, shared=self.bias_variance) for sign in (1, -1))
        return (up - down) / (2 * _DIFFERENCE)

    @property
    def printed(self) -> float:
        """chi by Eq. 9 at the right q and c: what is missing is -sigma_b^2 E[sigma' sigma']."""
        point = self.point
        both = _gate_products(point.q, point.c)[0]
        through = point.q * point.c + (SIGMA_W**2 - SIGMA_V**2) * INPUT_VARIANCE * INPUT_CORRELATION
        return both + through * _slope_product(point.q, point.c)

    def covariance(self, *, shared: float) -> float:
        """The fixed point of `step`."""
        Q = self.point.Q
        return optimize.root_scalar(
            lambda p: self.step(p, shared=shared) - p, bracket=(-Q, Q), xtol=1e-14
        ).root

    def correlation(self, *, shared: float) -> float:
        """c*, where biases add `shared` to the covariance: sigma_b^2, or 0 as sigma_b^2 I would have it."""
        p, q = self.covariance(shared=shared), self.point.q
        return (SIGMA_W**2 * p + self._driven + shared) / q

    @property
    def _driven(self) -> float:
        return SIGMA_V**2 * INPUT_VARIANCE * INPUT_CORRELATION


def _pair(q: float, c: float) -> tuple[Array, Array, Array]:
    """Weights of a plain product rule, and the two correlated sums at its nodes."""
    z = np.linspace(-9.0, 9.0, 91)
    weights = np.exp(-(z**2) / 2)
    weights /= weights.sum()
    first = np.sqrt(q) * z[:, None] + BIAS_MEAN
    second = np.sqrt(q) * (c * z[:, None] + np.sqrt(1 - c**2) * z) + BIAS_MEAN
    return np.outer(weights, weights), first, second


def _gate_products(q: float, c: float) -> tuple[float, float]:
    """E[u u'] and E[(1-u)(1-u')]."""
    weights, first, second = _pair(q, c)
    return float(np.sum(weights * expit(first) * expit(second))), float(
        np.sum(weights * expit(-first) * expit(-second))
    )


def _slope_product(q: float, c: float) -> float:
    """E[sigma' sigma']."""
    weights, first, second = _pair(q, c)
    return float(np.sum(weights * expit(first) * expit(-first) * expit(second) * expit(-second)))


def run(scale: str, seed: int, progress: Progress) -> Outcome:
    size = _SIZES[scale]
    spreads = np.unique(np.append(np.linspace(0.0, 2.0, size.points), BIAS_VARIANCE))
    simulated = {}
    with progress.stage("networks with real matrices and biases", len(spreads)) as stage:
        for number, spread in enumerate(spreads):
            simulated[float(spread)] = _simulated(size, Slopes(float(spread)), [seed, number])
            stage.advance()
    claims = (*_slope_claims(), *_shared_claims(simulated[BIAS_VARIANCE]), *_density_claims(size, seed))
    return Outcome(claims, (_slope_chart(), _correlation_chart(simulated)), _NOTES)


def _simulated(size: _Size, slopes: Slopes, stream: list[int]) -> Simulation:
    """Real matrices and biases, drawn anew at every step and used by both copies."""
    return simulate(
        slopes.field.network(),
        width=size.width,
        steps=_STEPS,
        networks=size.networks,
        input_correlation=INPUT_CORRELATION,
        matrices=True,
        initial_variance=slopes.point.Q,
        initial_correlation=INPUT_CORRELATION,
        seed=np.random.default_rng(stream),
    )


def _settled(simulation: Simulation) -> tuple[float, float]:
    """c of the later half of the steps, and the error of a single step, which that of the mean does not exceed."""
    return float(simulation.c[_STEPS // 2 :].mean()), float(simulation.c_error[_STEPS // 2 :].max())


def _slope_claims() -> list[Claim]:
    slopes = Slopes(BIAS_VARIANCE)
    return [
        claim_near(
            "With a variance of biases of 0.7 the correlation map has the slope 0.53150 (finite difference of Eq. "
            "37); Eq. 9 as printed gives 0.55267.",
            slopes.measured,
            FIVE_DIGITS,
            paper=0.55267,
            corrected=0.53150,
        ),
        claim_near(
            "The corrected chi, with sigma_b^2 taken off, is that slope.",
            slopes.point.chi,
            FIVE_DIGITS,
            paper=slopes.printed,
            corrected=slopes.measured,
        ),
        claim_near(
            "Without any spread of biases Eq. 9 as printed is right.",
            Slopes(0.0).printed,
            FIVE_DIGITS,
            corrected=Slopes(0.0).measured,
        ),
    ]


def _shared_claims(simulation: Simulation) -> list[Claim]:
    slopes, (c, error) = Slopes(BIAS_VARIANCE), _settled(simulation)
    shared, separate = (slopes.correlation(shared=value) for value in (BIAS_VARIANCE, 0.0))
    return [
        claim_near(
            "Two copies of networks with real matrices and biases settle at the correlation c* that sigma_b^2 in "
            "all four entries gives, not at that of sigma_b^2 I (Eq. 2 and 6).",
            c,
            ONE * error,
            paper=separate,
            corrected=shared,
        )
    ]


def _density_claims(size: _Size, seed: int) -> list[Claim]:
    """A vanilla RNN's E[tanh^2], whose Gaussian measure Eq. 3 defines."""
    field = VanillaField(sigma_w=1.5, sigma_v=1.0, input_variance=0.5)
    point = field.fixed_point()
    simulation = simulate(
        field.network(),
        width=size.width,
        steps=_STEPS,
        networks=size.networks,
        matrices=True,
        initial_variance=point.Q,
        seed=np.random.default_rng([seed, 99]),
    )
    (printed,), _ = expectation(
        lambda e: (np.tanh(e) ** 2,), np.array([point.q / 2]), np.zeros(1), strip=np.pi / 2
    )
    return [
        claim_near(
            "E[tanh(e)^2] of simulated vanilla RNNs is that of a Gaussian of variance q; the exponent of Eq. 3 as "
            "printed is that of the variance q / 2 (and, with its factor, of total mass 1/2).",
            float(simulation.Q[_STEPS // 2 :].mean()),
            float(ONE * simulation.Q_error[_STEPS // 2 :].max()),
            paper=float(printed[0]),
            corrected=point.Q,
        )
    ]


def _slope_chart() -> Chart:
    spreads = np.linspace(0.0, 2.0, 11)
    lines = [Slopes(float(spread)) for spread in spreads]
    return Chart(
        name="slope",
        title="Eq. 9 as printed is wrong as soon as biases spread",
        x_label="variance of biases sigma_b^2",
        y_label="slope chi of the correlation map",
        x_scale="linear",
        y_scale="linear",
        lines=(
            line("corrected", spreads, [one.point.chi for one in lines]),
            line("finite difference of Eq. 37", spreads, [one.measured for one in lines], style="markers"),
            line("Eq. 9 as printed", spreads, [one.printed for one in lines], style="dashed"),
        ),
        caption="chi is the factor by which the distance from the settled correlation shrinks per step. The printed "
        "form holds without any spread of biases only. Minimal RNN with sigma_w = 2, sigma_v = 1, R = 0.46, bias "
        "mean 1, inputs of correlation 0.5.",
    )


def _correlation_chart(simulated: dict[float, Simulation]) -> Chart:
    spreads = np.linspace(0.0, 2.0, 11)
    rows = [Slopes(float(spread)) for spread in spreads]
    found = np.array([_settled(one) for one in simulated.values()])
    return Chart(
        name="correlation",
        title="Both copies have the same biases, so biases make them more alike",
        x_label="variance of biases sigma_b^2",
        y_label="correlation c* that is settled at",
        x_scale="linear",
        y_scale="linear",
        lines=(
            line(
                "sigma_b^2 in all four entries",
                spreads,
                [s.correlation(shared=s.bias_variance) for s in rows],
            ),
            line(
                "simulated, with two standard errors",
                list(simulated),
                found[:, 0],
                band=(found[:, 0] - 2 * found[:, 1], found[:, 0] + 2 * found[:, 1]),
                style="markers",
            ),
            line(
                "sigma_b^2 I, as Eq. 6 prints it",
                spreads,
                [s.correlation(shared=0.0) for s in rows],
                style="dashed",
            ),
        ),
        caption="Markers are random networks with real matrices and biases. The identity matrix in Eq. 2 and 6 "
        "would mean that each copy has biases of its own, which lowers their correlation. The same networks as in "
        "the other figure.",
    )


_NOTES = (
    "Eq. 38 of the source has sigma_b^2 right; Eq. 40 contains a J_- that is defined nowhere.",
    "The slope is that of one network, sigma_w = 2, sigma_v = 1, R = 0.46, bias mean 1, inputs of correlation 0.5.",
)

"""Erratum 8 (Chen et al. 2018, appendix D): how fast the variance relaxes to its fixed point."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.progress import Progress
from memspan.reproductions.charts import chart, dashed, points
from memspan.reproductions.chen2018.edge_of_chaos import INPUT_VARIANCE, SIGMA_W, published_field
from memspan.reproductions.claims import claim
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, line
from memspan.theory.meanfield.activations import Sigmoid
from memspan.theory.meanfield.gaussian import expectation
from memspan.theory.sampled.simulation import simulate

Array = NDArray[np.float64]

_GATE = Sigmoid()
# Half of the step of finite differences, relative to Q.
_DIFFERENCE = 1e-4
# Relative initial deviation of simulated networks from Q*; the error of the slope is of the order of its square.
_PUSH = 0.1
_CLOSE = 1e-6
# Difference from which on a printed form counts as wrong.
_WRONG = 0.05


def run(
    *, seed: int, progress: Progress, bias_means: tuple[float, ...], width: int, networks: int, tolerance: float
) -> Outcome:
    """Compare the slopes of the variance map; `tolerance` of a simulated slope is 0.01 for `_PUSH`, plus noise."""
    slopes, simulated = slopes_at(bias_means), []
    with progress.stage("networks that start above and below Q*", len(slopes)) as stage:
        for slope in slopes:
            simulated.append(_simulated_slope(slope, width, networks, seed))
            stage.advance()
    claims = (*_map_claims(slopes, simulated, width, tolerance), *_printed_claims(slopes))
    return Outcome(claims, (_chart(slopes, simulated),))


@final
@dataclass(frozen=True, eq=False)
class VarianceSlope:
    """Slope of the variance map of the published network at one bias mean, by every form of the equation."""

    bias_mean: float
    q: float
    Q: float
    corrected: float
    """By Eq. 32 to 34, which are correct."""

    @property
    def measured(self) -> float:
        """Finite difference of Eq. 21 and 22."""
        field, Q = published_field(self.bias_mean), self.Q
        at = np.array([Q * (1 + _DIFFERENCE), Q * (1 - _DIFFERENCE)])
        up, down = field.variance_step(at, field.parameters.repeated(2))
        return float((up - down) / (2 * _DIFFERENCE * Q))

    @property
    def printed_36(self) -> float:
        """The argument of the logarithm in Eq. 36, without the z next to sigma'."""
        u2, u_slope, rest_slope = self._integrals(with_z=False)
        weight = SIGMA_W**2 / math.sqrt(self.q)
        return u2 + weight * (self.Q * u_slope - INPUT_VARIANCE * rest_slope)

    @property
    def printed_31(self) -> float:
        """Eq. 30 and 31, with R sqrt(q) in the last term."""
        u2, u_slope, rest_slope = self._integrals(with_z=True)
        root = math.sqrt(self.q)
        return u2 + SIGMA_W**2 * (self.Q / root * u_slope - INPUT_VARIANCE * root * rest_slope)

    def _integrals(self, *, with_z: bool) -> tuple[float, float, float]:
        """E[u^2], E[z u sigma'] and E[z (1 - u) sigma'], the latter two with or without z."""

        def integrand(e: Array) -> tuple[Array, ...]:
            u, slope = _GATE.value(e), _GATE.slopes(e)[0]
            z = (e - self.bias_mean) / math.sqrt(self.q) if with_z else np.ones_like(e)
            return u**2, z * u * slope, z * (1 - u) * slope

        (u2, u_slope, rest_slope), _ = expectation(
            integrand, np.array([self.q]), np.array([self.bias_mean]), strip=_GATE.strip
        )
        return float(u2[0]), float(u_slope[0]), float(rest_slope[0])


def slopes_at(bias_means: Sequence[float] | Array) -> list[VarianceSlope]:
    """The published network with these bias means.

    >>> (slope,) = slopes_at([0.0])
    >>> round(slope.corrected, 4), round(slope.measured, 4), round(slope.printed_36, 4), round(slope.printed_31, 4)
    (0.4974, 0.4974, 0.3317, 1.2814)
    """
    point = published_field(np.asarray(bias_means)).fixed_point()
    rows = zip(bias_means, point.q, point.Q, point.variance_slope, strict=True)
    return [VarianceSlope(*(float(number) for number in row)) for row in rows]


def _simulated_slope(slope: VarianceSlope, width: int, networks: int, seed: int) -> float:
    """Change of Q after one step per change of Q before it; both starts use the same random numbers."""
    Q, field = slope.Q, published_field(slope.bias_mean)
    up, down = (
        simulate(
            field.network(), width=width, steps=1, networks=networks, initial_variance=Q * (1 + sign * _PUSH), seed=seed
        ).Q[0]
        for sign in (1, -1)
    )
    return float((up - down) / (2 * _PUSH * Q))


def _map_claims(slopes: list[VarianceSlope], simulated: list[float], width: int, tolerance: float) -> list[Claim]:
    return [
        claim(
            f"The slope of the variance map is Eq. 34, with the z, at bias means from {slopes[0].bias_mean:g} to "
            f"{slopes[-1].bias_mean:g}. (Measured: the largest difference from finite differences of Eq. 21.)"
        ).near(max(abs(slope.corrected - slope.measured) for slope in slopes), _CLOSE, corrected=0.0),
        claim(
            f"The same holds in random networks of width {width:,} that start 10 % above and below Q*. (Measured: the "
            "largest difference from Eq. 34.)"
        ).near(
            max(abs(value - slope.corrected) for value, slope in zip(simulated, slopes, strict=True)),
            tolerance,
            corrected=0.0,
        ),
    ]


def _printed_claims(slopes: list[VarianceSlope]) -> list[Claim]:
    zero = next(slope for slope in slopes if slope.bias_mean == 0)
    worst_36 = max(abs(slope.printed_36 - slope.measured) for slope in slopes)
    worst_31 = max(abs(slope.printed_31 - slope.measured) for slope in slopes)
    return [
        claim("The slope at bias mean 0 by finite differences, next to Eq. 36 as printed (without the z).").near(
            zero.measured, _CLOSE, paper=zero.printed_36, corrected=zero.corrected
        ),
        claim("The same next to Eq. 31 as printed (R sqrt(q) instead of R / sqrt(q)).").near(
            zero.measured, _CLOSE, paper=zero.printed_31, corrected=zero.corrected
        ),
        *(
            claim(
                f"{name} as printed is off by more than {_WRONG:g} at some bias mean.", measure="the largest difference"
            ).above(worst, _WRONG)
            for name, worst in (("Eq. 36", worst_36), ("Eq. 31", worst_31))
        ),
    ]


def _chart(slopes: list[VarianceSlope], simulated: list[float]) -> Chart:
    bias_means = np.linspace(-4.0, 8.0, 61)
    curves = slopes_at(bias_means)
    return chart(
        "slope",
        "The printed slopes are not those of the variance map",
        "mean of the gate bias",
        "factor per step of a deviation from Q*",
        (
            line("Eq. 34, with the z", bias_means, [slope.corrected for slope in curves]),
            points("random networks", [slope.bias_mean for slope in slopes], simulated),
            dashed("Eq. 36 as printed", bias_means, [slope.printed_36 for slope in curves]),
            dashed("Eq. 31 as printed", bias_means, [slope.printed_31 for slope in curves]),
        ),
        "Minimal RNNs of Fig. 1. A small deviation of the state's second moment from its fixed point Q* changes by "
        "this factor at every step. Eq. 36 has lost a z, Eq. 31 has R sqrt(q) in place of R / sqrt(q).",
    )

"""Erratum 8: how fast the variance settles; Eq. 36 drops a z, and Eq. 30 and 31 have R sqrt(q) for R / sqrt(q)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.progress import Progress, Stage
from memspan.reproductions.chen2018.published import INPUT_VARIANCE, SIGMA_W, published
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, claim_near, line
from memspan.theory.activations import Sigmoid
from memspan.theory.gaussian import expectation
from memspan.theory.simulation import simulate

Array = NDArray[np.float64]

_GATE = Sigmoid()
_DIFFERENCE = 1e-4
"""Of Q: half of the step of finite differences."""
_PUSH = 0.1
"""Of Q: by how much simulated networks start above and below it; the slope is then off by some of its square."""
_CLOSE = 1e-6
_WRONG = 0.05
"""A printed form that is this far off is called wrong."""


@final
@dataclass(frozen=True)
class _Size:
    bias_means: tuple[float, ...]
    width: int
    networks: int
    tolerance: float
    """On a simulated slope: 0.01 for the size of the push, and noise."""


_ALL = tuple(float(mu) for mu in range(-4, 9))
_SIZES = {
    "smoke": _Size((-4.0, 0.0, 4.0), 16_384, 16, 0.02),
    "laptop": _Size(_ALL, 16_384, 64, 0.015),
    "paper": _Size(_ALL, 16_384, 512, 0.015),
}


@final
@dataclass(frozen=True, eq=False)
class Slope:
    """The slope of the variance map of Fig. 1's network at one bias mean, by every form of the equation."""

    bias_mean: float
    q: float
    Q: float
    corrected: float
    """By Eq. 32 to 34, which are right."""

    @property
    def measured(self) -> float:
        """The finite difference of Eq. 21 and 22."""
        field, Q = published(self.bias_mean), self.Q
        at = np.array([Q * (1 + _DIFFERENCE), Q * (1 - _DIFFERENCE)])
        up, down = field.variance_step(at, field.parameters.repeated(2))
        return float((up - down) / (2 * _DIFFERENCE * Q))

    @property
    def printed_36(self) -> float:
        """The argument of the logarithm in Eq. 36: no z beside sigma'."""
        kept, rest, closed = self._integrals(with_z=False)
        weight = SIGMA_W**2 / math.sqrt(self.q)
        return kept + weight * (self.Q * rest - INPUT_VARIANCE * closed)

    @property
    def printed_31(self) -> float:
        """Eq. 30 and 31: R sqrt(q) in the last term."""
        kept, rest, closed = self._integrals(with_z=True)
        root = math.sqrt(self.q)
        return kept + SIGMA_W**2 * (self.Q / root * rest - INPUT_VARIANCE * root * closed)

    def _integrals(self, *, with_z: bool) -> tuple[float, float, float]:
        """E[u^2], E[z u sigma'] and E[z (1 - u) sigma'], the latter two with z or without."""

        def integrand(e: Array) -> tuple[Array, ...]:
            u, slope = _GATE.value(e), _GATE.slopes(e)[0]
            z = (e - self.bias_mean) / math.sqrt(self.q) if with_z else np.ones_like(e)
            return u**2, z * u * slope, z * (1 - u) * slope

        (kept, rest, closed), _ = expectation(
            integrand, np.array([self.q]), np.array([self.bias_mean]), strip=_GATE.strip
        )
        return float(kept[0]), float(rest[0]), float(closed[0])


def slopes_at(bias_means: Sequence[float] | Array) -> list[Slope]:
    """The networks of Fig. 1 with these bias means.

    >>> (slope,) = slopes_at([0.0])
    >>> round(slope.corrected, 4), round(slope.measured, 4), round(slope.printed_36, 4), round(slope.printed_31, 4)
    (0.4974, 0.4974, 0.3317, 1.2814)
    """
    point = published(np.asarray(bias_means)).fixed_point()
    rows = zip(bias_means, point.q, point.Q, point.variance_slope, strict=True)
    return [Slope(*(float(number) for number in row)) for row in rows]


def run(scale: str, seed: int, progress: Progress) -> Outcome:
    size = _SIZES[scale]
    slopes = slopes_at(size.bias_means)
    with progress.stage("networks that start above and below Q*", len(slopes)) as stage:
        simulated = [_simulated(size, one, seed, stage) for one in slopes]
    return Outcome(_claims(size, slopes, simulated), (_chart(slopes, simulated),))


def _simulated(size: _Size, slope: Slope, seed: int, stage: Stage) -> float:
    """The change of Q after one step per change of Q before it; both starts see the same random numbers."""
    Q, field = slope.Q, published(slope.bias_mean)
    up, down = (
        simulate(
            field.network(),
            width=size.width,
            steps=1,
            networks=size.networks,
            initial_variance=Q * (1 + sign * _PUSH),
            seed=seed,
        ).Q[0]
        for sign in (1, -1)
    )
    stage.advance()
    return float((up - down) / (2 * _PUSH * Q))


def _claims(size: _Size, slopes: list[Slope], simulated: list[float]) -> tuple[Claim, ...]:
    where = f"at bias means from {size.bias_means[0]:g} to {size.bias_means[-1]:g}"
    zero = next(slope for slope in slopes if slope.bias_mean == 0)
    return (
        claim_near(
            f"The slope of the variance map is Eq. 34, with the z, {where}. (Measured: the largest difference to finite "
            "differences of Eq. 21.)",
            max(abs(slope.corrected - slope.measured) for slope in slopes),
            _CLOSE,
            corrected=0.0,
        ),
        claim_near(
            f"So it is in random networks of width {size.width:,} that start 10 % above and below Q*. (Measured: the "
            "largest difference to Eq. 34.)",
            max(abs(s - slope.corrected) for s, slope in zip(simulated, slopes, strict=True)),
            size.tolerance,
            corrected=0.0,
        ),
        claim_near(
            "The slope at bias mean 0 by finite differences, next to Eq. 36 as printed (without the z).",
            zero.measured,
            _CLOSE,
            paper=zero.printed_36,
            corrected=zero.corrected,
        ),
        claim_near(
            "The same next to Eq. 31 as printed (R sqrt(q) for R / sqrt(q)).",
            zero.measured,
            _CLOSE,
            paper=zero.printed_31,
            corrected=zero.corrected,
        ),
        *(
            Claim(
                f"{name} as printed is off by more than {_WRONG:g} somewhere. (Measured: the largest difference.)",
                None,
                None,
                worst,
                None,
                worst > _WRONG,
            )
            for name, worst in (
                ("Eq. 36", max(abs(slope.printed_36 - slope.measured) for slope in slopes)),
                ("Eq. 31", max(abs(slope.printed_31 - slope.measured) for slope in slopes)),
            )
        ),
    )


def _chart(slopes: list[Slope], simulated: list[float]) -> Chart:
    bias_means = np.linspace(-4.0, 8.0, 61)
    curves = slopes_at(bias_means)
    return Chart(
        name="slope",
        title="How fast the size of the state settles: the printed slopes are not those of the map",
        x_label="mean of the gate's bias",
        y_label="factor per step of a deviation from Q*",
        x_scale="linear",
        y_scale="linear",
        lines=(
            line("Eq. 34, with the z", bias_means, [slope.corrected for slope in curves]),
            line(
                "random networks",
                [slope.bias_mean for slope in slopes],
                simulated,
                style="markers",
            ),
            line("Eq. 36 as printed", bias_means, [slope.printed_36 for slope in curves], style="dashed"),
            line("Eq. 31 as printed", bias_means, [slope.printed_31 for slope in curves], style="dashed"),
        ),
        caption="Minimal RNNs of Fig. 1. A second moment of the state that is a little off its fixed point Q* comes "
        "back by this factor in every step. Eq. 36 has lost a z, Eq. 31 has R sqrt(q) in place of R / sqrt(q).",
    )

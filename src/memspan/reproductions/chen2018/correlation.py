"""Chen et al. 2018, Fig. 1: how alike two copies of a minimal RNN become, by theory and in random networks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.progress import Progress
from memspan.reproductions.chen2018.correlation_charts import Grid, Measured, charts
from memspan.reproductions.chen2018.published import edge_of_chaos, published
from memspan.reproductions.recipe import Outcome
from memspan.results import Claim, claim_near
from memspan.theory.field import FixedPoint
from memspan.theory.minimal import MinimalField
from memspan.theory.simulation import simulate
from memspan.theory.timescale import timescale_of

Array = NDArray[np.float64]

STEPS, SWITCH = 70, 10
"""Inputs are independent before step SWITCH and equal from then on."""
_INPUTS = np.where(np.arange(STEPS) < SWITCH, 0.0, 1.0)
_ACCEPTED = 0.01
"""How far simulated and predicted correlations may be apart."""
_SETTLED = 0.002
"""A correlation this near to c* (by theory) counts as settled."""
_LINEAR = (1e-9, 0.01)
"""Distances from c* at which the approach is exponential and still far from rounding errors."""
_TIMESCALES = ((6.0, 139.0), (7.6, 649.0), (8.0, 964.0))
_EDGES = ((-0.5, 0.5, 0.014), (4.3, 4.9, 4.59))


@final
@dataclass(frozen=True)
class _Size:
    bias_means: tuple[float, ...]
    width: int
    networks: int
    tied_width: int
    tied_networks: int
    settling_networks: int
    """Of `width`, for c*; a fourth of the tied ones settle as well."""
    averaged: int
    """Steps over which the settled correlation is averaged: in chaos it fluctuates, for some ten steps each time."""
    tolerance: float
    """On c: 0.01, or where more, five standard errors of 1.5 / sqrt(width networks)."""
    settling_tolerance: float
    points: int
    """Of the lines that show theory."""


_ALL = tuple(float(mu) for mu in range(-4, 9))
_SIZES = {
    "smoke": _Size((-4.0, 2.0, 6.0), 1_024, 16, 100, 4, 2, 50, 0.06, 0.06, 25),
    "laptop": _Size(_ALL, 4_096, 128, 512, 16, 8, 300, _ACCEPTED, 0.02, 481),
    "paper": _Size(_ALL, 8_192, 1_000, 1_024, 32, 32, 300, _ACCEPTED, _ACCEPTED, 481),
}


def run(scale: str, seed: int, progress: Progress) -> Outcome:
    size, found = _SIZES[scale], []
    with progress.stage(
        "pairs of minimal RNNs, one bias mean after the other", len(size.bias_means)
    ) as stage:
        for number, bias_mean in enumerate(size.bias_means):
            found.append(_measured(size, bias_mean, [seed, number]))
            stage.advance()
    grid = _grid(size.points)
    claims = (*_agreement(size, found), *_tied(found), *_timescales(), *_edges(), *_memory())
    return Outcome(claims, charts(found, grid, SWITCH), _notes(size))


def _measured(size: _Size, bias_mean: float, stream: list[int]) -> Measured:
    field = published(bias_mean)
    run = _Pairs(size, field, field.fixed_point(), np.random.default_rng(stream))
    settling = np.ones(_settling_steps(field, run.point) + size.averaged)
    untied, tied = (run.of(tied, _INPUTS, 1.0) for tied in (False, True))
    untied_rest, tied_rest = (run.of(tied, settling, 0.5)[-size.averaged :] for tied in (False, True))
    return Measured(
        bias_mean=bias_mean,
        chaotic=run.point.chi1 > 1,
        timescale=timescale_of(run.point.chi),
        c_star=run.point.c,
        theory=field.correlation_dynamics(_INPUTS),
        untied=untied,
        tied=tied,
        untied_c_star=float(untied_rest.mean()),
        tied_c_star=float(tied_rest.mean()),
    )


@final
@dataclass(frozen=True, eq=False)
class _Pairs:
    size: _Size
    field: MinimalField
    point: FixedPoint
    generator: np.random.Generator

    def of(self, tied: bool, inputs: Array, start: float) -> Array:
        """c(t) of pairs whose states begin with the second moment Q* and the correlation `start`; few for a long run."""
        size = self.size
        networks = size.tied_networks if tied else size.networks
        if inputs.size > STEPS:
            networks = size.tied_networks // 4 if tied else size.settling_networks
        return simulate(
            self.field.network(),
            width=size.tied_width if tied else size.width,
            steps=inputs.size,
            networks=networks,
            input_correlation=inputs,
            tied=tied,
            initial_variance=self.point.Q,
            initial_correlation=start,
            seed=self.generator,
        ).c


def _settling_steps(field: MinimalField, point: FixedPoint) -> int:
    """How long it takes by theory, from states of correlation 1/2, until c is c*."""
    steps = 100 + int(3 * timescale_of(point.chi))
    away = np.abs(field.correlation_dynamics(np.ones(steps), initial_correlation=0.5) - point.c)
    return int(np.argmax(away < _SETTLED)) if np.any(away < _SETTLED) else steps


def _grid(points: int) -> Grid:
    """What theory says between the simulated bias means."""
    bias_means = np.linspace(-4.0, 8.0, points)
    field = published(bias_means)
    return Grid(
        bias_means=bias_means,
        c_star=np.asarray(field.fixed_point().c),
        timescales={sigma: np.asarray(field.timescale(sigma)) for sigma in (1.0, 0.99, 0.0)},
    )


def _agreement(size: _Size, found: list[Measured]) -> list[Claim]:
    low, high = size.bias_means[0], size.bias_means[-1]
    return [
        claim_near(
            f"Panel a: The correlation c(t) of two untied networks is the predicted one at all {STEPS} steps and all bias "
            f"means from {low:g} to {high:g}. (Measured: the largest difference.)",
            max(float(np.max(np.abs(one.untied - one.theory))) for one in found),
            size.tolerance,
            corrected=0.0,
        ),
        claim_near(
            "Panel c: The correlation c* that untied networks settle at under equal inputs is the predicted one. "
            "(Measured: the largest difference.)",
            max(abs(one.untied_c_star - one.c_star) for one in found),
            size.settling_tolerance,
            corrected=0.0,
        ),
        claim_near(
            "Panel d: In the ordered phase the simulated 1 - c(t) falls as exp(-t / tau) in the end. (Measured: the "
            "largest relative difference of the rate 1 / tau.)",
            max(_rate_error(one) for one in found if _linear(one).size),
            0.1,
            corrected=0.0,
        ),
    ]


def _linear(one: Measured) -> NDArray[np.intp]:
    """The steps at which, by theory, c is close to its c* of 1 but not yet lost in rounding."""
    gap = np.abs(one.theory - one.c_star)
    near = (gap > _LINEAR[0]) & (gap < _LINEAR[1]) & (np.arange(STEPS) >= SWITCH)
    return np.flatnonzero(near & (not one.chaotic))


def _rate_error(one: Measured) -> float:
    steps = _linear(one)
    rate = -np.polyfit(steps, np.log(1 - one.untied[steps]), 1)[0]
    return float(abs(rate * one.timescale - 1))


def _tied(found: list[Measured]) -> list[Claim]:
    chaotic, ordered = (
        [one.tied_difference for one in found if one.chaotic is wanted] for wanted in (True, False)
    )
    return [
        Claim(
            "Panel b: Tied weights, as networks in use have, change c(t) most in the chaotic phase: more at its worst "
            "than anywhere else. (Measured: the largest difference there.)",
            None,
            None,
            max(chaotic),
            None,
            max(chaotic) > max(ordered),
        )
    ]


def _timescales() -> list[Claim]:
    return [
        claim_near(
            f"Panel e: At bias mean {mu:g} a signal lasts {tau:g} steps under equal inputs.",
            published(mu).timescale(),
            0.5,
            corrected=tau,
        )
        for mu, tau in _TIMESCALES
    ]


def _edges() -> list[Claim]:
    """chi_1 = 1 is met twice; the second time beside a jump from one fixed point of the variance to another."""
    return [
        claim_near(
            f"Panel e: chi_1 passes 1 at a bias mean of {edge:g}: the edge of chaos.",
            edge_of_chaos(low, high),
            0.005,
            paper=0.0 if edge < 1 else None,
            corrected=edge,
        )
        for low, high, edge in _EDGES
    ]


def _memory() -> list[Claim]:
    equal, almost = published(0.0).timescale(1.0), published(0.0).timescale(0.99)
    alike, unlike = published(8.0).timescale(1.0), published(8.0).timescale(0.0)
    return [
        Claim(
            "Panel e: The long memory at the edge of chaos (bias mean 0) needs equal inputs: with inputs of correlation "
            "0.99 less than a fiftieth of it is left. (Measured: the share.)",
            None,
            None,
            almost / equal,
            None,
            almost < equal / 50,
        ),
        Claim(
            "Panel e: The long memory of an open gate (bias mean 8) does not: inputs of correlation 0 leave more than "
            "0.95 of it. (Measured: the share.)",
            None,
            None,
            unlike / alike,
            None,
            unlike > 0.95 * alike,
        ),
    ]


def _notes(size: _Size) -> tuple[str, ...]:
    return (
        "The source does not say how the copies begin; here both begin in one Gaussian state of the second moment "
        "Q*, on the branch that h = 0 leads to, so c(0) already shows what independent inputs do.",
        f"Tied networks are real matrices of width {size.tied_width:,}; the source took 8,192.",
        "c* is not read off after 70 steps, which are too few near the edge of chaos and for open gates: pairs of "
        f"correlation 1/2 run under equal inputs until theory says that c is within {_SETTLED:g} of c*, and c is "
        f"averaged over the {size.averaged} steps after that.",
    )

"""Erratum 9 (Chen et al. 2018): Algorithm 1 can return a negative sigma_v^2, or a fixed point that no network reaches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from memspan.errors import InputError
from memspan.progress import Progress
from memspan.reproductions.charts import chart, dashed, points
from memspan.reproductions.chen2018.edge_of_chaos import INPUT_VARIANCE
from memspan.reproductions.claims import ONE, claim
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, line
from memspan.theory.meanfield.field import timescale_of
from memspan.theory.meanfield.inverse import FeasibleRange, critical_minimal, feasible_range
from memspan.theory.meanfield.minimal import MinimalField
from memspan.theory.sampled.simulation import Growth, growth

# Smallest q with sigma_v^2 >= 0, by bias mean.
SMALLEST = {0.0: 14.3, 2.0: 4.82, 4.0: 1.42, 6.0: 1.055, 8.0: 1.009}
# Smallest q with a stable fixed point, by bias mean.
STABLE = {4.0: 2.42, 6.0: 3.54, 8.0: 4.70}
_TWO_DIGITS = 0.01
_EXACT = 1e-6
# Length of a simulation in timescales of the variance; the first half lets it settle.
_SETTLING = 16


def run(
    *, seed: int, progress: Progress, bias_means: tuple[float, ...], width: int, networks: int, chart_points: int
) -> Outcome:
    """Check where Algorithm 1 has a solution, and simulate its solutions; the chart has `chart_points` more bias means."""
    fields = {mu: critical_minimal(bias_mean=mu, input_variance=INPUT_VARIANCE) for mu in bias_means}
    growths: dict[float, Growth] = {}
    with progress.stage("critical networks", len(fields)) as stage:
        for mu, field in fields.items():
            steps = int(max(100, _SETTLING * timescale_of(field.fixed_point().variance_slope)))
            growths[mu] = growth(field.network(), width=width, steps=steps, networks=networks, seed=seed)
            stage.advance()
    ranges = {mu: feasible_range(mu) for mu in sorted({*SMALLEST, *np.linspace(-1.0, 8.0, chart_points).tolist()})}
    claims = (*_infeasible_claims(ranges[2.0]), *_limit_claims(ranges), *_critical_claims(fields, growths))
    return Outcome(claims, (_chart(ranges),), (_note(fields, growths),))


@final
@dataclass(frozen=True)
class CriticalWeights:
    """What Algorithm 1 returns, and the slope of the variance map there."""

    sigma_w2: float
    sigma_v2: float
    variance_slope: float


def algorithm_1(q: float, bias_mean: float, input_variance: float) -> CriticalWeights:
    """Algorithm 1 line by line, without checking that its result exists.

    >>> round(algorithm_1(1.0, 2.0, 0.46).sigma_v2, 2)
    -2.05
    """
    at, mean, R = np.array([q]), np.array([bias_mean]), input_variance
    gates = MinimalField().gate_moments(at, mean)
    Q = R * gates.taken / gates.lost
    sigma_w2 = gates.lost / (Q + R) / gates.slope2
    sigma_v2 = (q - Q * sigma_w2) / R
    field = MinimalField(sigma_w=np.sqrt(sigma_w2), bias_mean=bias_mean, input_variance=R)
    slope = field.variance_slope_at(at, Q, field.parameters)
    return CriticalWeights(float(sigma_w2[0]), float(sigma_v2[0]), float(slope[0]))


def _infeasible_claims(feasible: FeasibleRange) -> list[Claim]:
    try:
        critical_minimal(bias_mean=2.0, input_variance=INPUT_VARIANCE, q=1.0)
        refusal = ""
    except InputError as error:
        refusal = str(error)
    return [
        claim(
            "Algorithm 1 with q = 1, bias mean 2 and R = 0.46 returns sigma_v^2 = -2.05, which is not a variance."
        ).near(algorithm_1(1.0, 2.0, INPUT_VARIANCE).sigma_v2, _TWO_DIGITS, corrected=-2.05),
        claim(
            f"The library rejects these parameters and reports the feasible range. (The message: {refusal}.)",
            measure="the lower end of the range",
        ).holds_if(feasible.low, f"{feasible.low:.4g}" in refusal),
    ]


def _limit_claims(ranges: dict[float, FeasibleRange]) -> list[Claim]:
    between = algorithm_1(2.0, 4.0, INPUT_VARIANCE)
    return [
        *(
            claim(f"Bias mean {mu:g}: sigma_v^2 is not negative from q = {q:g} on, for every R.").near(
                ranges[mu].q_min, _TWO_DIGITS, corrected=q
            )
            for mu, q in SMALLEST.items()
        ),
        *(
            claim(f"Bias mean {mu:g}: below q = {q:g} the fixed point is unstable, so no network reaches it.").near(
                ranges[mu].low, _TWO_DIGITS, corrected=q
            )
            for mu, q in STABLE.items()
        ),
        claim(
            "Bias mean 4, q = 2: Algorithm 1 returns a variance, but deviations of the state's second moment grow there.",
            measure="their factor per step",
        ).holds_if(between.variance_slope, between.variance_slope > 1 and between.sigma_v2 > 0),
    ]


def _critical_claims(fields: dict[float, MinimalField], growths: dict[float, Growth]) -> list[Claim]:
    return [
        claim(
            "The networks returned by critical_minimal are critical: chi_1 = 1. (Measured: the largest difference.)"
        ).near(max(abs(field.chi1 - 1) for field in fields.values()), _EXACT, corrected=0.0),
        *(
            claim(
                f"Bias mean {mu:g}: small differences neither grow nor decay in random networks with these weights. "
                "(Measured: the factor per step of their squares.)"
            ).near(found.chi, ONE * found.error, corrected=1.0)
            for mu, found in growths.items()
        ),
    ]


def _note(fields: dict[float, MinimalField], growths: dict[float, Growth]) -> str:
    rows = "; ".join(
        f"bias mean {mu:g}: sigma_w = {field.sigma_w:.3f}, sigma_v = {field.sigma_v:.3f}, growth "
        f"{growths[mu].chi:.4f} ± {growths[mu].error:.4f}"
        for mu, field in fields.items()
    )
    return f"Simulated critical networks at R = {INPUT_VARIANCE:g}: {rows}."


def _chart(ranges: dict[float, FeasibleRange]) -> Chart:
    bias_means = list(ranges)
    return chart(
        "feasible",
        "Critical minimal RNNs exist only above a smallest q",
        "mean of the gate bias",
        "variance q of the gate pre-activation",
        (
            line("below: sigma_v^2 would be negative", bias_means, [each.q_min for each in ranges.values()]),
            dashed("below: the fixed point is unstable", bias_means, [each.low for each in ranges.values()]),
            points("the example with sigma_v^2 = -2.05", [2.0], [1.0]),
        ),
        "Algorithm 1 turns a choice of q and of the bias mean into weights at the edge of chaos. Below the solid line "
        "there are no such weights. Between the solid and the dashed line they exist, but the network does not settle "
        "there. The limits do not depend on the input variance R.",
        log="y",
    )

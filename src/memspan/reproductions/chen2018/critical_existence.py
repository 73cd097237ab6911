"""Erratum 9: Algorithm 1 can ask for a negative sigma_v^2, or for a fixed point that no network reaches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from memspan.errors import InputError
from memspan.progress import Progress, Stage
from memspan.reproductions.chen2018.published import INPUT_VARIANCE
from memspan.reproductions.claims import ONE
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, claim_near, line
from memspan.theory.critical import FeasibleRange, critical_minimal, feasible_range
from memspan.theory.growth import Growth, growth
from memspan.theory.minimal import MinimalField
from memspan.theory.timescale import timescale_of

SMALLEST = {0.0: 14.3, 2.0: 4.82, 4.0: 1.42, 6.0: 1.055, 8.0: 1.009}
"""q from which on sigma_v^2 is not negative, by bias mean."""
STABLE = {4.0: 2.42, 6.0: 3.54, 8.0: 4.70}
"""q from which on the fixed point is stable, by bias mean."""
_DIGITS = 0.01
_EXACT = 1e-6
_SETTLING = 16
"""Timescales of the variance that a network runs for; the first half lets it settle."""


@final
@dataclass(frozen=True)
class _Size:
    bias_means: tuple[float, ...]
    width: int
    networks: int
    drawn: tuple[float, ...]
    """Bias means of the drawn limits, besides those above."""


_SIZES = {
    "smoke": _Size((2.0,), 4_096, 8, ()),
    "laptop": _Size((0.0, 2.0, 4.0, 6.0), 8_192, 32, tuple(np.linspace(-1.0, 8.0, 28))),
    "paper": _Size((0.0, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0), 16_384, 64, tuple(np.linspace(-1.0, 8.0, 28))),
}


@final
@dataclass(frozen=True)
class Weights:
    """What Algorithm 1 returns, and the slope of the variance map there."""

    sigma_w2: float
    sigma_v2: float
    variance_slope: float


def algorithm_1(q: float, bias_mean: float, input_variance: float) -> Weights:
    """Algorithm 1 line by line, without a look at whether its answer exists.

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
    return Weights(float(sigma_w2[0]), float(sigma_v2[0]), float(slope[0]))


def run(scale: str, seed: int, progress: Progress) -> Outcome:
    size = _SIZES[scale]
    fields = {mu: critical_minimal(bias_mean=mu, input_variance=INPUT_VARIANCE) for mu in size.bias_means}
    with progress.stage("critical networks", len(fields)) as stage:
        grown = {mu: _grown(size, field, seed, stage) for mu, field in fields.items()}
    ranges = {mu: feasible_range(float(mu)) for mu in sorted({*SMALLEST, *size.drawn})}
    claims = (*_impossible(ranges[2.0]), *_limits(ranges), *_critical(fields, grown))
    return Outcome(claims, (_chart(ranges),), _notes(fields, grown))


def _grown(size: _Size, field: MinimalField, seed: int, stage: Stage) -> Growth:
    steps = int(max(100, _SETTLING * timescale_of(field.fixed_point().variance_slope)))
    found = growth(field.network(), width=size.width, steps=steps, networks=size.networks, seed=seed)
    stage.advance()
    return found


def _impossible(feasible: FeasibleRange) -> list[Claim]:
    try:
        critical_minimal(bias_mean=2.0, input_variance=INPUT_VARIANCE, q=1.0)
        refusal = ""
    except InputError as error:
        refusal = str(error)
    return [
        claim_near(
            "Algorithm 1 with q = 1, bias mean 2 and R = 0.46 returns sigma_v^2 = -2.05, which is no variance.",
            algorithm_1(1.0, 2.0, INPUT_VARIANCE).sigma_v2,
            _DIGITS,
            corrected=-2.05,
        ),
        Claim(
            f"These are refused, and the feasible range is named. (The message: {refusal}. Measured: where it begins.)",
            None,
            None,
            feasible.low,
            None,
            f"feasible are q from {feasible.low:.4g}" in refusal,
        ),
    ]


def _limits(ranges: dict[float, FeasibleRange]) -> list[Claim]:
    claims = [
        claim_near(
            f"Bias mean {mu:g}: sigma_v^2 is not negative from q = {q:g} on, whatever R is.",
            ranges[mu].q_min,
            _DIGITS,
            corrected=q,
        )
        for mu, q in SMALLEST.items()
    ]
    stable = [
        claim_near(
            f"Bias mean {mu:g}: below q = {q:g} the fixed point is unstable, so no network comes to it.",
            ranges[mu].low,
            _DIGITS,
            corrected=q,
        )
        for mu, q in STABLE.items()
    ]
    between = algorithm_1(2.0, 4.0, INPUT_VARIANCE)
    unstable = Claim(
        "Bias mean 4, q = 2: Algorithm 1 returns a variance, but a deviation of the state's second moment grows there. "
        "(Measured: its factor per step.)",
        None,
        None,
        between.variance_slope,
        None,
        between.variance_slope > 1 and between.sigma_v2 > 0,
    )
    return [*claims, *stable, unstable]


def _critical(fields: dict[float, MinimalField], grown: dict[float, Growth]) -> list[Claim]:
    exact = claim_near(
        "The networks that critical_minimal returns are critical: chi_1 = 1. (Measured: the largest difference.)",
        max(abs(field.chi1 - 1) for field in fields.values()),
        _EXACT,
        corrected=0.0,
    )
    simulated = [
        claim_near(
            f"Bias mean {mu:g}: small differences neither grow nor fade in random networks of these weights. (Measured: the "
            "factor per step of their squares.)",
            found.chi,
            ONE * found.error,
            corrected=1.0,
        )
        for mu, found in grown.items()
    ]
    return [exact, *simulated]


def _notes(fields: dict[float, MinimalField], grown: dict[float, Growth]) -> tuple[str, ...]:
    rows = "; ".join(
        f"bias mean {mu:g}: sigma_w = {field.sigma_w:.3f}, sigma_v = {field.sigma_v:.3f}, growth {grown[mu].chi:.4f} ± "
        f"{grown[mu].error:.4f}"
        for mu, field in fields.items()
    )
    return (f"Critical networks at R = {INPUT_VARIANCE:g} that were simulated: {rows}.",)


def _chart(ranges: dict[float, FeasibleRange]) -> Chart:
    bias_means = list(ranges)
    return Chart(
        name="feasible",
        title="Critical minimal RNNs exist only above a smallest q",
        x_label="mean of the gate's bias",
        y_label="variance q of the gate's sums",
        x_scale="linear",
        y_scale="log",
        lines=(
            line(
                "below: sigma_v^2 would be negative", bias_means, [found.q_min for found in ranges.values()]
            ),
            line(
                "below: the fixed point is unstable",
                bias_means,
                [found.low for found in ranges.values()],
                style="dashed",
            ),
            line("the example that gives sigma_v^2 = -2.05", [2.0], [1.0], style="markers"),
        ),
        caption="Algorithm 1 turns a choice of q and of the bias mean into weights at the edge of chaos. Below the "
        "line there are no such weights; between line and dashed line there are, but the network does not come to "
        "rest there. The limits do not depend on the inputs' variance R.",
    )

"""Chen et al. 2018, Fig. 1: the correlation of two copies of a minimal RNN, in theory and in random networks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.progress import Progress
from memspan.reproductions.charts import chart, dashed, points
from memspan.reproductions.chen2018.edge_of_chaos import edge_of_chaos, published_field
from memspan.reproductions.claims import claim
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, Line, line
from memspan.theory.meanfield.field import FixedPoint, timescale_of
from memspan.theory.meanfield.minimal import MinimalField
from memspan.theory.sampled.simulation import simulate

Array = NDArray[np.float64]

# Inputs of the two copies are independent before step SWITCH and equal from then on.
STEPS, SWITCH = 70, 10
_INPUTS = np.where(np.arange(STEPS) < SWITCH, 0.0, 1.0)
# A correlation this close to c* in theory counts as settled.
_SETTLED = 0.002
# Distances from c* at which the approach is exponential and still far above rounding errors.
_LINEAR = (1e-9, 0.01)
# Bias means, and their timescales under equal inputs.
_TIMESCALES = ((6.0, 139.0), (7.6, 649.0), (8.0, 964.0))
# Brackets of the bias means at which chi_1 is 1, and these bias means.
_EDGES = ((-0.5, 0.5, 0.014), (4.3, 4.9, 4.59))


def run(
    *,
    seed: int,
    progress: Progress,
    bias_means: tuple[float, ...],
    untied: tuple[int, int, int],
    tied: tuple[int, int, int],
    averaged: int,
    tolerance: float,
    settling_tolerance: float,
    chart_points: int,
) -> Outcome:
    """Simulate pairs of networks at every bias mean and compare them with theory.

    `untied` and `tied` are the width, the number of networks, and the number of networks in runs longer than `STEPS`. The
    settled correlation is averaged over `averaged` steps, because in chaos it fluctuates with a memory of some ten steps.
    `tolerance` applies to c(t): 0.01, or five standard errors of 1.5 / sqrt(width networks) if that is more.
    """
    ensembles = PairEnsemble(False, *untied), PairEnsemble(True, *tied)
    dynamics: list[PairDynamics] = []
    with progress.stage("pairs of minimal RNNs, by bias mean", len(bias_means)) as stage:
        for number, bias_mean in enumerate(bias_means):
            dynamics.append(_dynamics(ensembles, bias_mean, averaged, np.random.default_rng([seed, number])))
            stage.advance()
    claims = (*_agreement(dynamics, tolerance, settling_tolerance), _tied_claim(dynamics), *_timescale_claims())
    fine = np.linspace(-4.0, 8.0, chart_points)
    charts = (
        _theory_chart(dynamics),
        _tied_chart(dynamics),
        _settled_chart(dynamics, fine),
        _decay_chart(dynamics),
        _timescale_chart(fine),
    )
    return Outcome(claims, charts, _notes(tied[0], averaged))


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class PairDynamics:
    """c(t) of two copies at one bias mean, and the c* that it settles at; arrays are (steps,)."""

    bias_mean: float
    chaotic: bool
    timescale: float
    c_star: float
    theory: Array
    untied: Array
    tied: Array
    untied_c_star: float
    tied_c_star: float

    @property
    def tied_difference(self) -> float:
        """Largest difference between tied and untied networks over the steps."""
        return float(np.max(np.abs(self.tied - self.untied)))


@final
@dataclass(frozen=True)
class PairEnsemble:
    """Random networks whose weights are drawn once (`tied`) or at every step."""

    tied: bool
    width: int
    networks: int
    settling_networks: int
    """Fewer networks, for runs longer than `STEPS`."""

    def correlation(
        self, field: MinimalField, point: FixedPoint, inputs: Array, start: float, generator: np.random.Generator
    ) -> Array:
        """c(t) of pairs whose states start with second moment Q* and correlation `start`."""
        return simulate(
            field.network(),
            width=self.width,
            steps=inputs.size,
            networks=self.settling_networks if inputs.size > STEPS else self.networks,
            input_correlation=inputs,
            tied=self.tied,
            initial_variance=point.Q,
            initial_correlation=start,
            seed=generator,
        ).c


def _dynamics(
    ensembles: tuple[PairEnsemble, ...], bias_mean: float, averaged: int, generator: np.random.Generator
) -> PairDynamics:
    field = published_field(bias_mean)
    point = field.fixed_point()
    settling = np.ones(_settling_steps(field, point) + averaged)
    # All four simulations draw from one generator, so their order is part of the result.
    runs = [ensemble.correlation(field, point, _INPUTS, 1.0, generator) for ensemble in ensembles]
    rests = [ensemble.correlation(field, point, settling, 0.5, generator) for ensemble in ensembles]
    untied_c_star, tied_c_star = (float(rest[-averaged:].mean()) for rest in rests)
    return PairDynamics(
        bias_mean=bias_mean,
        chaotic=point.chi1 > 1,
        timescale=timescale_of(point.chi),
        c_star=point.c,
        theory=field.correlation_dynamics(_INPUTS),
        untied=runs[0],
        tied=runs[1],
        untied_c_star=untied_c_star,
        tied_c_star=tied_c_star,
    )


def _settling_steps(field: MinimalField, point: FixedPoint) -> int:
    """Steps after which, in theory, pairs of correlation 1/2 have settled."""
    steps = 100 + int(3 * timescale_of(point.chi))
    distance = np.abs(field.correlation_dynamics(np.ones(steps), initial_correlation=0.5) - point.c)
    return int(np.argmax(distance < _SETTLED)) if np.any(distance < _SETTLED) else steps


def _agreement(dynamics: list[PairDynamics], tolerance: float, settling_tolerance: float) -> list[Claim]:
    low, high = dynamics[0].bias_mean, dynamics[-1].bias_mean
    return [
        claim(
            f"Panel a: The correlation c(t) of two untied networks equals the prediction at all {STEPS} steps, for "
            f"bias means from {low:g} to {high:g}. (Measured: the largest difference.)"
        ).near(max(float(np.max(np.abs(one.untied - one.theory))) for one in dynamics), tolerance, corrected=0.0),
        claim(
            "Panel c: Under equal inputs, untied networks settle at the predicted correlation c*. (Measured: the "
            "largest difference.)"
        ).near(max(abs(one.untied_c_star - one.c_star) for one in dynamics), settling_tolerance, corrected=0.0),
        claim(
            "Panel d: In the ordered phase the simulated 1 - c(t) finally decays as exp(-t / tau). (Measured: the "
            "largest relative difference of the rate 1 / tau.)"
        ).near(max(_rate_error(one) for one in dynamics if _linear_steps(one).size), 0.1, corrected=0.0),
    ]


def _linear_steps(one: PairDynamics) -> NDArray[np.intp]:
    """Steps at which, in theory, c is close to a c* of 1 but not yet dominated by rounding."""
    gap = np.abs(one.theory - one.c_star)
    near = (gap > _LINEAR[0]) & (gap < _LINEAR[1]) & (np.arange(STEPS) >= SWITCH)
    return np.flatnonzero(near & (not one.chaotic))


def _rate_error(one: PairDynamics) -> float:
    steps = _linear_steps(one)
    rate = -np.polyfit(steps, np.log(1 - one.untied[steps]), 1)[0]
    return float(abs(rate * one.timescale - 1))


def _tied_claim(dynamics: list[PairDynamics]) -> Claim:
    chaotic, ordered = (max(one.tied_difference for one in dynamics if one.chaotic is phase) for phase in (True, False))
    text = "Panel b: Tied weights, as in practice, change c(t) most in the chaotic phase."
    return claim(text, measure="the largest difference in that phase").above(chaotic, ordered)


def _timescale_claims() -> list[Claim]:
    """Panel e. chi_1 = 1 is met twice, the second time next to a jump between two fixed points of the variance."""
    at_edge = published_field(0.0).timescale(0.99) / published_field(0.0).timescale(1.0)
    open_gate = published_field(8.0).timescale(0.0) / published_field(8.0).timescale(1.0)
    return [
        *(
            claim(f"Panel e: At bias mean {bias_mean:g} the timescale is {timescale:g} steps under equal inputs.").near(
                published_field(bias_mean).timescale(), 0.5, corrected=timescale
            )
            for bias_mean, timescale in _TIMESCALES
        ),
        *(
            claim(f"Panel e: chi_1 crosses 1, the edge of chaos, at a bias mean of {edge:g}.").near(
                edge_of_chaos(low, high), 0.005, paper=0.0 if edge < 1 else None, corrected=edge
            )
            for low, high, edge in _EDGES
        ),
        claim(
            "Panel e: The long memory at the edge of chaos (bias mean 0) requires equal inputs: with inputs of "
            "correlation 0.99, less than a fiftieth of the timescale remains.",
            measure="the remaining share",
        ).below(at_edge, 1 / 50),
        claim(
            "Panel e: The long memory of an open gate (bias mean 8) does not: with inputs of correlation 0, more than "
            "0.95 of the timescale remains.",
            measure="the remaining share",
        ).above(open_gate, 0.95),
    ]


# Bias means in panel a; one chart cannot show all.
_SHOWN = (-4.0, 0.0, 2.0, 4.0, 6.0)
# Bias means in panel b.
_COMPARED = (0.0, 2.0, 4.0, 6.0)
# Bias means in panel d.
_DECAYS = (-4.0, -2.0, 2.0, 4.0, 5.0, 6.0)
# Lower end of panel d; below it the noise of simulations in the chaotic phase dominates.
_FLOOR = 2e-3
_TIME = np.arange(STEPS, dtype=np.float64)
_C_AXES = ("step t", "correlation c(t) of the gate pre-activations")
_BIAS_MEAN = "mean of the gate bias"


def _dashed_group(label: str, parts: Sequence[tuple[Array, Array]]) -> Line:
    """Several dashed lines as one line with gaps, so that they share a legend entry."""
    gap = np.array([np.nan])
    x = np.concatenate([np.concatenate([part, gap]) for part, _ in parts])
    y = np.concatenate([np.concatenate([part, gap]) for _, part in parts])
    return dashed(label, x, y)


def _theory_chart(dynamics: Sequence[PairDynamics]) -> Chart:
    shown = [one for one in dynamics if one.bias_mean in _SHOWN]
    return chart(
        "a-theory-and-untied",
        "Theory predicts the correlation of two copies of a random network at every step",
        *_C_AXES,
        (
            *(line(f"bias mean {one.bias_mean:g}", _TIME, one.untied) for one in shown),
            _dashed_group("theory", [(_TIME, one.theory) for one in shown]),
        ),
        f"Two copies of a minimal RNN with the same weights receive independent inputs until step {SWITCH} and equal "
        "inputs from then on. Solid: simulation with weights redrawn at every step; dashed: theory. In the ordered "
        "phase the copies become equal (c = 1); with bias means 2 and 4, in chaos, they never do.",
    )


def _tied_chart(dynamics: Sequence[PairDynamics]) -> Chart:
    lines = []
    for one in dynamics:
        if one.bias_mean in _COMPARED:
            lines.append(line(f"bias mean {one.bias_mean:g}, untied", _TIME, one.untied))
            lines.append(dashed(f"bias mean {one.bias_mean:g}, tied", _TIME, one.tied))
    return chart(
        "b-tied-and-untied",
        "Tied weights behave alike, except in chaos",
        *_C_AXES,
        lines,
        f"As in panel a (inputs are independent until step {SWITCH}, then equal). Solid: weights redrawn at every "
        "step, as theory assumes; dashed: one draw for all steps, as in practice. They differ where the network is "
        "chaotic (bias means 2 and 4).",
    )


def _settled_chart(dynamics: Sequence[PairDynamics], bias_means: Array) -> Chart:
    simulated = [one.bias_mean for one in dynamics]
    return chart(
        "c-settled",
        "In the chaotic range two copies under equal inputs stay different",
        _BIAS_MEAN,
        "fixed-point correlation c*",
        (
            line("theory", bias_means, np.asarray(published_field(bias_means).fixed_point().c)),
            points("simulation, untied weights", simulated, [one.untied_c_star for one in dynamics]),
            points("simulation, tied weights", simulated, [one.tied_c_star for one in dynamics]),
        ),
        "Where c* is 1 the copies become equal and only the inputs matter. Between bias means of 0.014 and 4.59 "
        "networks with untied weights are chaotic and c* is below 1, as predicted. At 4.59 they jump from one fixed "
        "point to another. Tied weights have a different c*.",
    )


def _decay_chart(dynamics: Sequence[PairDynamics]) -> Chart:
    shown = [one for one in dynamics if one.bias_mean in _DECAYS]
    t, lines = _TIME[SWITCH:], []
    for one in shown:
        distance = np.abs(one.untied - one.c_star)[SWITCH:]
        visible = np.cumsum(distance < _FLOOR) == 0
        lines.append(line(f"bias mean {one.bias_mean:g}", t[visible], distance[visible]))
    return chart(
        "d-linearised",
        "The fixed point is approached exponentially, with the predicted timescale",
        "step t",
        "distance |c(t) - c*|",
        (*lines, _dashed_group("A exp(-t / tau), tau from theory", [_exponential(one) for one in shown])),
        f"Solid: untied simulation under equal inputs (from step {SWITCH} on), down to {_FLOOR:g}. Dashed: "
        "exponentials with the predicted timescale tau, matched to theory at two thirds of the way.",
        log="y",
    )


def _exponential(one: PairDynamics) -> tuple[Array, Array]:
    """A exp(-t / tau), with A from theory late on its way down to the floor."""
    t, distance = _TIME[SWITCH:], np.abs(one.theory - one.c_star)[SWITCH:]
    visible = np.flatnonzero(np.cumsum(distance < _FLOOR) == 0)
    late = visible[-1] - visible.size // 3
    curve = distance[late] * np.exp(-(t - t[late]) / one.timescale)
    return t[curve > _FLOOR], curve[curve > _FLOOR]


def _timescale_chart(bias_means: Array) -> Chart:
    field = published_field(bias_means)
    lines = []
    for correlation in (1.0, 0.99, 0.0):
        timescale = np.asarray(field.timescale(correlation))
        finite = np.where(np.isfinite(timescale), timescale, np.nan)
        lines.append(line(f"inputs of correlation {correlation:g}", bias_means, finite))
    return chart(
        "e-timescales",
        "Memory is long at the edge of chaos for equal inputs, and with an open gate for any inputs",
        _BIAS_MEAN,
        "timescale tau (steps)",
        lines,
        "Theory: the number of steps in which the distance from c* decays by a factor of e. The peaks at bias means "
        "of 0.014 and 4.59, where chi_1 is 1, exist only for equal inputs. Large bias means hold the gate open, and "
        "memory lasts for any inputs.",
        log="y",
    )


def _notes(tied_width: int, averaged: int) -> tuple[str, ...]:
    return (
        "The paper does not say how the copies start. Here both start in one Gaussian state with second moment Q*, on "
        "the branch that h = 0 leads to, so c(0) already shows the effect of independent inputs.",
        f"Tied networks are real matrices of width {tied_width:,}; the paper uses 8,192.",
        "c* is not read after 70 steps, which are too few near the edge of chaos and for open gates: pairs of "
        f"correlation 1/2 run under equal inputs until c is within {_SETTLED:g} of c* in theory, and c is averaged "
        f"over the next {averaged} steps.",
    )

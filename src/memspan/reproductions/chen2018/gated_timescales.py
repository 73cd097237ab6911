"""Beyond Chen et al. 2018: timescales of random LSTMs and GRUs, by population sampling and with real matrices."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np

from memspan.progress import Progress
from memspan.reproductions.charts import chart, dashed, points
from memspan.reproductions.claims import claim
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, Line, line
from memspan.theory.sampled.cells import ElementwiseCell, GRUCell, LSTMCell, RandomNetwork
from memspan.theory.sampled.simulation import Growth, growth

# Accepted relative difference of timescales.
AGREEMENT = 0.05
# Standard errors by which tied and untied weights must differ to count as different.
ERRORS = 3.0
# Differences followed in each network with real matrices, where an additional one costs nothing.
_DIRECTIONS = 4
_POPULATION_WIDTH = 2048


@final
@dataclass(frozen=True)
class GatedCell:
    """A cell, the gate whose bias is varied, and the bias means that are simulated with real matrices."""

    name: str
    gate: str
    cell: ElementwiseCell
    bias_means: tuple[float, ...]

    def network(self, bias_mean: float) -> RandomNetwork:
        """The random network with this bias mean."""
        return RandomNetwork(cell=self.cell, bias_mean=float(bias_mean))


_CELLS = (
    GatedCell("LSTM", "forget gate", LSTMCell(), (1.0, 2.0, 4.0)),
    GatedCell("GRU", "update gate", GRUCell(), (0.0, 2.0, 4.0)),
)


@final
@dataclass(frozen=True)
class GatedGrowth:
    """Growth of small differences at one bias mean: sampled, with redrawn matrices, and with tied ones."""

    gated: GatedCell
    bias_mean: float
    sampled: Growth
    fresh: Growth
    tied: Growth

    @property
    def case(self) -> str:
        """Description of the case."""
        return f"{self.gated.name}, bias mean of the {self.gated.gate} {self.bias_mean:g}"


def run(
    *,
    seed: int,
    progress: Progress,
    bias_means: int,
    width: int,
    networks: int,
    steps: int,
    population: int,
    chart_bias_means: tuple[float, ...],
) -> Outcome:
    """Measure timescales at the first `bias_means` bias means of each cell, with and without matrices.

    Networks with tied matrices run for twice as many `steps`, because their matrices are drawn only once.
    """
    cases = [(gated, mu) for gated in _CELLS for mu in gated.bias_means[:bias_means]]
    growths: list[GatedGrowth] = []
    with progress.stage("random LSTMs and GRUs with real matrices", len(cases)) as stage:
        for gated, mu in cases:
            grow = partial(growth, gated.network(mu), width=width, networks=networks, directions=_DIRECTIONS)
            fresh = grow(steps=steps, matrices=True, seed=seed + 1)
            tied = grow(steps=2 * steps, tied=True, seed=seed + 2)
            growths.append(GatedGrowth(gated, mu, _population_growth(gated, mu, population, seed), fresh, tied))
            stage.advance()
    curves: dict[str, list[Growth]] = {gated.name: [] for gated in _CELLS}
    with progress.stage("timescales without matrices", len(chart_bias_means) * len(_CELLS)) as stage:
        for gated in _CELLS:
            for mu in chart_bias_means:
                curves[gated.name].append(_population_growth(gated, mu, population, seed))
                stage.advance()
    claims = (*(_agreement(one, width) for one in growths), *_tied_claims(growths))
    charts = [_timescale_chart(gated, growths, chart_bias_means, curves[gated.name]) for gated in _CELLS]
    return Outcome(claims, (*charts, _factor_chart(growths, chart_bias_means, curves)), _notes(growths))


def _population_growth(gated: GatedCell, bias_mean: float, population: int, seed: int) -> Growth:
    # Four timescales of a gate that is open at this bias mean.
    steps = int(max(100.0, 4 * (1 + np.exp(bias_mean))))
    return growth(gated.network(bias_mean), width=_POPULATION_WIDTH, steps=steps, networks=population, seed=seed)


def _agreement(one: GatedGrowth, width: int) -> Claim:
    expected = one.fresh.timescale
    return claim(
        f"{one.case}: sampling without matrices gives the timescale (in steps) of networks of width {width:,} whose "
        f"matrices are redrawn at every step, to {AGREEMENT:.0%}."
    ).near(one.sampled.timescale, AGREEMENT * expected, corrected=expected)


def _tied_claims(growths: list[GatedGrowth]) -> list[Claim]:
    gap = min((one.tied.chi - one.sampled.chi) / np.hypot(one.tied.error, one.sampled.error) for one in growths)
    return [
        claim(
            "With one draw of weights for all steps, small differences decay more slowly than with redrawn weights, "
            "at every bias mean of both cells.",
            measure="the smallest gap in standard errors",
        ).holds_if(gap, gap > ERRORS),
        *(
            claim(
                "The LSTM with forget bias 4 is ordered with redrawn weights, but chaotic with tied ones: small "
                "differences grow.",
                measure="the factor per step of the squared difference with tied weights",
            ).holds_if(one.tied.chi, not one.sampled.chaotic and one.tied.chi - ERRORS * one.tied.error > 1)
            for one in growths
            if one.gated.name == "LSTM" and one.bias_mean == 4.0
        ),
    ]


def _notes(growths: list[GatedGrowth]) -> tuple[str, ...]:
    rows = "; ".join(
        f"{one.case}: {one.sampled.timescale:.3g} sampled, {one.fresh.timescale:.3g} with redrawn matrices, "
        + (f"{one.tied.timescale:.3g} tied" if not one.tied.chaotic else "none tied (chaotic)")
        for one in growths
    )
    return (
        f"Timescales in steps (sigma_w = sigma_v = 1, R = 1): {rows}.",
        "Why tied weights differ: a difference is passed on by the gate that keeps the state (by a factor f) and by "
        "the candidate's recurrent matrix (s G, with G of unit variance). If G is redrawn at every step, squared "
        "differences change by f^2 + s^2, because the two contributions add incoherently. If G is fixed, they change "
        "by (f + s)^2 in the long run.",
    )


def _timescale_chart(
    gated: GatedCell, growths: list[GatedGrowth], chart_bias_means: tuple[float, ...], curve: list[Growth]
) -> Chart:
    own = [one for one in growths if one.gated is gated]
    decaying = [one for one in own if not one.tied.chaotic]
    return chart(
        gated.name.lower(),
        f"Timescale of a random {gated.name} against the bias of its {gated.gate}",
        f"mean of the {gated.gate} bias",
        "timescale (steps)",
        (
            line("redrawn weights, sampled without matrices", chart_bias_means, [each.timescale for each in curve]),
            points(
                "redrawn weights, real matrices", [one.bias_mean for one in own], [one.fresh.timescale for one in own]
            ),
            points(
                "tied weights, real matrices",
                [one.bias_mean for one in decaying],
                [one.tied.timescale for one in decaying],
            ),
        ),
        "The timescale is how long a small difference between two states lasts under the same inputs. The line needs "
        "no weight matrix; the markers on it come from networks whose matrices are redrawn at every step. With one "
        "draw for all steps (tied weights) differences last longer; a missing marker means that they never decay "
        "(chaos).",
        log="y",
    )


def _factor_chart(
    growths: list[GatedGrowth], chart_bias_means: tuple[float, ...], curves: dict[str, list[Growth]]
) -> Chart:
    lines: list[Line] = []
    for gated in _CELLS:
        own = [one for one in growths if one.gated is gated]
        chi = [each.chi for each in curves[gated.name]]
        lines += [
            line(f"{gated.name}, redrawn weights (sampled)", chart_bias_means, chi),
            points(f"{gated.name}, tied weights", [one.bias_mean for one in own], [one.tied.chi for one in own]),
        ]
    return chart(
        "factors",
        "Factor per step of a small squared difference between two states",
        "mean of the forget gate bias (LSTM) or update gate bias (GRU)",
        "factor chi per step",
        (*lines, dashed("neither decay nor growth", [0.0, 5.0], [1.0, 1.0])),
        "Below the dashed line differences decay and inputs determine the state; above it they grow (chaos). With "
        "redrawn weights, which the theory assumes, they always decay faster than with the tied weights used in "
        "practice.",
    )

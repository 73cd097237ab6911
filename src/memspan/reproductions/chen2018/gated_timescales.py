"""Beyond the source: how long random LSTMs and GRUs remember, by population sampling and with real matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from memspan.progress import Progress, Stage
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, Line, claim_near, line
from memspan.theory.elementwise import ElementwiseCell, GRUCell, LSTMCell, Network
from memspan.theory.growth import Growth, growth

AGREEMENT = 0.05
"""The relative difference of timescales that is accepted."""
ERRORS = 3.0
"""Standard errors by which tied weights must differ from untied ones to count as different."""


@final
@dataclass(frozen=True)
class _Case:
    name: str
    gate: str
    cell: ElementwiseCell
    bias_means: tuple[float, ...]


_LSTM, _GRU = LSTMCell(), GRUCell()
_CASES = (
    _Case("LSTM", "forget gate", _LSTM, (1.0, 2.0, 4.0)),
    _Case("GRU", "update gate", _GRU, (0.0, 2.0, 4.0)),
)
_FEW = (_Case("LSTM", "forget gate", _LSTM, (1.0,)), _Case("GRU", "update gate", _GRU, (0.0,)))


@final
@dataclass(frozen=True)
class _Size:
    cases: tuple[_Case, ...]
    width: int
    networks: int
    """With real matrices."""
    steps: int
    """With matrices drawn afresh; twice as many with tied ones, which must only be drawn once."""
    population: int
    """Networks of width 2,048 that are sampled without matrices."""
    grid: tuple[float, ...]
    """Bias means of the drawn lines."""


_HALVES = tuple(0.5 * k for k in range(11))
_SIZES = {
    "smoke": _Size(_FEW, 100, 16, 40, 3, (0.0, 1.0, 2.0)),
    "laptop": _Size(_CASES, 2_000, 2, 80, 16, _HALVES),
    "paper": _Size(_CASES, 2_000, 6, 160, 32, _HALVES),
}
_DIRECTIONS = 4
"""Differences followed in each network with real matrices, where one more costs nothing."""


@final
@dataclass(frozen=True)
class _Point:
    case: _Case
    bias_mean: float
    sampled: Growth
    fresh: Growth
    tied: Growth

    @property
    def what(self) -> str:
        return f"{self.case.name}, bias mean of the {self.case.gate} {self.bias_mean:g}"


def run(scale: str, seed: int, progress: Progress) -> Outcome:
    size = _SIZES[scale]
    work = sum(len(case.bias_means) for case in size.cases)
    with progress.stage("random LSTMs and GRUs with real matrices", work) as stage:
        points = [_measured(size, case, mu, seed, stage) for case in size.cases for mu in case.bias_means]
    with progress.stage("timescales without matrices", len(size.grid) * len(size.cases)) as stage:
        curves = {
            case.name: [_sampled(size, case, mu, seed, stage) for mu in size.grid] for case in size.cases
        }
    claims = (*(_agreement(size, point) for point in points), *_tied_claims(points))
    charts = [_timescales(case, points, size.grid, curves[case.name]) for case in size.cases]
    return Outcome(claims, (*charts, _factors(size.cases, points, size.grid, curves)), _notes(points))


def _network(case: _Case, bias_mean: float) -> Network:
    return Network(cell=case.cell, bias_mean=float(bias_mean))


def _sampled(size: _Size, case: _Case, bias_mean: float, seed: int, stage: Stage | None = None) -> Growth:
    steps = int(max(100.0, 4 * (1 + np.exp(bias_mean))))
    found = growth(_network(case, bias_mean), width=2048, steps=steps, networks=size.population, seed=seed)
    if stage is not None:
        stage.advance()
    return found


def _measured(size: _Size, case: _Case, bias_mean: float, seed: int, stage: Stage) -> _Point:
    network = _network(case, bias_mean)
    fresh = growth(
        network,
        width=size.width,
        steps=size.steps,
        networks=size.networks,
        directions=_DIRECTIONS,
        matrices=True,
        seed=seed + 1,
    )
    tied = growth(
        network,
        width=size.width,
        steps=2 * size.steps,
        networks=size.networks,
        directions=_DIRECTIONS,
        tied=True,
        seed=seed + 2,
    )
    point = _Point(case, bias_mean, _sampled(size, case, bias_mean, seed), fresh, tied)
    stage.advance()
    return point


def _agreement(size: _Size, point: _Point) -> Claim:
    expected = point.fresh.timescale
    return claim_near(
        f"{point.what}: sampling without matrices gives the timescale (in steps) of networks of width {size.width:,} whose "
        f"matrices are drawn afresh at every step, to {AGREEMENT:.0%}.",
        point.sampled.timescale,
        AGREEMENT * expected,
        corrected=expected,
    )


def _tied_claims(points: list[_Point]) -> list[Claim]:
    gaps = [
        (point.tied.chi - point.sampled.chi) / np.hypot(point.tied.error, point.sampled.error)
        for point in points
    ]
    slower = Claim(
        "With one draw of weights for all steps a small difference fades more slowly than with fresh ones, at every bias "
        "mean of both cells. (Measured: the smallest gap in standard errors.)",
        None,
        None,
        float(min(gaps)),
        None,
        bool(min(gaps) > ERRORS),
    )
    long = [point for point in points if point.case.name == "LSTM" and point.bias_mean == 4.0]
    grows = [
        Claim(
            "The LSTM with forget bias 4 is ordered with fresh weights, but chaotic with tied ones: there small differences "
            "grow. (Measured: the factor per step of the squared difference with tied weights.)",
            None,
            None,
            point.tied.chi,
            None,
            not point.sampled.chaotic and point.tied.chi - ERRORS * point.tied.error > 1,
        )
        for point in long
    ]
    return [slower, *grows]


def _notes(points: list[_Point]) -> tuple[str, ...]:
    rows = "; ".join(
        f"{point.what}: {point.sampled.timescale:.3g} sampled, {point.fresh.timescale:.3g} with fresh matrices, "
        + (f"{point.tied.timescale:.3g} tied" if not point.tied.chaotic else "none tied (chaotic)")
        for point in points
    )
    return (
        f"Timescales in steps (sigma_w = sigma_v = 1, R = 1): {rows}.",
        "Why tied weights differ: a difference is passed on by the gate that keeps the state (say by a factor f) and by "
        "the candidate's recurrent matrix (say s G, with G of unit spread). If G is new at every step, squared differences "
        "change by f^2 + s^2, since the two ways add without phase; if G stays, by (f + s)^2 in the long run.",
    )


def _timescales(case: _Case, points: list[_Point], grid: tuple[float, ...], curve: list[Growth]) -> Chart:
    group = [point for point in points if point.case is case]
    kept = [point for point in group if not point.tied.chaotic]
    return Chart(
        name=case.name.lower(),
        title=f"How long a random {case.name} remembers, as the bias of its {case.gate} rises",
        x_label=f"mean of the {case.gate}'s bias",
        y_label="timescale (steps)",
        x_scale="linear",
        y_scale="log",
        lines=(
            line("fresh weights, sampled without matrices", grid, [found.timescale for found in curve]),
            line(
                "fresh weights, real matrices",
                [point.bias_mean for point in group],
                [point.fresh.timescale for point in group],
                style="markers",
            ),
            line(
                "tied weights, real matrices",
                [point.bias_mean for point in kept],
                [point.tied.timescale for point in kept],
                style="markers",
            ),
        ),
        caption="The timescale is how long a small difference between two states lasts under the same inputs. The line "
        "needs no weight matrix; the markers on it come from networks whose matrices are drawn afresh at every step. "
        "With one draw for all steps (tied weights) differences last longer; no marker means that they never fade (chaos).",
    )


def _factors(
    cases: tuple[_Case, ...], points: list[_Point], grid: tuple[float, ...], curves: dict[str, list[Growth]]
) -> Chart:
    lines: list[Line] = []
    for case in cases:
        lines.append(
            line(f"{case.name}, fresh weights (sampled)", grid, [found.chi for found in curves[case.name]])
        )
        group = [point for point in points if point.case is case]
        x, y = [point.bias_mean for point in group], [point.tied.chi for point in group]
        lines.append(line(f"{case.name}, tied weights", x, y, style="markers"))
    lines.append(line("neither fades nor grows", [0.0, 5.0], [1.0, 1.0], style="dashed"))
    return Chart(
        name="factors",
        title="What one step does to a small squared difference between two states",
        x_label="mean of the forget gate's bias (LSTM) or of the update gate's (GRU)",
        y_label="factor chi per step",
        x_scale="linear",
        y_scale="linear",
        lines=tuple(lines),
        caption="Below the dashed line differences fade and inputs decide the state; above it they grow (chaos). With fresh "
        "weights, which the theory assumes, they always fade faster here than with the tied weights of networks in use.",
    )

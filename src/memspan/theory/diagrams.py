"""Figures of mean-field theory as plain data: the phase diagram, and the dynamics of two copies of a network."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import final

import numpy as np

from memspan.errors import InputError
from memspan.progress import SILENT, Progress
from memspan.results import Chart, HeatMap, Line, line
from memspan.theory.meanfield.activations import Array
from memspan.theory.meanfield.field import Field, timescale_of
from memspan.theory.sampled.cells import RandomNetwork
from memspan.theory.sampled.simulation import Simulation, simulate

PARAMETERS = ("sigma_w", "sigma_v", "sigma_b", "bias_mean", "input_variance")
# Longer timescales share one color.
LONGEST = 1_000.0
# Grid points along each axis of a phase diagram.
POINTS = 200
# Steps with uncorrelated inputs, then steps with equal inputs.
APART, TOGETHER = 10, 60
# Bias means shown in addition to the network's own.
BIAS_MEANS = (-4.0, 0.0, 2.0, 4.0, 6.0, 8.0)
# Input correlations of the curves over the bias mean.
CORRELATIONS = (1.0, 0.99, 0.0)
_WIDTH, _NETWORKS = 2048, 16
# Smaller for tied weights, which need real matrices.
_TIED_WIDTH, _TIED_NETWORKS = 500, 4


@final
@dataclass(frozen=True)
class Axis:
    """A parameter from `low` to `high`."""

    parameter: str
    low: float
    high: float

    def __post_init__(self) -> None:
        if self.parameter not in PARAMETERS:
            raise InputError(
                f"{self.parameter!r} is no axis of a phase diagram; expected one of {', '.join(PARAMETERS)}"
            )
        if not (np.isfinite(self.low) and np.isfinite(self.high) and self.low < self.high):
            raise InputError(
                f"the axis {self.parameter} runs from {self.low:g} to {self.high:g}; expected two numbers, the smaller first"
            )

    @property
    def label(self) -> str:
        """The axis label; sigma_w and the like are used as they are."""
        return self.parameter if self.parameter.startswith("sigma") else self.parameter.replace("_", " ")


BIAS_MEAN, SIGMA_W = Axis("bias_mean", -4.0, 8.0), Axis("sigma_w", 0.5, 10.0)


def phase_diagram(
    field: Field, x: Axis = BIAS_MEAN, y: Axis = SIGMA_W, *, input_correlation: float = 1.0, points: int = POINTS
) -> HeatMap:
    """The timescale of `field` over a grid of points x points values of two parameters, with the edge of chaos."""
    if x.parameter == y.parameter:
        raise InputError(f"both axes are {x.parameter}; expected two different parameters")
    across, up = np.linspace(x.low, x.high, points), np.linspace(y.low, y.high, points)
    plane = dataclasses.replace(field, **{x.parameter: across, y.parameter: up[:, None]})
    point = plane.fixed_point(input_correlation)
    # JSON has no infinity, and colors show no more than this.
    values = np.minimum(timescale_of(point.chi), 10 * LONGEST)
    here = [float(getattr(field, axis.parameter)) for axis in (x, y)]
    equal = "equal inputs" if input_correlation == 1 else f"inputs of correlation {input_correlation:g}"
    caption = (
        "Bright: a difference between two states lasts long. Along the edge of chaos it lasts forever if the inputs are "
        "equal; on one side of it states forget their past, on the other nearby states diverge."
    )
    if input_correlation != 1:
        caption += (
            f" Here the inputs have correlation {input_correlation:g}: their difference acts as noise, and the bright "
            "line along the edge fades. What stays bright is due to the gate."
        )
    return HeatMap(
        name="phase-diagram",
        title=f"How long signals last before they are forgotten, for {equal}",
        x_label=x.label,
        y_label=y.label,
        value_label="timescale in steps",
        value_scale="log",
        x=across,
        y=up,
        values=_rounded(values),
        highest=LONGEST,
        edge=_rounded(np.asarray(point.chi1) - 1),
        edge_label="edge of chaos (chi_1 = 1)",
        lines=(line("your network", [here[0]], [here[1]], style="markers"),),
        caption=caption,
    )


def _rounded(values: Array) -> Array:
    """Six significant digits, to keep stored maps small."""
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = 10.0 ** (5 - np.floor(np.log10(np.abs(values))))
    good = np.isfinite(scale) & (scale > 0)
    return np.where(good, np.rint(values * np.where(good, scale, 1.0)) / np.where(good, scale, 1.0), values)


def input_correlations() -> Array:
    """0 for ten steps, then 1."""
    return np.concatenate([np.zeros(APART), np.ones(TOGETHER)])


def dynamics_charts(field: Field, *, seed: int = 0, progress: Progress = SILENT) -> tuple[Chart, ...]:
    """Panels a, c and e of meanfield Fig. 1: theory as lines, untied simulation as markers."""
    shown = np.unique([*BIAS_MEANS, float(field.bias_mean)])
    runs = []
    with progress.stage("simulating networks", shown.size) as stage:
        for bias in shown:
            moved = dataclasses.replace(field, bias_mean=float(bias))
            runs.append(_simulate(moved.network(), float(moved.fixed_point().Q), seed))
            stage.advance()
    theory = dataclasses.replace(field, bias_mean=shown).correlation_dynamics(input_correlations())
    lines, steps = [], np.arange(len(theory))
    for i, bias in enumerate(shown):
        lines.append(line(f"bias mean {bias:g}", steps, theory[:, i], style="dashed"))
        lines.append(line("", steps[::3], runs[i].c[::3], style="markers"))
    fine = np.unique(np.append(np.linspace(-4, 8, 241), float(field.bias_mean)))
    return (
        _dynamics_chart(lines, "Dashed lines are theory, markers are simulated networks."),
        *_bias_charts(dataclasses.replace(field, bias_mean=fine), fine),
    )


def simulated_dynamics(network: RandomNetwork, *, seed: int = 0, progress: Progress = SILENT) -> tuple[Chart, ...]:
    """Panel a for a network without a closed theory: untied and tied simulation."""
    shown = np.unique([0.0, 2.0, 4.0, float(network.bias_mean)])
    lines = []
    with progress.stage("simulating networks", 2 * shown.size) as stage:
        for bias in shown:
            moved = dataclasses.replace(network, bias_mean=float(bias))
            for tied, words in ((False, "fresh weights at every step"), (True, "the same weights in all steps")):
                run = _simulate(moved, None, seed, tied=tied)
                style = "dashed" if tied else "line"
                lines.append(line(f"bias mean {bias:g}, {words}", np.arange(run.c.size), run.c, style=style))
                stage.advance()
    return (_dynamics_chart(lines, "Both are simulated networks."),)


def _simulate(network: RandomNetwork, variance: float | None, seed: int, *, tied: bool = False) -> Simulation:
    return simulate(
        network,
        width=_TIED_WIDTH if tied else _WIDTH,
        steps=APART + TOGETHER,
        networks=_TIED_NETWORKS if tied else _NETWORKS,
        input_correlation=input_correlations(),
        tied=tied,
        initial_variance=variance,
        seed=seed,
    )


def _dynamics_chart(lines: list[Line], legend: str) -> Chart:
    return Chart(
        name="dynamics",
        title="Two copies of a network: uncorrelated inputs for ten steps, then equal inputs",
        x_label="step",
        y_label="correlation c of the two copies",
        x_scale="linear",
        y_scale="linear",
        lines=tuple(lines),
        caption="Both copies start in the same state. They diverge while their inputs differ. Once the inputs are equal, "
        "they converge again if the network is ordered (c reaches 1), and stay apart if it is chaotic. Slow curves mean "
        f"long memory. {legend}",
    )


def _bias_charts(field: Field, bias: Array) -> tuple[Chart, Chart]:
    """Stable correlation and timescale over the bias mean, for several input correlations."""
    points = [(f"input correlation {value:g}", field.fixed_point(value)) for value in CORRELATIONS]
    timescales = [(label, np.asarray(timescale_of(point.chi))) for label, point in points]
    settled = Chart(
        name="settled-correlation",
        title="Stable correlation of two copies",
        x_label="bias mean",
        y_label="correlation c after a long time",
        x_scale="linear",
        y_scale="linear",
        lines=tuple(line(label, bias, point.c) for label, point in points),
        caption="With equal inputs c = 1 means that the network forgets its initial state (ordered); below 1 it is chaotic.",
    )
    lasting = Chart(
        name="timescales",
        title="How long signals last",
        x_label="bias mean",
        y_label="timescale (steps)",
        x_scale="linear",
        y_scale="log",
        lines=tuple(line(label, bias, np.where(np.isfinite(t), t, np.nan)) for label, t in timescales),
        caption="With equal inputs the timescale peaks at the edge of chaos, and the slightest difference of the inputs "
        "removes the peak. Large bias means keep the gate open and make signals last whatever the inputs are.",
    )
    return settled, lasting

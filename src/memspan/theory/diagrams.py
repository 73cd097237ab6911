"""How long signals last over a plane of two parameters, with the edge of chaos drawn."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.progress import SILENT, Progress
from memspan.results import Chart, HeatMap, Line, line
from memspan.theory.meanfield.field import Field, timescale_of
from memspan.theory.sampled.cells import RandomNetwork
from memspan.theory.sampled.simulation import Simulation, simulate

PARAMETERS = ("sigma_w", "sigma_v", "sigma_b", "bias_mean", "input_variance")
LONGEST = 1_000.0
"""Timescales above it share a colour."""
POINTS = 200


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
        """As people say it; sigma_w and its like are their own names."""
        return self.parameter if self.parameter.startswith("sigma") else self.parameter.replace("_", " ")


BIAS_MEAN, SIGMA_W = Axis("bias_mean", -4.0, 8.0), Axis("sigma_w", 0.5, 10.0)


def phase_diagram(
    field: Field,
    x: Axis = BIAS_MEAN,
    y: Axis = SIGMA_W,
    *,
    input_correlation: float = 1.0,
    points: int = POINTS,
) -> HeatMap:
    """The timescale of `field` where its parameters `x` and `y` vary and the others stay, at points x points values."""
    if x.parameter == y.parameter:
        raise InputError(f"both axes are {x.parameter}; expected two different ones")
    across, up = np.linspace(x.low, x.high, points), np.linspace(y.low, y.high, points)
    plane = dataclasses.replace(field, **{x.parameter: across, y.parameter: up[:, None]})
    point = plane.fixed_point(input_correlation)
    # JSON has no infinity, and nobody reads more digits than these from colours.
    values = np.minimum(timescale_of(point.chi), 10 * LONGEST)
    here = [float(getattr(field, axis.parameter)) for axis in (x, y)]
    equal = "equal inputs" if input_correlation == 1 else f"inputs of correlation {input_correlation:g}"
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
        caption=_caption(input_correlation),
    )


def _caption(input_correlation: float) -> str:
    words = (
        "Bright: a difference between two states lasts long. Along the edge of chaos it lasts for ever if the inputs are "
        "equal; on one side of it states forget where they came from, on the other nearby states drift apart."
    )
    if input_correlation == 1:
        return words
    return (
        f"{words} Here the inputs have correlation {input_correlation:g}: their difference acts as noise, and the bright "
        "line along the edge fades. What stays bright does so because of the gate."
    )


def _rounded(values: np.ndarray) -> np.ndarray:
    """Six significant digits, so that a stored map is small."""
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = 10.0 ** (5 - np.floor(np.log10(np.abs(values))))
    good = np.isfinite(scale) & (scale > 0)
    return np.where(good, np.rint(values * np.where(good, scale, 1.0)) / np.where(good, scale, 1.0), values)


APART, TOGETHER = 10, 60
"""For so many steps the inputs are uncorrelated, and for so many they are equal."""
SPREAD = (-4.0, 0.0, 2.0, 4.0, 6.0, 8.0)
"""Bias means that are shown next to the network's own."""
CORRELATIONS = (1.0, 0.99, 0.0)
_WIDTH, _NETWORKS = 2048, 16


def input_correlations() -> NDArray[np.float64]:
    """0 for ten steps, then 1."""
    return np.concatenate([np.zeros(APART), np.ones(TOGETHER)])


def dynamics_charts(field: Field, *, seed: int = 0, progress: Progress = SILENT) -> tuple[Chart, ...]:
    """Panels a, c and e of Fig. 1: theory as lines, untied simulation as markers."""
    shown = np.unique([*SPREAD, float(field.bias_mean)])
    fine = np.unique(np.append(np.linspace(-4, 8, 241), float(field.bias_mean)))
    with progress.stage("simulating networks", shown.size) as stage:
        runs = []
        for bias in shown:
            moved = dataclasses.replace(field, bias_mean=float(bias))
            start = float(moved.fixed_point().Q)
            runs.append(_simulated(moved.network(), start, seed))
            stage.advance()
    over = dataclasses.replace(field, bias_mean=shown).correlation_dynamics(input_correlations())
    lines = []
    for i, bias in enumerate(shown):
        lines.append(line(f"bias mean {bias:g}", np.arange(over.shape[0]), over[:, i], style="dashed"))
        lines.append(line("", np.arange(over.shape[0])[::3], runs[i].c[::3], style="markers"))
    return (
        _in_time(lines, "Dashed lines are theory, markers simulated networks."),
        _settled(field, fine),
        _timescales(field, fine),
    )


def simulated_dynamics(
    network: RandomNetwork, *, seed: int = 0, progress: Progress = SILENT
) -> tuple[Chart, ...]:
    """Panel a for a network that has no closed theory: untied and tied simulation."""
    shown = np.unique([0.0, 2.0, 4.0, float(network.bias_mean)])
    lines = []
    with progress.stage("simulating networks", 2 * shown.size) as stage:
        for bias in shown:
            moved = dataclasses.replace(network, bias_mean=float(bias))
            for tied, words in (
                (False, "weights drawn anew at every step"),
                (True, "the same weights in all steps"),
            ):
                run = _simulated(moved, None, seed, tied=tied)
                style = "dashed" if tied else "line"
                lines.append(line(f"bias mean {bias:g}, {words}", np.arange(run.c.size), run.c, style=style))
                stage.advance()
    return (_in_time(lines, "Both are simulated networks."),)


def _simulated(
    network: RandomNetwork, variance: float | None, seed: int, *, tied: bool = False
) -> Simulation:
    width, networks = (500, 4) if tied else (_WIDTH, _NETWORKS)
    return simulate(
        network,
        width=width,
        steps=APART + TOGETHER,
        networks=networks,
        input_correlation=input_correlations(),
        tied=tied,
        initial_variance=variance,
        seed=seed,
    )


def _in_time(lines: list[Line], legend: str) -> Chart:
    return Chart(
        name="dynamics",
        title="Two copies of a network: inputs without correlation for ten steps, then equal inputs",
        x_label="step",
        y_label="correlation c of the two copies",
        x_scale="linear",
        y_scale="linear",
        lines=tuple(lines),
        caption="Both copies start in the same state. While their inputs differ they lose each other; once the inputs are "
        "equal they come together again if the network is ordered (c reaches 1), and stay apart if it is chaotic. Slow "
        f"curves mean long memory. {legend}",
    )


def _settled(field: Field, bias: NDArray[np.float64]) -> Chart:
    over = dataclasses.replace(field, bias_mean=bias)
    lines = [
        line(f"input correlation {correlation:g}", bias, over.fixed_point(correlation).c)
        for correlation in CORRELATIONS
    ]
    return Chart(
        name="settled-correlation",
        title="Where the correlation of two copies settles",
        x_label="bias mean",
        y_label="correlation c after long time",
        x_scale="linear",
        y_scale="linear",
        lines=tuple(lines),
        caption="With equal inputs c = 1 means that the network forgets where it started (ordered); below 1 it is chaotic.",
    )


def _timescales(field: Field, bias: NDArray[np.float64]) -> Chart:
    over = dataclasses.replace(field, bias_mean=bias)
    lines = []
    for correlation in CORRELATIONS:
        timescale = np.asarray(timescale_of(over.fixed_point(correlation).chi))
        lines.append(
            line(
                f"input correlation {correlation:g}",
                bias,
                np.where(np.isfinite(timescale), timescale, np.nan),
            )
        )
    return Chart(
        name="timescales",
        title="How long signals last",
        x_label="bias mean",
        y_label="timescale (steps)",
        x_scale="linear",
        y_scale="log",
        lines=tuple(lines),
        caption="With equal inputs the timescale peaks at the edge of chaos, and the slightest difference of inputs takes "
        "the peak away. Large bias means hold the gate open and make signals last whatever the inputs are.",
    )

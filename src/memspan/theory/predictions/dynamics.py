"""Figure 1 of the mean-field source for any field: correlation in time, where it settles, and how fast."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from memspan.progress import SILENT, Progress
from memspan.results import Chart, Line, line
from memspan.theory.elementwise import Network
from memspan.theory.field import Field
from memspan.theory.simulation import Simulation, simulate
from memspan.theory.timescale import timescale_of

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


def simulated_dynamics(network: Network, *, seed: int = 0, progress: Progress = SILENT) -> tuple[Chart, ...]:
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


def _simulated(network: Network, variance: float | None, seed: int, *, tied: bool = False) -> Simulation:
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

"""The panels of Fig. 1 of the mean-field source, from what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.results import Chart, Line, line

Array = NDArray[np.float64]

_SHOWN = (-4.0, 0.0, 2.0, 4.0, 6.0)
"""Bias means drawn in panel a; one chart cannot hold all."""
_COMPARED = (0.0, 2.0, 4.0, 6.0)
"""The same for panel b."""
_DECAYS = (-4.0, -2.0, 2.0, 4.0, 5.0, 6.0)
"""The same for panel d."""
_FLOOR = 2e-3
"""Where panel d ends: below it the noise of a simulation in the chaotic phase shows."""
_STEP = "step t"


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Measured:
    """All of Fig. 1 at one bias mean; arrays are (steps,)."""

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
        """max |c of tied networks - c of untied ones| over the steps."""
        return float(np.max(np.abs(self.tied - self.untied)))


@final
@dataclass(frozen=True, eq=False)
class Grid:
    """Theory over many bias means: c* under equal inputs, and timescales by the inputs' correlation."""

    bias_means: Array
    c_star: Array
    timescales: dict[float, Array]


def charts(found: Sequence[Measured], grid: Grid, switch: int) -> tuple[Chart, ...]:
    """Panels a to e."""
    return (
        _dynamics(found, switch),
        _tied(found, switch),
        _settled(found, grid),
        _decay(found, switch),
        _timescales(grid),
    )


def _those(found: Sequence[Measured], wanted: tuple[float, ...]) -> list[Measured]:
    return [one for one in found if one.bias_mean in wanted]


def _together(label: str, parts: Sequence[tuple[Array, Array]]) -> Line:
    """Several dashed lines as one, with gaps between them."""
    gap = np.array([np.nan])
    x = np.concatenate([np.concatenate([part, gap]) for part, _ in parts])
    y = np.concatenate([np.concatenate([part, gap]) for _, part in parts])
    return line(label, x, y, style="dashed")


def _dynamics(found: Sequence[Measured], switch: int) -> Chart:
    shown = _those(found, _SHOWN)
    return Chart(
        name="a-theory-and-untied",
        title="Theory predicts how alike two copies of a random network are, step by step",
        x_label=_STEP,
        y_label="correlation c(t) of the gates' sums",
        x_scale="linear",
        y_scale="linear",
        lines=(
            *(line(f"bias mean {one.bias_mean:g}", _steps(one), one.untied) for one in shown),
            _together("theory", [(_steps(one), one.theory) for one in shown]),
        ),
        caption=f"Two copies of a minimal RNN with the same weights get unrelated inputs until step {switch} and "
        "equal inputs from then on. Lines: simulation with weights drawn anew at every step; dashed: theory. In the "
        "ordered phase the copies become equal (c = 1); with bias means 2 and 4, in chaos, they never do.",
    )


def _steps(one: Measured) -> Array:
    return np.arange(one.theory.size, dtype=np.float64)


def _tied(found: Sequence[Measured], switch: int) -> Chart:
    lines = []
    for one in _those(found, _COMPARED):
        lines.append(line(f"bias mean {one.bias_mean:g}, untied", _steps(one), one.untied))
        lines.append(line(f"bias mean {one.bias_mean:g}, tied", _steps(one), one.tied, style="dashed"))
    return Chart(
        name="b-tied-and-untied",
        title="Tied weights give the same picture, but other numbers in chaos",
        x_label=_STEP,
        y_label="correlation c(t) of the gates' sums",
        x_scale="linear",
        y_scale="linear",
        lines=tuple(lines),
        caption=f"As in panel a (inputs are unrelated until step {switch}, then equal). Lines: weights drawn anew at every "
        "step, as theory assumes; dashed: one draw for all steps, as networks in use have. They differ where the network "
        "is chaotic (bias means 2 and 4).",
    )


def _settled(found: Sequence[Measured], grid: Grid) -> Chart:
    bias_means = [one.bias_mean for one in found]
    return Chart(
        name="c-settled",
        title="In the chaotic range two copies under equal inputs stay different",
        x_label="mean of the gate's bias",
        y_label="correlation c* that is settled at",
        x_scale="linear",
        y_scale="linear",
        lines=(
            line("theory", grid.bias_means, grid.c_star),
            line("simulated, untied weights", bias_means, [o.untied_c_star for o in found], style="markers"),
            line("simulated, tied weights", bias_means, [o.tied_c_star for o in found], style="markers"),
        ),
        caption="Where c* is 1 the copies become equal and only the inputs matter. Between bias means of 0.014 and "
        "4.59 networks with untied weights are chaotic and c* is below 1, as predicted. At 4.59 they jump from one "
        "fixed point to another. Tied weights have their own c*.",
    )


def _decay(found: Sequence[Measured], switch: int) -> Chart:
    shown = _those(found, _DECAYS)
    lines = []
    for one in shown:
        t, away = _steps(one)[switch:], np.abs(one.untied - one.c_star)[switch:]
        seen = np.cumsum(away < _FLOOR) == 0
        lines.append(line(f"bias mean {one.bias_mean:g}", t[seen], away[seen]))
    return Chart(
        name="d-linearised",
        title="The end point is approached exponentially, with the predicted timescale",
        x_label=_STEP,
        y_label="distance |c(t) - c*|",
        x_scale="linear",
        y_scale="log",
        lines=(*lines, _together("A exp(-t / tau), tau by theory", [_exponential(o, switch) for o in shown])),
        caption=f"Lines: untied simulation once inputs are equal (from step {switch} on), down to {_FLOOR:g}. "
        "Dashed: exponentials with the predicted timescale tau, laid through theory two thirds of the way.",
    )


def _exponential(one: Measured, switch: int) -> tuple[Array, Array]:
    """A exp(-t / tau), with A from theory late on its way down to the floor."""
    t, away = _steps(one)[switch:], np.abs(one.theory - one.c_star)[switch:]
    seen = np.flatnonzero(np.cumsum(away < _FLOOR) == 0)
    late = seen[-1] - seen.size // 3
    curve = away[late] * np.exp(-(t - t[late]) / one.timescale)
    return t[curve > _FLOOR], curve[curve > _FLOOR]


def _timescales(grid: Grid) -> Chart:
    return Chart(
        name="e-timescales",
        title="Memory is long at the edge of chaos for equal inputs; with an open gate, for any",
        x_label="mean of the gate's bias",
        y_label="timescale tau (steps)",
        x_scale="linear",
        y_scale="log",
        lines=tuple(
            line(f"inputs of correlation {sigma:g}", grid.bias_means, np.where(np.isfinite(tau), tau, np.nan))
            for sigma, tau in grid.timescales.items()
        ),
        caption="Theory: the number of steps in which the distance from c* falls by 1/e. The peaks at bias means of "
        "0.014 and 4.59, where chi_1 is 1, are seen only by equal inputs. Large bias means hold the gate open, and "
        "memory lasts for any inputs.",
    )

"""What `memorize` found: where the state goes, how the symbols are read, and which rotations are used."""

from __future__ import annotations

import textwrap

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from memspan.figures.chart import chart_figure
from memspan.figures.eigenvalues import eigenvalue_caption, eigenvalue_figure
from memspan.figures.orbit import legend_handles, orbit_axes, orbit_figure
from memspan.figures.style import literal, new_figure
from memspan.memorization.charts import caption_of, lead_caption, leads, orbits
from memspan.results import Memorization, Orbit
from memspan.results.text import one_line

_SIDE = 4.4
"""Inches of one plane among several."""


def memorization_axes(ax: Axes, result: Memorization) -> None:
    """The orbit on given axes, or its first plane."""
    orbit_axes(ax, orbits(result)[0])


def memorization_figures(result: Memorization) -> dict[str, Figure]:
    """The orbit, the lead of the right symbol (where there is another one), and the eigenvalues."""
    scores = {"scores": chart_figure(leads(result))} if len(result.alphabet) > 1 else {}
    return {"orbit": _orbit_figure(result), **scores, "eigenvalues": eigenvalue_figure(result)}


def memorization_captions(result: Memorization) -> dict[str, str]:
    """What one sees in each figure."""
    return {
        "orbit": caption_of(result),
        "scores": lead_caption(result),
        "eigenvalues": eigenvalue_caption(result),
    }


def _orbit_figure(result: Memorization) -> Figure:
    drawings = orbits(result)
    if not result.frequencies or result.hidden_size < 3:
        return orbit_figure(drawings[0])
    return _planes(result, drawings)


def _planes(result: Memorization, drawings: tuple[Orbit, ...]) -> Figure:
    """All planes side by side, two in a row."""
    columns = min(len(drawings), 2)
    rows = -(-len(drawings) // columns)
    handles = legend_handles(drawings[0])
    figure = new_figure(max(_SIDE * columns, 7.4), _SIDE * rows + 0.5 + 0.22 * -(-len(handles) // 8))
    axes = figure.subplots(rows, columns, squeeze=False).flatten()
    for ax, drawing in zip(axes, drawings, strict=False):
        orbit_axes(ax, drawing)
    for ax in axes[len(drawings) :]:
        ax.set_axis_off()
    title = textwrap.fill(_whole(result), 100)
    figure.suptitle(literal(title), x=0.01, ha="left", fontsize=9.5)
    if handles:
        figure.legend(handles=handles, loc="outside lower center", ncols=8)
    return figure


def _whole(result: Memorization) -> str:
    signs = sum(2 * frequency == result.period for frequency in result.frequencies)
    planes = len(result.frequencies) - signs
    circles = "a circle" if planes == 1 else f"{planes} circles at once"
    sign = ", and a sign that changes at every step" if signs else ""
    return f"{one_line(result.name)}: {result.hidden_size} hidden units make {circles}{sign}"

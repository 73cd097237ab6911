"""A value over a plane as colours that grow brighter, with lines over it that stand out from every colour."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from numpy.typing import NDArray

from memspan.figures.colour_scale import ColourScale, colour_scale
from memspan.figures.legend import below_axes
from memspan.figures.style import ORANGE, PALE, literal, new_figure
from memspan.results import HeatMap, Line

_TITLE_WIDTH, _LABEL_WIDTH = 84, 60
_COLOURS = "viridis"
"""Its lightness grows evenly, so the map can be read in grey."""
_STROKES: tuple[tuple[str, str], ...] = (("white", "black"), ("black", "white"), (ORANGE, "black"))
"""Core and casing of the lines: whatever lies below, one of the two differs from it."""
_MARKERS: tuple[tuple[str, float], ...] = (("*", 15.0), ("o", 8.0), ("D", 7.0))


def heat_map_figure(map: HeatMap) -> Figure:
    """The map with its colour bar beside it and its legend below."""
    rows = -(-(len(_named(map)) + _has_edge(map)) // 2)
    figure = new_figure(7.4, 5.0 + 0.25 * rows)
    _draw(figure.subplots(), map)
    if rows:
        figure.legend(loc="outside lower center", ncols=2)
    return figure


def heat_map_axes(ax: Axes, map: HeatMap) -> None:
    """The map on given axes, its colour bar beside them and its legend below."""
    _draw(ax, map)
    if _named(map) or _has_edge(map):
        below_axes(ax, *ax.get_legend_handles_labels())


def _draw(ax: Axes, map: HeatMap) -> None:
    _draw_colours(ax, map)
    if _has_edge(map):
        _draw_edge(ax, map)
    for position, line in enumerate(line for line in _seen(map) if line.style != "markers"):
        _draw_line(ax, line, position)
    for position, line in enumerate(line for line in _seen(map) if line.style == "markers"):
        _draw_markers(ax, line, position)
    ax.set_xlim(*_ends(map.x))
    ax.set_ylim(*_ends(map.y))
    ax.set_xlabel(literal(map.x_label))
    ax.set_ylabel(literal(map.y_label))
    ax.set_title(literal(textwrap.fill(map.title, _TITLE_WIDTH)))


def _draw_colours(ax: Axes, map: HeatMap) -> None:
    """The cells as one picture: drawn one by one they would make an SVG of megabytes."""
    ax.grid(visible=False)
    ax.patch.set(facecolor=PALE, edgecolor="white", hatch="///", linewidth=0)
    scale = colour_scale(map)
    mesh = ax.pcolormesh(
        _edges(map.x),
        _edges(map.y),
        np.clip(map.values, scale.low, scale.high),
        norm=(LogNorm if map.value_scale == "log" else Normalize)(scale.low, scale.high),
        cmap=_COLOURS,
        rasterized=True,
    )
    _draw_bar(ax, mesh, map, scale)


def _draw_bar(ax: Axes, mesh: Any, map: HeatMap, scale: ColourScale) -> None:
    """The colour bar; an end that stands for all that lies beyond it is pointed and says so."""
    bar = ax.figure.colorbar(mesh, ax=ax, extend=scale.open_ends, label=literal(map.value_label), pad=0.02)
    bar.ax.grid(visible=False)
    bar.set_ticks(list(scale.ticks), labels=list(scale.labels))
    bar.minorticks_off()


def _draw_line(ax: Axes, line: Line, position: int) -> None:
    core, casing = _STROKES[(position + 1) % len(_STROKES)]
    ax.plot(
        line.x,
        line.y,
        color=core,
        label=_label(line),
        linestyle="-" if line.style == "line" else (0, (4, 2)),
        linewidth=1.8,
        path_effects=[patheffects.withStroke(linewidth=3.8, foreground=casing)],
        zorder=3,
    )


def _has_edge(map: HeatMap) -> bool:
    """Whether the border crosses the map; one that lies outside would only puzzle in the legend."""
    crosses = (map.edge < 0).any() and (map.edge > 0).any()
    return bool(map.edge.shape == map.values.shape and crosses)


def _draw_edge(ax: Axes, map: HeatMap) -> None:
    """The border where `edge` changes its sign; contours have no legend entry of their own."""
    core, casing = _STROKES[0]
    ax.contour(map.x, map.y, map.edge, levels=[0.0], colors=[casing], linewidths=3.8, zorder=3)
    ax.contour(map.x, map.y, map.edge, levels=[0.0], colors=[core], linewidths=1.8, zorder=3)
    ax.plot(
        [],
        [],
        color=core,
        linewidth=1.8,
        label=literal(map.edge_label),
        path_effects=[patheffects.withStroke(linewidth=3.8, foreground=casing)],
    )


def _draw_markers(ax: Axes, line: Line, position: int) -> None:
    marker, size = _MARKERS[position % len(_MARKERS)]
    ax.plot(
        line.x,
        line.y,
        color="white",
        label=_label(line),
        linestyle="",
        marker=marker,
        markersize=size,
        markeredgecolor="black",
        markeredgewidth=1.2,
        zorder=4,
    )


def _label(line: Line) -> str | None:
    return literal(textwrap.fill(line.label, _LABEL_WIDTH)) if line.label else None


def _named(map: HeatMap) -> list[Line]:
    return [line for line in _seen(map) if line.label]


def _seen(map: HeatMap) -> list[Line]:
    """Lines with a point inside the map; one that lies outside would only puzzle in the legend."""
    (left, right), (bottom, top) = _ends(map.x), _ends(map.y)
    return [
        line
        for line in map.lines
        if ((line.x >= left) & (line.x <= right) & (line.y >= bottom) & (line.y <= top)).any()
    ]


def _edges(centres: NDArray[np.float64]) -> NDArray[np.float64]:
    """The borders of cells around `centres`: half-way between neighbours, and as far beyond the ends."""
    if centres.size < 2:
        return centres[0] + np.array([-0.5, 0.5]) if centres.size else np.zeros(1)
    half = np.diff(centres) / 2
    return np.concatenate([[centres[0] - half[0]], centres[:-1] + half, [centres[-1] + half[-1]]])


def _ends(centres: NDArray[np.float64]) -> tuple[float, float]:
    edges = _edges(centres)
    return (float(edges.min()), float(edges.max())) if edges.size > 1 else (0.0, 1.0)

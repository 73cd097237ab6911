"""Heat maps: values over a plane as colors, with lines that stand out from every color."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from memspan.presentation.draw.axes import below_axes
from memspan.presentation.draw.style import ORANGE, PALE, literal, new_figure
from memspan.presentation.numbers import trimmed
from memspan.results import HeatMap, Line

_TITLE_WIDTH, _LABEL_WIDTH = 84, 60
# Its lightness grows evenly, so the map is readable in gray.
_COLORS = "viridis"
# Core and casing of the lines: one of the two contrasts with any color below.
_STROKES: tuple[tuple[str, str], ...] = (("white", "black"), ("black", "white"), (ORANGE, "black"))
_MARKERS: tuple[tuple[str, float], ...] = (("*", 15.0), ("o", 8.0), ("D", 7.0))


def heat_map_figure(map: HeatMap) -> Figure:
    """The map with its color bar, and its legend below."""
    rows = -(-(len(_named(map)) + _has_edge(map)) // 2)
    figure = new_figure(7.4, 5.0 + 0.25 * rows)
    _draw(figure.subplots(), map)
    if rows:
        figure.legend(loc="outside lower center", ncols=2)
    return figure


def draw_heat_map(ax: Axes, map: HeatMap) -> None:
    """The map on given axes, with its color bar, and its legend below."""
    _draw(ax, map)
    if _named(map) or _has_edge(map):
        below_axes(ax, *ax.get_legend_handles_labels())


def _draw(ax: Axes, map: HeatMap) -> None:
    _draw_colors(ax, map)
    if _has_edge(map):
        _draw_edge(ax, map)
    for position, line in enumerate(line for line in _seen(map) if line.style != "markers"):
        _draw_line(ax, line, position)
    for position, line in enumerate(line for line in _seen(map) if line.style == "markers"):
        _draw_markers(ax, line, position)
    ax.set_xlim(*_limits(map.x))
    ax.set_ylim(*_limits(map.y))
    ax.set_xlabel(literal(map.x_label))
    ax.set_ylabel(literal(map.y_label))
    ax.set_title(literal(textwrap.fill(map.title, _TITLE_WIDTH)))


def _draw_colors(ax: Axes, map: HeatMap) -> None:
    """The cells as one image: drawn one by one they would make an SVG of megabytes."""
    ax.grid(visible=False)
    ax.patch.set(facecolor=PALE, edgecolor="white", hatch="///", linewidth=0)
    scale = color_scale(map)
    mesh = ax.pcolormesh(
        _edges(map.x),
        _edges(map.y),
        np.clip(map.values, scale.low, scale.high),
        norm=(LogNorm if map.value_scale == "log" else Normalize)(scale.low, scale.high),
        cmap=_COLORS,
        rasterized=True,
    )
    _draw_bar(ax, mesh, map, scale)


def _draw_bar(ax: Axes, mesh: Any, map: HeatMap, scale: ColorScale) -> None:
    """The color bar; an end that stands for all values beyond it is pointed and labeled."""
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
    """Whether the border crosses the map; otherwise it has no place in the legend."""
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
    """Lines with a point inside the map; others have no place in the legend."""
    (left, right), (bottom, top) = _limits(map.x), _limits(map.y)
    return [
        line
        for line in map.lines
        if ((line.x >= left) & (line.x <= right) & (line.y >= bottom) & (line.y <= top)).any()
    ]


def _edges(centers: NDArray[np.float64]) -> NDArray[np.float64]:
    """The borders of cells around `centers`: halfway between neighbors, and as far beyond the ends."""
    if centers.size < 2:
        return centers[0] + np.array([-0.5, 0.5]) if centers.size else np.zeros(1)
    half = np.diff(centers) / 2
    return np.concatenate([[centers[0] - half[0]], centers[:-1] + half, [centers[-1] + half[-1]]])


def _limits(centers: NDArray[np.float64]) -> tuple[float, float]:
    edges = _edges(centers)
    return (float(edges.min()), float(edges.max())) if edges.size > 1 else (0.0, 1.0)


# Powers of ten below the top of a logarithmic scale; with more, colors could not be distinguished.
_DECADES = 3
# Smallest distance of two labels, as a share of the bar.
_APART = 0.06


@final
@dataclass(frozen=True)
class ColorScale:
    """Values from `low` to `high` differ in color; values beyond an open end share the end's color."""

    low: float
    high: float
    open_ends: Literal["neither", "min", "max", "both"]
    ticks: tuple[float, ...]
    labels: tuple[str, ...]


def color_scale(map: HeatMap) -> ColorScale:
    """The scale of a map: its `colours`; else up to `highest` if a value exceeds it, or to the largest value."""
    logarithmic = map.value_scale == "log"
    low, high = map.colours or _color_range(map, logarithmic)
    below = bool(np.any(map.values < low))
    above = bool(np.any(map.values > high))
    places = _tick_places(low, high, logarithmic)
    ends = [place for place, is_open in ((low, below), (high, above)) if is_open]
    ticks = _thinned(ends, places, low, high, logarithmic)
    words = {low: f"{trimmed(low)} or less"} if below else {}
    words |= {high: f"{trimmed(high)} or more"} if above else {}
    return ColorScale(
        low=low,
        high=high,
        open_ends=("both" if below else "max") if above else ("min" if below else "neither"),
        ticks=ticks,
        labels=tuple(words.get(tick, _tick_text(tick)) for tick in ticks),
    )


def _color_range(map: HeatMap, logarithmic: bool) -> tuple[float, float]:
    values = map.values[np.isfinite(map.values) & ((map.values > 0) | (not logarithmic))]
    largest = float(values.max()) if values.size else 1.0
    beyond = np.isfinite(map.highest) and (map.highest > 0 or not logarithmic) and np.any(map.values > map.highest)
    high = map.highest if beyond else largest
    low = min(float(values.min()) if values.size else high, high)
    if logarithmic:
        low = max(low, high / 10**_DECADES)
        return low if low < high else high / 10, high
    return low if low < high else high - 1, high


def _tick_places(low: float, high: float, logarithmic: bool) -> list[float]:
    """Round values for ticks: powers of ten, or steps of a linear axis."""
    if logarithmic:
        first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
        return [10.0**power for power in range(first, last + 1)]
    found: NDArray[np.float64] = np.asarray(MaxNLocator(6).tick_values(low, high), dtype=np.float64)
    return [float(place) for place in found if low <= place <= high]


def _thinned(ends: list[float], places: list[float], low: float, high: float, logarithmic: bool) -> tuple[float, ...]:
    """The open ends, and the round values at a sufficient distance from them."""

    def height(value: float) -> float:
        if logarithmic:
            return math.log(value / low) / math.log(high / low)
        return (value - low) / (high - low)

    free = [place for place in places if all(abs(height(place) - height(end)) > _APART for end in ends)]
    return tuple(sorted({*ends, *free} if len(free) + len(ends) > 1 else {low, high}))


def _tick_text(value: float) -> str:
    return "0" if abs(value) < 1e-12 else trimmed(value)

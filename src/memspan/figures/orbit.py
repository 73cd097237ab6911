"""The states of a network in a plane: a point for each place, its symbol in it, and the regions of the symbols."""

from __future__ import annotations

import textwrap
from itertools import pairwise

import numpy as np
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Polygon
from matplotlib.ticker import MaxNLocator

from memspan.figures.regions import regions
from memspan.figures.spots import Spot, beside, fits, letters, spots_of
from memspan.figures.style import GREY, INK, literal, new_figure
from memspan.figures.symbol_colours import pale, symbol_colours
from memspan.results import Orbit
from memspan.results.text import visible

_TITLE_LETTERS = 14.2
"""Letters of a title per inch of the axes below it."""
_WIDE, _ROUND, _FLAT = 7.4, 5.4, 4.2
"""Inches: the width of a figure, its height around a circle, and over the places of a period."""
_LARGEST_POINT, _LETTER_POINT, _SMALL_POINT, _SMALLEST_POINT = 15.0, 7.5, 6.5, 2.5
"""Diameters in points of type: with room to spare, just holding a letter, beside a word, in a crowd."""
_TEXT = 7.0
_ARROWS = 24
"""Up to this many places each line to the next one has an arrow; beyond, only the first."""
_LEGEND = 12
"""Symbols of the longest legend."""
_UPRIGHT = 12
"""Up to this many words over the places of a period are written level."""
_AREA, _MARKED = 0.30, 0.55
"""Strength of the colour in a region and in a point that holds a letter."""
_MIXED = "#ffffff"
"""Colour of a point where different symbols are written at different places."""
_ROOM = 1.32
"""Half the width of the picture in radii of the orbit, or more where long words stand outside."""


def orbit_figure(orbit: Orbit) -> Figure:
    """The orbit with its legend beside it, where there are few symbols."""
    figure = new_figure(_WIDE, _ROUND if orbit.round else _FLAT)
    ax = figure.subplots()
    orbit_axes(ax, orbit)
    ax.set_anchor("W")
    handles = legend_handles(orbit)
    if handles:
        title = "region where the\nnetwork writes" if orbit.weights.size else "the network writes"
        figure.legend(handles=handles, loc="outside right center", title=title)
    return figure


def orbit_axes(ax: Axes, orbit: Orbit) -> None:
    """Regions, the way from place to place, and a point for each place on given axes."""
    colours, spots = symbol_colours(len(orbit.alphabet)), spots_of(orbit)
    _set_limits(ax, orbit, spots)
    if orbit.weights.size:
        _draw_regions(ax, orbit, colours)
    _draw_way(ax, orbit)
    _draw_points(ax, orbit, spots, colours)
    ax.set_xlabel(literal(orbit.x_label))
    ax.set_ylabel(literal(orbit.y_label))
    ax.set_title(literal(textwrap.fill(orbit.title, int(_TITLE_LETTERS * _inches(ax)[0]))))


def legend_handles(orbit: Orbit) -> list[Patch]:
    """One entry per symbol; none where there are too many to be told apart by colour."""
    colours = symbol_colours(len(orbit.alphabet))
    strength = _AREA if orbit.weights.size else _MARKED
    if len(orbit.alphabet) > _LEGEND:
        return []
    return [
        Patch(facecolor=pale(colour, strength), edgecolor=GREY, label=literal(visible(symbol)))
        for symbol, colour in zip(orbit.alphabet, colours, strict=True)
    ]


def _set_limits(ax: Axes, orbit: Orbit, spots: list[Spot]) -> None:
    low, high = orbit.points.min(axis=0), orbit.points.max(axis=0)
    ax.grid(visible=False)
    if orbit.round:
        middle = (low + high) / 2
        half = _half(ax, orbit, spots) * (float(np.linalg.norm(orbit.points - middle, axis=1).max()) or 1.0)
        ax.set_xlim(middle[0] - half, middle[0] + half)
        ax.set_ylim(middle[1] - half, middle[1] + half)
        ax.set_aspect("equal")
        return
    room = 0.14 * (high[1] - low[1]) or 1.0
    ax.set_xlim(low[0] - 0.6, high[0] + 0.6)
    ax.set_ylim(low[1] - room, high[1] + room)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))


def _half(ax: Axes, orbit: Orbit, spots: list[Spot]) -> float:
    """Radii from the middle to the edge that leave room for the longest word outside; letters are 0.6 of their height."""
    lines = (line for spot in spots for line in beside(orbit, spot, len(spots)).split("\n"))
    share = 2 * (0.6 * _TEXT * max(map(len, lines)) + 8) / (72 * min(_inches(ax)))
    return max(_ROOM, 1 / (1 - min(share, 0.45)))


def _draw_regions(ax: Axes, orbit: Orbit, colours: list[str]) -> None:
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    for polygon, colour in zip(
        regions(orbit.weights, orbit.bias, (left, bottom), (right, top)), colours, strict=True
    ):
        if len(polygon) > 2:
            ax.add_patch(
                Polygon(polygon, facecolor=pale(colour, _AREA), edgecolor=INK, linewidth=0.8, zorder=0.5)
            )


def _draw_way(ax: Axes, orbit: Orbit) -> None:
    """Thin lines from each place to the next, with an arrow in the middle where there is room."""
    points = np.vstack([orbit.points, orbit.points[:1]]) if orbit.round else orbit.points
    ax.plot(*points.T, color=GREY, linewidth=0.7, zorder=1.5)
    for here, there in pairwise(points if len(orbit.points) <= _ARROWS else points[:2]):
        middle = here + 0.56 * (there - here)
        if np.allclose(here, there):
            continue
        ax.annotate(
            "",
            middle,
            xytext=here + 0.5 * (there - here),
            arrowprops={"arrowstyle": "-|>", "color": INK, "linewidth": 0, "mutation_scale": 8},
            zorder=1.6,
        )


def _draw_points(ax: Axes, orbit: Orbit, spots: list[Spot], colours: list[str]) -> None:
    room = _diameter(ax, orbit, len(spots))
    lettered = room >= _LETTER_POINT and any(fits(orbit, spot) for spot in spots)
    size = room if lettered else min(room, _SMALL_POINT)
    edges = [min(0.8, size / 15)] * len(spots)
    edges[0] = 2.0 if lettered else edges[0]
    fills = [colours[spot.symbols[0]] if len(spot.symbols) == 1 else _MIXED for spot in spots]
    ax.scatter(
        *np.array([spot.point for spot in spots]).T,
        s=size**2,
        c=[pale(fill, _MARKED) if lettered else fill for fill in fills],
        edgecolors=INK,
        linewidths=edges,
        zorder=3,
    )
    for spot in spots:
        if lettered and fits(orbit, spot):
            _write_inside(ax, spot, letters(orbit, spot), size)
        _write_beside(ax, orbit, spot, beside(orbit, spot, len(spots)), size)


def _write_inside(ax: Axes, spot: Spot, letter: str, size: float) -> None:
    share = 0.62 if len(letter) == 1 else 0.36
    ax.annotate(
        literal(letter, instead="\N{WHITE SQUARE}"),
        tuple(spot.point),
        ha="center",
        va="center",
        fontsize=share * size,
        zorder=4,
    )


def _write_beside(ax: Axes, orbit: Orbit, spot: Spot, text: str, size: float) -> None:
    """Outside the orbit, seen from its middle; above the point where there is no middle."""
    if not text:
        return
    away = spot.point - orbit.points.mean(axis=0) if orbit.round else np.array([0.0, 1.0])
    away = away / (float(np.linalg.norm(away)) or 1.0)
    short = len(text) <= 2
    upright = orbit.round or len(orbit.points) <= _UPRIGHT
    ax.annotate(
        literal(text),
        tuple(spot.point),
        xytext=tuple((size / 2 + (7 if short else 3)) * away),
        textcoords="offset points",
        ha="center" if short or abs(away[0]) < 0.25 else "left" if away[0] > 0 else "right",
        va="center" if short or abs(away[1]) < 0.25 else "bottom" if away[1] > 0 else "top",
        rotation=0 if upright else 90,
        fontsize=_TEXT,
        color=INK,
        path_effects=[patheffects.withStroke(linewidth=1.6, foreground="white", alpha=0.7)],
        zorder=4,
    )


def _diameter(ax: Axes, orbit: Orbit, amount: int) -> float:
    """As large as the neighbours allow, in points of type."""
    width, height = (72 * side for side in _inches(ax))
    room = np.pi * min(width, height) / _ROOM / amount if orbit.round else width / (amount + 1)
    return float(np.clip(0.82 * room, _SMALLEST_POINT, _LARGEST_POINT))


def _inches(ax: Axes) -> tuple[float, float]:
    """The size of the axes before they are laid out, without what stands around them."""
    figure, box = ax.get_figure(root=True), ax.get_position(original=True)
    width, height = figure.get_size_inches() if figure is not None else (_WIDE, _FLAT)
    return box.width * width, box.height * height

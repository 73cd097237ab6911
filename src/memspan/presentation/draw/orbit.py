"""Orbits: the states of a network in a plane, one point per position, and the regions of the symbols."""

from __future__ import annotations

import colorsys
import textwrap
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias, final

import numpy as np
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Polygon
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from memspan.presentation.draw.style import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, SKY, VERMILION, literal, new_figure
from memspan.results import END, Memorization, Orbit
from memspan.results.text import one_line, visible

# Characters of a title per inch of the axes below it.
_TITLE_LETTERS = 14.2
# Inches: the width of a figure, its height with a circle, and over the positions of a period.
_WIDE, _ROUND, _FLAT = 7.4, 5.4, 4.2
# Diameters in points: with space to spare, just holding a letter, next to a label, in a crowd.
_LARGEST_POINT, _LETTER_POINT, _SMALL_POINT, _SMALLEST_POINT = 15.0, 7.5, 6.5, 2.5
_TEXT = 7.0
# Positions up to which each connecting line has an arrow; beyond, only the first.
_ARROWS = 24
# Symbols of the longest legend.
_LEGEND = 12
# Labels up to which text over the positions of a period is horizontal.
_UPRIGHT = 12
# Opacity of the color in a region and in a point that holds a letter.
_AREA, _MARKED = 0.30, 0.55
# Color of a point that stands for positions with different symbols.
_MIXED = "#ffffff"
# Half the width of the axes in radii of the orbit; more if long labels need it.
_HALF_WIDTH = 1.32
# Inches of one plane among several.
_PLANE_SIDE = 4.4


def orbit_figure(orbit: Orbit) -> Figure:
    """The orbit, with a legend if there are few symbols."""
    figure = new_figure(_WIDE, _ROUND if orbit.round else _FLAT)
    ax = figure.subplots()
    draw_orbit(ax, orbit)
    ax.set_anchor("W")
    handles = legend_handles(orbit)
    if handles:
        title = "region of the\nnext symbol" if orbit.weights.size else "next symbol"
        figure.legend(handles=handles, loc="outside right center", title=title)
    return figure


def memorization_figure(result: Memorization, drawings: tuple[Orbit, ...]) -> Figure:
    """The orbit of a memorization; several planes next to each other, two in a row."""
    if not result.frequencies or result.hidden_size < 3:
        return orbit_figure(drawings[0])
    columns = min(len(drawings), 2)
    rows = -(-len(drawings) // columns)
    handles = legend_handles(drawings[0])
    height = _PLANE_SIDE * rows + 0.5 + 0.22 * -(-len(handles) // 8)
    figure = new_figure(max(_PLANE_SIDE * columns, 7.4), height)
    axes = figure.subplots(rows, columns, squeeze=False).flatten()
    for ax, drawing in zip(axes, drawings, strict=False):
        draw_orbit(ax, drawing)
    for ax in axes[len(drawings) :]:
        ax.set_axis_off()
    figure.suptitle(literal(textwrap.fill(_planes_title(result), 100)), x=0.01, ha="left", fontsize=9.5)
    if handles:
        figure.legend(handles=handles, loc="outside lower center", ncols=8)
    return figure


def _planes_title(result: Memorization) -> str:
    signs = sum(2 * frequency == result.period for frequency in result.frequencies)
    planes = len(result.frequencies) - signs
    circles = "a circle" if planes == 1 else f"{planes} circles at once"
    sign = ", and a sign that changes at every step" if signs else ""
    return f"{one_line(result.name)}: {result.hidden_size} hidden units make {circles}{sign}"


def draw_orbit(ax: Axes, orbit: Orbit) -> None:
    """Regions, connecting lines, and one point per position on given axes."""
    colors, points = symbol_colors(len(orbit.alphabet)), points_of(orbit)
    _set_limits(ax, orbit, points)
    if orbit.weights.size:
        _draw_regions(ax, orbit, colors)
    _draw_path(ax, orbit)
    _draw_points(ax, orbit, points, colors)
    ax.set_xlabel(literal(orbit.x_label))
    ax.set_ylabel(literal(orbit.y_label))
    ax.set_title(literal(textwrap.fill(orbit.title, int(_TITLE_LETTERS * _inches(ax)[0]))))


def legend_handles(orbit: Orbit) -> list[Patch]:
    """One entry per symbol; none if there are too many to be distinguished by color."""
    colors = symbol_colors(len(orbit.alphabet))
    strength = _AREA if orbit.weights.size else _MARKED
    if len(orbit.alphabet) > _LEGEND:
        return []
    return [
        Patch(facecolor=pale(color, strength), edgecolor=GREY, label=literal(visible(symbol)))
        for symbol, color in zip(orbit.alphabet, colors, strict=True)
    ]


def _set_limits(ax: Axes, orbit: Orbit, points: list[OrbitPoint]) -> None:
    low, high = orbit.points.min(axis=0), orbit.points.max(axis=0)
    ax.grid(visible=False)
    if orbit.round:
        middle = (low + high) / 2
        half = _half(ax, orbit, points) * (float(np.linalg.norm(orbit.points - middle, axis=1).max()) or 1.0)
        ax.set_xlim(middle[0] - half, middle[0] + half)
        ax.set_ylim(middle[1] - half, middle[1] + half)
        ax.set_aspect("equal")
        return
    room = 0.14 * (high[1] - low[1]) or 1.0
    ax.set_xlim(low[0] - 0.6, high[0] + 0.6)
    ax.set_ylim(low[1] - room, high[1] + room)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))


def _half(ax: Axes, orbit: Orbit, points: list[OrbitPoint]) -> float:
    """Radii from the center to the edge, with space for the longest label; letters are 0.6 as wide as high."""
    lines = (line for point in points for line in outside_label(orbit, point, len(points)).split("\n"))
    share = 2 * (0.6 * _TEXT * max(map(len, lines)) + 8) / (72 * min(_inches(ax)))
    return max(_HALF_WIDTH, 1 / (1 - min(share, 0.45)))


def _draw_regions(ax: Axes, orbit: Orbit, colors: list[str]) -> None:
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    for polygon, color in zip(regions(orbit.weights, orbit.bias, (left, bottom), (right, top)), colors, strict=True):
        if len(polygon) > 2:
            ax.add_patch(Polygon(polygon, facecolor=pale(color, _AREA), edgecolor=INK, linewidth=0.8, zorder=0.5))


def _draw_path(ax: Axes, orbit: Orbit) -> None:
    """Thin lines from each position to the next, with an arrow in the middle of each if there are few."""
    path = np.vstack([orbit.points, orbit.points[:1]]) if orbit.round else orbit.points
    ax.plot(*path.T, color=GREY, linewidth=0.7, zorder=1.5)
    for here, there in pairwise(path if len(orbit.points) <= _ARROWS else path[:2]):
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


def _draw_points(ax: Axes, orbit: Orbit, points: list[OrbitPoint], colors: list[str]) -> None:
    room = _diameter(ax, orbit, len(points))
    lettered = room >= _LETTER_POINT and any(fits(orbit, point) for point in points)
    size = room if lettered else min(room, _SMALL_POINT)
    edges = [min(0.8, size / 15)] * len(points)
    edges[0] = 2.0 if lettered else edges[0]
    fills = [colors[point.symbols[0]] if len(point.symbols) == 1 else _MIXED for point in points]
    ax.scatter(
        *np.array([point.position for point in points]).T,
        s=size**2,
        c=[pale(fill, _MARKED) if lettered else fill for fill in fills],
        edgecolors=INK,
        linewidths=edges,
        zorder=3,
    )
    for point in points:
        if lettered and fits(orbit, point):
            _label_inside(ax, point, letters(orbit, point), size)
        _label_outside(ax, orbit, point, outside_label(orbit, point, len(points)), size)


def _label_inside(ax: Axes, point: OrbitPoint, letter: str, size: float) -> None:
    share = 0.62 if len(letter) == 1 else 0.36
    ax.annotate(
        literal(letter, instead="\N{WHITE SQUARE}"),
        tuple(point.position),
        ha="center",
        va="center",
        fontsize=share * size,
        zorder=4,
    )


def _label_outside(ax: Axes, orbit: Orbit, point: OrbitPoint, text: str, size: float) -> None:
    """On the side away from the center of the orbit; above the point where there is no center."""
    if not text:
        return
    away = point.position - orbit.points.mean(axis=0) if orbit.round else np.array([0.0, 1.0])
    away = away / (float(np.linalg.norm(away)) or 1.0)
    short = len(text) <= 2
    upright = orbit.round or len(orbit.points) <= _UPRIGHT
    ax.annotate(
        literal(text),
        tuple(point.position),
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
    """As large as the neighbors allow, in points."""
    width, height = (72 * side for side in _inches(ax))
    room = np.pi * min(width, height) / _HALF_WIDTH / amount if orbit.round else width / (amount + 1)
    return float(np.clip(0.82 * room, _SMALLEST_POINT, _LARGEST_POINT))


def _inches(ax: Axes) -> tuple[float, float]:
    """The size of the axes before the layout, without labels."""
    figure, box = ax.get_figure(root=True), ax.get_position(original=True)
    width, height = figure.get_size_inches() if figure is not None else (_WIDE, _FLAT)
    return box.width * width, box.height * height


# Points up to which their positions are labeled; symbols are labeled up to twice as many.
_NUMBERS = 40
# Symbols and positions listed at one point, at most.
_MOST_SYMBOLS, _MOST_PLACES = 4, 3


@final
@dataclass(frozen=True, eq=False)
class OrbitPoint:
    """One point of the plane and all positions of the period that fall on it."""

    position: NDArray[np.float64]
    places: list[int]
    symbols: list[int]
    """Different symbols at these positions, in order."""


def points_of(orbit: Orbit) -> list[OrbitPoint]:
    """The points of an orbit; a plane may turn faster than the period, so positions can coincide."""
    span = float(np.ptp(orbit.points, axis=0).max()) or 1.0
    found: dict[tuple[int, ...], OrbitPoint] = {}
    for place, (position, symbol) in enumerate(zip(orbit.points, orbit.symbols.tolist(), strict=True)):
        key = tuple(np.round(position / span * 1e6).astype(int).tolist())
        shared = found.setdefault(key, OrbitPoint(position, [], []))
        shared.places.append(place)
        if symbol not in shared.symbols:
            shared.symbols.append(symbol)
    return list(found.values())


def letters(orbit: Orbit, point: OrbitPoint) -> str:
    """The symbols of a point; if there are many, the first ones."""
    shown = [visible(orbit.alphabet[code], 9) for code in point.symbols[:_MOST_SYMBOLS]]
    return " ".join(shown) + (" …" if len(point.symbols) > _MOST_SYMBOLS else "")


def fits(orbit: Orbit, point: OrbitPoint) -> bool:
    """Whether the label fits into its point: one letter, or the end symbol."""
    return len(letters(orbit, point)) == 1 or [orbit.alphabet[code] for code in point.symbols] == [END]


def outside_label(orbit: Orbit, point: OrbitPoint, amount: int) -> str:
    """The label next to one of `amount` points: its positions, and its symbols if they do not fit into it."""
    written = "" if fits(orbit, point) or amount > 2 * _NUMBERS else letters(orbit, point)
    if not orbit.round:
        return written  # the axis shows the position
    numbers = ", ".join(str(place + 1) for place in point.places[:_MOST_PLACES])
    numbers += " …" if len(point.places) > _MOST_PLACES else ""
    if 0 in point.places and len(orbit.points) > 1:
        numbers = f"start, {numbers}"
    elif amount > _NUMBERS:
        numbers = ""
    between = "\n" if len(point.symbols) > 1 else " "
    return f"{written}{between}({numbers})" if written and numbers else written or numbers


Region: TypeAlias = NDArray[np.float64]
"""Corners in order, (corners, 2); empty where there is no region."""


def regions(
    weights: NDArray[np.float64], bias: NDArray[np.float64], low: tuple[float, float], high: tuple[float, float]
) -> list[Region]:
    """For each k the part of the box where weights[k] @ point + bias[k] is the largest.

    >>> left, right = regions(np.array([[-1.0, 0.0], [1.0, 0.0]]), np.zeros(2), (-1.0, -1.0), (1.0, 1.0))
    >>> float(left[:, 0].max()), float(right[:, 0].min())
    (0.0, 0.0)
    """
    (left, bottom), (right, top) = low, high
    box = np.array([(left, bottom), (right, bottom), (right, top), (left, top)], dtype=np.float64)
    return [_region(weights, bias, k, box) for k in range(len(bias))]


def _region(weights: NDArray[np.float64], bias: NDArray[np.float64], k: int, box: Region) -> Region:
    polygon = box
    for other in range(len(bias)):
        if other != k and len(polygon):
            polygon = _cut(polygon, polygon @ (weights[k] - weights[other]) + bias[k] - bias[other])
    return polygon


def _cut(polygon: Region, lead: NDArray[np.float64]) -> Region:
    """The part of a convex polygon where `lead`, given at its corners, is not negative (Sutherland and Hodgman)."""
    if (lead >= 0).all():
        return polygon
    inside: list[NDArray[np.float64]] = []
    for here, there, lead_here, lead_there in zip(
        polygon, np.roll(polygon, -1, axis=0), lead, np.roll(lead, -1), strict=True
    ):
        if lead_here >= 0:
            inside.append(here)
        if (lead_here >= 0) != (lead_there >= 0):
            inside.append(here + (there - here) * lead_here / (lead_here - lead_there))
    return np.array(inside).reshape(-1, 2)


_FEW_COLORS = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION, "#f0e442", GREY)
# Step around the hue circle, 1 minus the golden ratio: successive hues stay far apart.
_GOLDEN = 0.381966


def symbol_colors(amount: int) -> list[str]:
    """Different colors; for more than eight symbols, neighbors in the alphabet differ strongly.

    >>> len(set(symbol_colors(60)))
    60
    """
    if amount <= len(_FEW_COLORS):
        return list(_FEW_COLORS[:amount])
    return [
        to_hex(colorsys.hls_to_rgb((0.58 + _GOLDEN * place) % 1.0, (0.42, 0.60)[place % 2], 0.62))
        for place in range(amount)
    ]


def pale(color: str, strength: float) -> str:
    """The color mixed with white, for areas below points and letters."""
    red, green, blue = (1 - strength * (1 - part) for part in to_rgb(color))
    return to_hex((red, green, blue))

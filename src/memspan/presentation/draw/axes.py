"""Limits, ticks, reference lines and legends of axes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import Collection
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter
from matplotlib.transforms import Bbox, ScaledTranslation
from numpy.typing import NDArray

from memspan.presentation.draw.style import INK, label_size, literal
from memspan.presentation.numbers import trimmed
from memspan.results import Curve, DecayFit

# Share of a logarithmic axis left free above the curve for the labels of span and reach.
_HEADROOM = 0.2


def positive(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The finite values above zero: those that a logarithmic axis can show."""
    return values[np.isfinite(values) & (values > 0)]


def masked(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """`values` with NaN where they are not above zero, for a logarithmic axis."""
    return np.where(values > 0, values, np.nan)


def information_limits(curves: list[Curve], factor: float) -> tuple[float, float]:
    """Bottom and top of a logarithmic information axis, in nats times `factor`.

    The bottom follows the smallest significant value, the size of the errors or the reach's level; values
    that are not significant may lie below it.
    """
    high = np.concatenate([positive(np.concatenate([c.information, c.corrected])) for c in curves])
    low = np.concatenate([_lows(curve) for curve in curves])
    if not high.size:
        high = low
    if not high.size:
        return 1e-6 * factor, factor
    top = float(high.max())
    bottom = min(float(low.min()) if low.size else top, top / 30) / 2
    return bottom * factor, top * (top / bottom) ** _HEADROOM * factor


def _lows(curve: Curve) -> NDArray[np.float64]:
    lows = [positive(curve.corrected[curve.significant]), _middle(positive(curve.error))]
    if curve.reach.lag > 0:
        lows.append(np.array([curve.reach.level]))
    return np.concatenate(lows)


def _middle(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([np.median(values)]) if values.size else values


def lag_limits(curves: list[Curve]) -> tuple[float, float]:
    """Limits of a logarithmic lag axis, with a margin."""
    lags = np.concatenate([curve.lags for curve in curves])
    first, last = (float(lags.min()), float(lags.max())) if lags.size else (1.0, 1.0)
    margin = max((last / first) ** 0.04, 1.15) if last > first else 3.0
    return first / margin, last * margin


def near_limits(curve: Curve, decay: DecayFit | None) -> tuple[float, float]:
    """Limits of a linear lag axis: a few times the reach or the exponential's length.

    All lags up to a large span would squeeze the part where the information falls into the first millimeter.
    """
    lags = curve.lags[curve.significant] if curve.significant.any() else curve.lags
    last = float(lags.max()) if lags.size else 1.0
    fit = decay.laws.get("exponential") if decay is not None else None
    scales = [curve.reach.lag, fit.parameters["length"] if fit is not None else 0.0]
    falls = max((scale for scale in scales if np.isfinite(scale)), default=0.0)
    right = min(1.3 * last, max(4 * falls, 20.0)) if falls > 0 else last
    return 0.0, max(1.04 * min(right, float(curve.lags.max(initial=1))), 2.0 * curve.lags.min(initial=1))


# Ratio of the ends below which a logarithmic axis has too few powers of ten for its labels.
SHORT = 10**1.5


def plain_ticks(ax: Axes) -> None:
    """Label the horizontal axis in plain numbers; the limits must be set.

    On a short logarithmic axis the twos and fives between powers of ten are labeled as well.
    """
    _label(ax.xaxis, ax.get_xscale(), *ax.get_xlim())


def plain_short_ticks(ax: Axes) -> None:
    """The same for the vertical axis, where it is logarithmic and too short for powers of ten."""
    low, high = ax.get_ylim()
    if ax.get_yscale() == "log" and high / low < SHORT:
        _label(ax.yaxis, "log", low, high)


def whole_ticks(ax: Axes) -> None:
    """No ticks between whole numbers on the horizontal axis."""
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def _label(axis: Axis, scale: str, low: float, high: float) -> None:
    axis.set_major_formatter(FuncFormatter(lambda value, _: trimmed(value)))
    if scale == "log":
        axis.set_minor_formatter(FuncFormatter(_two_or_five) if high / low < SHORT else NullFormatter())


def _two_or_five(value: float, _: object) -> str:
    first = round(value / 10 ** math.floor(math.log10(value) + 1e-9))
    return trimmed(value) if first in (2, 5) else ""


def horizontal_line(ax: Axes, value: float, label: str) -> None:
    """A dotted line with its label at the right end, on the side with more space; the limits must be set."""
    ax.axhline(value, color=INK, linewidth=0.9, linestyle=":")
    to_axes = ax.transData + ax.transAxes.inverted()
    below = to_axes.transform((ax.get_xlim()[1], value))[1] > 0.5
    ax.annotate(
        literal(label),
        (0.995, value),
        xycoords=("axes fraction", "data"),
        xytext=(0, -3 if below else 3),
        textcoords="offset points",
        ha="right",
        va="top" if below else "bottom",
        fontsize=label_size(),
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
    )


def vertical_line(ax: Axes, place: float, label: str, height: float) -> None:
    """A dashed line with its label at `height` (a share of the axes), on the side with more space; limits must be set."""
    ax.axvline(place, color=INK, linewidth=0.9, linestyle="--")
    to_axes = ax.transData + ax.transAxes.inverted()
    on_left = to_axes.transform((place, ax.get_ylim()[0]))[0] > 0.5
    ax.annotate(
        literal(label),
        (place, height),
        xycoords=("data", "axes fraction"),
        xytext=(-3 if on_left else 3, 0),
        textcoords="offset points",
        ha="right" if on_left else "left",
        va="top",
        fontsize=label_size(),
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
    )


_CORNERS = ("upper right", "lower left", "upper left", "lower right", "center right", "upper center", "lower center")
# Positions along each axis that are tried after the corners.
_STEPS = 16
# Pixels left free around a legend.
_MARGIN = 3.0
# Share of the figure's width that the columns of a legend below the axes may take.
_WIDE = 0.95


def place_legend(ax: Axes, handles: Sequence[Artist] | None = None, labels: Sequence[str] | None = None) -> None:
    """Add a legend that covers no line, marker, band or text; limits and labels of the axes must be set.

    The corners are tried first, then a grid of positions. If all of them cover something, the legend goes below the axes.
    """
    if handles is None or labels is None:
        found = ax.get_legend_handles_labels()
        handles, labels = found[0], found[1]
    if not handles:
        return
    _lay_out(ax)
    obstacles = _obstacles(ax)
    for corner in _CORNERS:
        legend = ax.legend(handles, labels, loc=corner)
        if _free(_box(legend), obstacles, ax):
            return
    legend = ax.legend(handles, labels, loc="lower left", bbox_to_anchor=(0.0, 0.0))
    box, inside = _box(legend), ax.get_window_extent()
    for row in reversed(range(_STEPS + 1)):
        for column in reversed(range(_STEPS + 1)):
            x = (inside.width - box.width) * column / _STEPS
            y = (inside.height - box.height) * row / _STEPS
            moved = box.translated(inside.x0 + x - box.x0, inside.y0 + y - box.y0)
            if _free(moved, obstacles, ax):
                anchor = x / inside.width, y / inside.height
                ax.legend(handles, labels, loc="lower left", bbox_to_anchor=anchor, borderaxespad=0)
                return
    legend.remove()
    below_axes(ax, handles, labels)


def below_axes(ax: Axes, handles: Sequence[Artist], labels: Sequence[str]) -> None:
    """A legend under the label of the horizontal axis, in as many columns as fit."""
    figure = ax.get_figure(root=True)
    assert figure is not None, "axes belong to a figure"
    alone = [other for other in figure.axes if not hasattr(other, "_colorbar")] == [ax]
    ours = alone and isinstance(figure.get_layout_engine(), ConstrainedLayoutEngine)
    for columns in (3, 2, 1):
        if ours:  # the layout then leaves space for it
            legend = figure.legend(handles, labels, loc="outside lower center", ncols=columns)
        else:
            legend = _hung(ax, handles, labels, columns)
        if columns == 1 or _box(legend).width <= _WIDE * figure.bbox.width:
            return
        legend.remove()


def _hung(ax: Axes, handles: Sequence[Artist], labels: Sequence[str], columns: int) -> Legend:
    """Below the axis label by a distance in inches, which stays when the axes change their size."""
    words, inside = ax.xaxis.get_tightbbox(), ax.get_window_extent()
    figure = ax.get_figure(root=True)
    assert figure is not None, "axes belong to a figure"
    depth = 0.0 if words is None else max(0.0, inside.y0 - words.y0)
    lower = ScaledTranslation(0, -(depth + 2 * _MARGIN) / figure.dpi, figure.dpi_scale_trans)
    return ax.legend(
        handles,
        labels,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        bbox_transform=ax.transAxes + lower,
        ncols=columns,
        borderaxespad=0,
    )


def _lay_out(ax: Axes) -> None:
    figure = ax.get_figure(root=True)
    engine = figure.get_layout_engine() if figure is not None else None
    if figure is not None and engine is not None:
        engine.execute(figure)


def _box(legend: Legend) -> Bbox:
    return Bbox(legend.get_window_extent())


def _obstacles(ax: Axes) -> list[Artist]:
    kinds = (Line2D, Collection, Patch, Text)
    mine = [artist for artist in ax.get_children() if isinstance(artist, kinds) and artist.get_visible()]
    return [artist for artist in mine if artist is not ax.patch and artist not in _titles(ax)]


def _titles(ax: Axes) -> list[Artist]:
    return [ax.title, ax._left_title, ax._right_title]  # pyright: ignore[reportAttributeAccessIssue]


def _free(box: Bbox, obstacles: list[Artist], ax: Axes) -> bool:
    inside = ax.get_window_extent()
    if box.width > inside.width or box.height > inside.height:
        return False
    wide = box.padded(_MARGIN)
    return not any(_covers(wide, artist) for artist in obstacles)


def _covers(box: Bbox, artist: Artist) -> bool:
    """Whether any part of what is drawn lies in the box."""
    match artist:
        case Text():
            return bool(artist.get_text()) and box.overlaps(artist.get_window_extent())
        case Line2D():
            near = box.padded(artist.get_markersize() / 2)
            path = artist.get_transform().transform_path(artist.get_path())
            joined = artist.get_linestyle() not in ("None", "", " ")
            return bool(near.count_contains(path.vertices)) or (joined and path.intersects_bbox(box, filled=False))
        case Collection():
            transform, paths = artist.get_transform(), artist.get_paths()
            filled = bool(len(artist.get_facecolor()))
            return any(transform.transform_path(path).intersects_bbox(box, filled=filled) for path in paths)
        case Patch():
            return artist.get_transform().transform_path(artist.get_path()).intersects_bbox(box, filled=True)
    return False


def covered(ax: Axes) -> list[Artist]:
    """Artists that the legend of the axes covers."""
    legend = ax.get_legend()
    if legend is None:
        return []
    _lay_out(ax)
    shared = Bbox.intersection(_box(legend), ax.get_window_extent())
    return [] if shared is None else [artist for artist in _obstacles(ax) if _covers(shared, artist)]

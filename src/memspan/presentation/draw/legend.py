"""Legends in a free part of the axes, or below them, but never over the data."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import Collection
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text
from matplotlib.transforms import Bbox, ScaledTranslation

_CORNERS = (
    "upper right",
    "lower left",
    "upper left",
    "lower right",
    "center right",
    "upper center",
    "lower center",
)
_STEPS = 16
"""Positions along each axis that are tried after the corners."""
_MARGIN = 3.0
"""Pixels left free around a legend."""
_WIDE = 0.95
"""Share of the figure's width that the columns of a legend below the axes may take."""


def place_legend(
    ax: Axes, handles: Sequence[Artist] | None = None, labels: Sequence[str] | None = None
) -> None:
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
            return bool(near.count_contains(path.vertices)) or (
                joined and path.intersects_bbox(box, filled=False)
            )
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

"""Charts: lines, markers and bands that a result stores as plain data."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from memspan.presentation.draw.axes import masked, place_legend, plain_short_ticks, plain_ticks, positive, whole_ticks
from memspan.presentation.draw.style import LineLook, literal, look, new_figure
from memspan.results import Chart, Line

_TITLE_WIDTH, _LABEL_WIDTH, _NAME_WIDTH = 84, 60, 13
# Share of the axis below which two lines look like one.
_SAME = 0.01
# Points up to which each one has a marker; a longer line has a few.
_FEW = 20


def chart_figure(chart: Chart) -> Figure:
    """The chart with its legend below the axes."""
    rows = -(-len(_named(chart)) // 2)
    figure = new_figure(7.4, 4.4 + 0.2 * rows)
    _draw(figure.subplots(), chart)
    if rows:
        figure.legend(loc="outside lower center", ncols=2)
    return figure


def draw_chart(ax: Axes, chart: Chart) -> None:
    """The chart on given axes, with a legend that covers nothing."""
    _draw(ax, chart)
    if _named(chart):
        place_legend(ax)


def _named(chart: Chart) -> list[Line]:
    return [line for line in chart.lines if line.label]


def _draw(ax: Axes, chart: Chart) -> None:
    ax.set_xscale(chart.x_scale)
    ax.set_yscale(chart.y_scale)
    position = -1
    for line in chart.lines:
        position += bool(line.label) or position < 0  # a line without a label looks like the one before it
        _draw_band(ax, chart, line, look(position))
        _draw_line(ax, chart, line, look(position), first_marker=position, hidden=_hidden(chart, line))
    if chart.y_scale == "log":
        _limit_to_values(ax, chart)
    low, high = ax.get_xlim()
    short = chart.x_scale == "log" and high / low < 1e4  # longer axes need powers of ten
    if short or (chart.x_scale == "linear" and high >= 1e4):
        plain_ticks(ax)
    if chart.x_scale == "linear" and high - low < _FEW and all(_whole(line.x) for line in chart.lines):
        whole_ticks(ax)
    if chart.x_names:
        names = [literal(textwrap.fill(name, _NAME_WIDTH)) for name in chart.x_names]
        ax.set_xticks(np.arange(1, len(names) + 1), labels=names)
    plain_short_ticks(ax)
    ax.set_xlabel(literal(chart.x_label))
    ax.set_ylabel(literal(chart.y_label))
    ax.set_title(literal(textwrap.fill(chart.title, _TITLE_WIDTH)))


def _whole(values: NDArray[np.float64]) -> bool:
    return bool(np.all(values == np.round(values)))


def _on_scale(scale: str, values: NDArray[np.float64]) -> NDArray[np.float64]:
    return masked(values) if scale == "log" else values


def _hidden(chart: Chart, line: Line) -> int:
    """Number of later lines that coincide with this one."""
    heights = [_height(chart, one) for one in chart.lines]
    known = np.concatenate([*heights, np.zeros(0)])
    near = _SAME * (np.nanmax(known) - np.nanmin(known)) if np.isfinite(known).any() else 0.0
    at = [one is line for one in chart.lines].index(True)
    return sum(
        bool(np.array_equal(one.x, line.x) and np.all(np.abs(height - heights[at]) <= near))
        for one, height in zip(chart.lines[at + 1 :], heights[at + 1 :], strict=True)
    )


def _height(chart: Chart, line: Line) -> NDArray[np.float64]:
    """Positions of the points on the vertical axis."""
    with np.errstate(divide="ignore", invalid="ignore"):
        height = np.log(line.y) if chart.y_scale == "log" else np.asarray(line.y, np.float64)
    return np.where(np.isfinite(height), height, np.nan)


def _draw_line(ax: Axes, chart: Chart, line: Line, shape: LineLook, *, first_marker: int, hidden: int) -> None:
    """A line that others would hide is drawn wider, so that it shows on both sides of them."""
    size, label = line.x.size, literal(textwrap.fill(line.label, _LABEL_WIDTH)) if line.label else None
    every = 1 if size <= _FEW or line.style == "markers" else (first_marker * size // 40 % size, size // 8)
    strokes: dict[str, tuple[Any, str]] = {
        "line": ("-", shape.marker),
        "dashed": ((0, (4, 2)), "" if _joined(line.y) else shape.marker),
        "markers": ("", shape.marker),
    }
    dash, marker = strokes[line.style]
    x, y = _on_scale(chart.x_scale, line.x), _on_scale(chart.y_scale, line.y)
    (drawn,) = ax.plot(x, y, color=shape.color, linestyle=dash, marker=marker, markevery=every, label=label)
    drawn.set_linewidth(drawn.get_linewidth() * (1 + 1.5 * hidden))
    drawn.set_markersize(drawn.get_markersize() * (1 + 0.6 * hidden))


def _joined(values: NDArray[np.float64]) -> bool:
    """Whether two adjacent points are finite, so that a line without markers is visible."""
    there = np.isfinite(values)
    return bool((there[1:] & there[:-1]).any())


def _draw_band(ax: Axes, chart: Chart, line: Line, shape: LineLook) -> None:
    """Error bars for markers, a band for lines; on a logarithmic axis both may extend below its lower end."""
    if not line.low.size:
        return
    x, y, high = (
        _on_scale(chart.x_scale, line.x),
        _on_scale(chart.y_scale, line.y),
        _on_scale(chart.y_scale, line.high),
    )
    low = np.where(line.low > 0, line.low, np.fmin(y, high) * 1e-9) if chart.y_scale == "log" else line.low
    if line.style == "markers":
        bars = np.nan_to_num(np.stack([np.fmax(y - low, 0), np.fmax(high - y, 0)]))
        ax.errorbar(x, y, yerr=bars, fmt="none", ecolor=shape.color, elinewidth=1.0)
    else:
        ax.fill_between(x, low, high, color=shape.color, alpha=0.18, linewidth=0)


def _limit_to_values(ax: Axes, chart: Chart) -> None:
    """Limits from the values and upper bounds: a band that reaches zero has no lower limit."""
    ends = [positive(values) for line in chart.lines for values in (line.y, line.high)]
    shown = np.concatenate([*ends, np.zeros(0)])
    if shown.size:
        margin = max((shown.max() / shown.min()) ** 0.05, 1.3)
        ax.set_ylim(shown.min() / margin, shown.max() * margin)

"""`plot` and `figures_of`: which function draws which result."""

from __future__ import annotations

from typing import TypeAlias

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from memspan.errors import InputError
from memspan.figures.benchmark import benchmark_axes, benchmark_figure
from memspan.figures.chart import chart_axes, chart_figure
from memspan.figures.comparison import comparison_axes, comparison_figure
from memspan.figures.information import curve_axes, information_axes, information_figure
from memspan.figures.style import settle, style
from memspan.results import BenchReport, Chart, Comparison, Curve, Measurement, Reproduction

Plottable: TypeAlias = Curve | Measurement | Comparison | Chart | BenchReport
Result: TypeAlias = Measurement | Comparison | Reproduction | BenchReport


def plot(result: Plottable, ax: Axes | None = None, *, bits: bool = False) -> Axes:
    """Draw a result on one pair of axes and return them; `bits` shows information in bits instead of nats.

    Without `ax` the axes are a new pyplot figure's, so that a notebook or `pyplot.show()` shows them.
    """
    with style():
        axes = _new_axes() if ax is None else ax
        match result:
            case Curve():
                curve_axes(axes, result, bits=bits)
            case Measurement():
                information_axes(axes, result, bits=bits)
            case Comparison():
                comparison_axes(axes, result, bits=bits)
            case Chart():
                chart_axes(axes, result)
            case BenchReport():
                benchmark_axes(axes, result)
            case _:
                raise InputError(_refusal(result))
    return axes


def figures_of(result: Result, *, bits: bool = False) -> dict[str, Figure]:
    """Every figure of a result by its name, each a figure of its own that needs no closing."""
    with style():
        figures = _drawn(result, bits)
        for figure in figures.values():
            settle(figure)
    return figures


def _drawn(result: Result, bits: bool) -> dict[str, Figure]:
    match result:
        case Measurement():
            return {"information": information_figure(result, bits=bits)}
        case Comparison():
            return {"comparison": comparison_figure(result, bits=bits)}
        case BenchReport():
            return {"ratios": benchmark_figure(result)}
        case Reproduction():
            return _charts(result)
    raise InputError(_refusal(result))


def _charts(reproduction: Reproduction) -> dict[str, Figure]:
    names = [chart.name for chart in reproduction.figures]
    if len(set(names)) < len(names):
        raise ValueError(f"the figures of {reproduction.id} need different names, got {', '.join(names)}")
    return {chart.name: chart_figure(chart) for chart in reproduction.figures}


def _new_axes() -> Axes:
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(7.4, 5.0), layout="constrained")[1]


def _refusal(result: object) -> str:
    expected = "a Curve, Measurement, Comparison, Chart or BenchReport"
    advice = "plot a Reproduction's charts one by one: they are in its `figures`"
    return f"cannot draw a {type(result).__name__}; expected {expected}; {advice}"

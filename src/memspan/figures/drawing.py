"""`plot` and `figures_of`: which function draws which result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias, get_args

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from memspan.errors import InputError
from memspan.figures.agent import agent_figures, episode_drawing, has_learnt, learning_drawing
from memspan.figures.benchmark import benchmark_axes, benchmark_figure
from memspan.figures.chart import chart_axes, chart_figure, chart_in_bits
from memspan.figures.comparison import comparison_axes, comparison_figure, curves_axes
from memspan.figures.diagnosis import diagnosis_drawings, diagnosis_figures, gradient_drawing
from memspan.figures.heat_map import heat_map_axes, heat_map_figure
from memspan.figures.information import curve_axes, information_axes, information_figure
from memspan.figures.laws import has_residuals, residual_figure
from memspan.figures.memorization import memorization_axes, memorization_figures
from memspan.figures.orbit import orbit_axes, orbit_figure
from memspan.figures.second_goal import goal_figures
from memspan.figures.style import PAPER_SIZE, StyleName, new_figure, settle
from memspan.figures.style import style as drawing_style
from memspan.figures.training import training_axes, training_figure
from memspan.figures.transfer import drawable, transfer_axes, transfer_figure
from memspan.memorization.charts import leads
from memspan.results import (
    AgentEvaluation,
    AgentRun,
    AnyPrediction,
    AttentionPrediction,
    BenchReport,
    Chart,
    Comparison,
    Curve,
    Diagnosis,
    Evaluation,
    HeatMap,
    LinearPrediction,
    Measurement,
    Memorization,
    Orbit,
    Prediction,
    Reproduction,
    TrainingRun,
)

Trained: TypeAlias = TrainingRun | Evaluation | Diagnosis | AgentRun | AgentEvaluation
Plottable: TypeAlias = (
    Curve | Measurement | Comparison | Chart | HeatMap | Orbit | Memorization | BenchReport | Trained
)
Several: TypeAlias = (
    Mapping[str, Curve | Measurement]
    | list[Curve]
    | list[Measurement]
    | list[Curve | Measurement]
    | tuple[Curve | Measurement, ...]
)
"""Curves that share one pair of axes."""
Result: TypeAlias = (
    Measurement | Comparison | Reproduction | Memorization | BenchReport | AnyPrediction | Trained
)


def plot(
    result: Plottable | Several, ax: Axes | None = None, *, bits: bool = False, style: StyleName = "report"
) -> Axes:
    """Draw a result on one pair of axes and return them; `bits` shows information in bits instead of nats.

    A list of curves or measurements, or a dictionary of them by name, shares the axes. `style` is `report`, or `paper`:
    no title, short labels and a size of 3.4 x 2.4 inches. Without `ax` the axes are a new pyplot figure's, so that a
    notebook or `pyplot.show()` shows them.
    """
    _check_style(style)
    with drawing_style(style):
        axes = _new_axes(style) if ax is None else ax
        _draw(axes, result, bits, style)
        if style == "paper":
            axes.set_title("", loc="left")
    return axes


def _draw(ax: Axes, result: Plottable | Several, bits: bool, style: StyleName) -> None:
    match result:
        case Curve():
            curve_axes(ax, result, bits=bits, style=style)
        case Measurement():
            information_axes(ax, result, bits=bits, style=style)
        case Comparison():
            comparison_axes(ax, result, bits=bits, style=style)
        case Chart():
            chart_axes(ax, result)
        case HeatMap():
            heat_map_axes(ax, result)
        case Orbit():
            orbit_axes(ax, result)
        case Memorization():
            memorization_axes(ax, result)
        case BenchReport():
            benchmark_axes(ax, result)
        case TrainingRun():
            training_axes(ax, result)
        case Evaluation() if drawable(result):
            transfer_axes(ax, result)
        case Diagnosis():
            chart_axes(ax, gradient_drawing(result, result.gradients))
        case AgentRun() if has_learnt(result):
            chart_axes(ax, learning_drawing(result))
        case Mapping() | list() | tuple():
            curves_axes(ax, _named(result), bits=bits, style=style)
        case _:
            raise InputError(_refusal(result))


def _named(several: Several) -> dict[str, Curve | Measurement]:
    """Curves by name; those of a list are called by their data, or by their number where that is not known."""
    if isinstance(several, Mapping):
        named = {str(name): one for name, one in several.items()}
    else:
        names = [
            one.name if isinstance(one, Measurement) else f"curve {place}"
            for place, one in enumerate(several, start=1)
        ]
        twice = len(set(names)) < len(names)
        named = {
            f"{name} ({place})" if twice else name: one
            for place, (name, one) in enumerate(zip(names, several, strict=True), start=1)
        }
    wrong = next((one for one in named.values() if not isinstance(one, Curve | Measurement)), None)
    if not named or wrong is not None:
        raise InputError(
            f"cannot draw {'nothing' if wrong is None else f'a {type(wrong).__name__}'} among several curves; expected "
            "one or more of Curve and Measurement, such as plot({'novel': curve, 'letters': other})"
        )
    return named


def figures_of(result: Result, *, bits: bool = False, style: StyleName = "report") -> dict[str, Figure]:
    """Every figure of a result by its name, each a figure of its own that needs no closing.

    In the style `paper` each is one panel of 3.4 x 2.4 inches without a title.
    """
    _check_style(style)
    with drawing_style(style):
        figures = _drawn(result, bits) if style == "report" else _panels(result, bits)
        for figure in figures.values():
            settle(figure)
    return figures


def _panels(result: Result, bits: bool) -> dict[str, Figure]:
    """One panel for each drawing, for a column of a paper."""
    drawings: dict[str, Plottable]
    match result:
        case Measurement():
            drawings = {"information": result}
        case Comparison():
            drawings = {"comparison": result}
        case BenchReport():
            drawings = {"ratios": result}
        case Memorization():
            scores = {"scores": leads(result)} if len(result.alphabet) > 1 else {}
            drawings = {"orbit": result, **scores}
        case TrainingRun():
            drawings = {"training": result}
        case Evaluation():
            drawings = {"transfer": result} if drawable(result) else {}
        case Diagnosis():
            drawings = {drawing.name: drawing for drawing in diagnosis_drawings(result)}
        case AgentRun() | AgentEvaluation():
            drawings = {}
            if isinstance(result, AgentRun) and has_learnt(result):
                drawings["learning"] = learning_drawing(result)
            if result.episode is not None and result.episode.attention.size:
                drawings["attention"] = episode_drawing(result.episode)
        case Reproduction():
            stored = (*result.figures, *result.maps, *result.orbits)
            drawings = {drawing.name: drawing for drawing in stored}
        case Prediction():
            drawings = {drawing.name: drawing for drawing in (*result.figures, *result.maps)}
        case LinearPrediction() | AttentionPrediction():
            drawings = {chart.name: chart_in_bits(chart) if bits else chart for chart in result.figures}
    return {name: _panel(drawing, bits) for name, drawing in drawings.items()}


def _panel(drawing: Plottable, bits: bool) -> Figure:
    width, height = PAPER_SIZE
    if isinstance(drawing, BenchReport):  # two lines of words at every bar
        height = max(height, 0.7 + 0.3 * len(drawing.benchmarks))
    figure = new_figure(width, height)
    plot(drawing, figure.subplots(), bits=bits, style="paper")
    return figure


def _check_style(style: str) -> None:
    if style not in get_args(StyleName):
        raise InputError(f"there is no style {style!r}; use {' or '.join(get_args(StyleName))}")


def _drawn(result: Result, bits: bool) -> dict[str, Figure]:
    match result:
        case Measurement():
            residuals = {"residuals": residual_figure(result)} if has_residuals(result) else {}
            return {"information": information_figure(result, bits=bits), **residuals}
        case Comparison():
            return {"comparison": comparison_figure(result, bits=bits)}
        case BenchReport():
            # A calibration of chosen sources has no peers to compare with.
            return {"ratios": benchmark_figure(result)} if result.benchmarks or not result.calibration else {}
        case Memorization():
            return memorization_figures(result)
        case TrainingRun():
            return {"training": training_figure(result), **goal_figures(result)}
        case Evaluation():
            return {"transfer": transfer_figure(result)} if drawable(result) else {}
        case Diagnosis():
            return diagnosis_figures(result)
        case AgentRun() | AgentEvaluation():
            return agent_figures(result)
        case Reproduction():
            return _stored(result.id, result.figures, result.maps, result.orbits)
        case Prediction():
            return _stored(result.cell, result.figures, maps=result.maps)
        case LinearPrediction():
            charts = tuple(map(chart_in_bits, result.figures)) if bits else result.figures
            return _stored(result.cell, charts)
        case AttentionPrediction():
            return _stored(result.cell, result.figures)
    raise InputError(_refusal(result))


def _stored(
    owner: str, charts: tuple[Chart, ...], maps: tuple[HeatMap, ...] = (), orbits: tuple[Orbit, ...] = ()
) -> dict[str, Figure]:
    """Drawings that a result holds as plain data."""
    names = [drawing.name for drawing in (*charts, *maps, *orbits)]
    if len(set(names)) < len(names):
        raise ValueError(f"the figures of {owner} need different names, got {', '.join(names)}")
    return (
        {chart.name: chart_figure(chart) for chart in charts}
        | {map.name: heat_map_figure(map) for map in maps}
        | {orbit.name: orbit_figure(orbit) for orbit in orbits}
    )


def _new_axes(style: StyleName) -> Axes:
    from matplotlib import pyplot

    size = PAPER_SIZE if style == "paper" else (7.4, 5.0)
    return pyplot.subplots(figsize=size, layout="constrained")[1]


def _refusal(result: object) -> str:
    expected = (
        "a Curve, Measurement, Comparison, Memorization, BenchReport, TrainingRun, Evaluation with delays, Diagnosis, "
        "AgentRun in which episodes ended, Chart, HeatMap or Orbit, or several of Curve and Measurement"
    )
    advice = "plot the charts of a Reproduction or a prediction one by one: they are in its `figures`"
    return f"cannot draw a {type(result).__name__}; expected {expected}; {advice}"

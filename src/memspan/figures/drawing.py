"""`plot` and `figures_of`: which function draws which result."""

from __future__ import annotations

from typing import TypeAlias

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from memspan.errors import InputError
from memspan.figures.agent import agent_figures, has_learnt, learning_drawing
from memspan.figures.benchmark import benchmark_axes, benchmark_figure
from memspan.figures.chart import chart_axes, chart_figure, chart_in_bits
from memspan.figures.comparison import comparison_axes, comparison_figure
from memspan.figures.diagnosis import diagnosis_figures, gradient_drawing
from memspan.figures.heat_map import heat_map_axes, heat_map_figure
from memspan.figures.information import curve_axes, information_axes, information_figure
from memspan.figures.memorization import memorization_axes, memorization_figures
from memspan.figures.orbit import orbit_axes, orbit_figure
from memspan.figures.second_goal import goal_figures
from memspan.figures.style import settle, style
from memspan.figures.training import training_axes, training_figure
from memspan.figures.transfer import drawable, transfer_axes, transfer_figure
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
Result: TypeAlias = (
    Measurement | Comparison | Reproduction | Memorization | BenchReport | AnyPrediction | Trained
)


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
            case HeatMap():
                heat_map_axes(axes, result)
            case Orbit():
                orbit_axes(axes, result)
            case Memorization():
                memorization_axes(axes, result)
            case BenchReport():
                benchmark_axes(axes, result)
            case TrainingRun():
                training_axes(axes, result)
            case Evaluation() if drawable(result):
                transfer_axes(axes, result)
            case Diagnosis():
                chart_axes(axes, gradient_drawing(result, result.gradients))
            case AgentRun() if has_learnt(result):
                chart_axes(axes, learning_drawing(result))
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


def _new_axes() -> Axes:
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(7.4, 5.0), layout="constrained")[1]


def _refusal(result: object) -> str:
    expected = (
        "a Curve, Measurement, Comparison, Memorization, BenchReport, TrainingRun, Evaluation with delays, Diagnosis, "
        "AgentRun in which episodes ended, Chart, HeatMap or Orbit"
    )
    advice = "plot the charts of a Reproduction or a prediction one by one: they are in its `figures`"
    return f"cannot draw a {type(result).__name__}; expected {expected}; {advice}"

"""Charts of recipes, and the bars of benchmarks."""

import dataclasses

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from memspan.errors import InputError
from memspan.presentation import figures_of, plot
from memspan.presentation.draw.chart import chart_figure
from memspan.results import BenchReport, Chart, line


def test_a_chart_shows_its_lines_labels_and_scales(examples):
    chart = examples.chart()
    ax = plot(chart, Figure().subplots())
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert (ax.get_xlabel(), ax.get_ylabel()) == (chart.x_label, chart.y_label)
    assert ax.get_title(loc="left") == chart.title
    drawn = {line.get_label(): line for line in ax.get_lines()}
    exact = np.asarray(drawn["exact, Eq. 46"].get_ydata(), dtype=np.float64)
    np.testing.assert_allclose(exact, chart.lines[0].y)
    assert drawn["as printed"].get_linestyle() == "--"
    assert drawn["measured"].get_linestyle() == "None"


def test_a_band_that_reaches_zero_does_not_stretch_a_logarithmic_axis(examples):
    chart = examples.chart()
    ax = plot(chart, Figure().subplots())
    lowest = min(y[y > 0].min() for y in (entry.y for entry in chart.lines))
    assert lowest / 2 < ax.get_ylim()[0] < lowest


def test_a_band_on_linear_axes_has_the_given_limits(examples):
    x = np.arange(5.0)
    band = line("banded", x, x, band=(x - 2, x + 3))
    chart = dataclasses.replace(examples.chart(), x_scale="linear", y_scale="linear", lines=(band,))
    ax = plot(chart, Figure().subplots())
    vertices = np.asarray(ax.collections[0].get_paths()[0].vertices)
    assert (np.min(vertices[:, 1]), np.max(vertices[:, 1])) == (-2.0, 7.0)


@pytest.mark.parametrize("lines", [(), (line("empty", [], []),), (line("", [1, 2], [np.nan, -1.0]),)])
def test_a_chart_with_nothing_to_show_is_drawn_without_a_warning(examples, lines):
    reproduction = examples.reproduction()
    chart = dataclasses.replace(examples.chart(), lines=lines)
    figures_of(dataclasses.replace(reproduction, figures=(chart,)))["recovery"].draw_without_rendering()


def test_two_charts_of_one_name_are_refused(examples):
    reproduction = dataclasses.replace(examples.reproduction(), figures=(examples.chart(), examples.chart()))
    with pytest.raises(ValueError, match="different names"):
        figures_of(reproduction)


def test_bars_of_benchmarks_end_at_their_ratios(examples):
    report = examples.bench_report()
    ax = figures_of(report)["ratios"].axes[0]
    ends = [bar.get_x() + bar.get_width() for bar in ax.patches if isinstance(bar, Rectangle)]
    assert ends == pytest.approx([24.0, 0.5, 1430.0])
    assert [text.get_text() for text in ax.texts] == ["24 times", "0.50 times", "1,400 times"]


def test_a_run_without_benchmarks_and_a_missing_ratio_are_drawn(examples):
    failed = dataclasses.replace(examples.bench_report().benchmarks[0], ratio=float("nan"))
    ax = figures_of(BenchReport("machine", (failed,), 1.0))["ratios"].axes[0]
    assert [text.get_text() for text in ax.texts] == ["no ratio"]
    figures_of(BenchReport("machine", (), 1.0))["ratios"].draw_without_rendering()


def test_what_cannot_be_drawn_is_told(examples):
    with pytest.raises(InputError, match="cannot draw a Reproduction; expected a Curve"):
        plot(examples.reproduction(), Figure().subplots())
    with pytest.raises(InputError, match="cannot present a Claim; expected a result of memspan"):
        figures_of(examples.reproduction().claims[0])


def test_short_logarithmic_axes_and_whole_numbers_have_plain_ticks():
    lengths = line("xi", [1, 2, 3], [60.0, 110.0, 430.0])
    chart = Chart("c", "Lengths", "layers", "xi", "linear", "log", (lengths,), "What one sees. " * 8)
    figure = chart_figure(chart)
    figure.canvas.draw()
    (ax,) = figure.axes
    assert all(tick == round(tick) for tick in ax.get_xticks())
    shown = {label.get_text() for label in ax.get_yticklabels(which="both")} - {""}
    assert {"100", "200"} <= shown


def test_large_numbers_on_a_linear_axis_have_thousands_apart():
    rewards = line("reward", [0.0, 300_000.0, 600_000.0], [0.1, 0.5, 0.9])
    figure = chart_figure(Chart("c", "Rewards", "frames", "reward", "linear", "linear", (rewards,), "What one sees."))
    figure.canvas.draw()
    (ax,) = figure.axes
    assert "400,000" in {label.get_text() for label in ax.get_xticklabels()}


def widths(scale: str, *heights: list[float]) -> list[float]:
    """How broad lines at these heights are drawn."""
    lines = tuple(line(f"line {n}", np.arange(1.0, 4.0), values) for n, values in enumerate(heights))
    chart = Chart("chart", "title", "x", "y", "linear", scale, lines, "caption")  # type: ignore[arg-type]
    return [drawn.get_linewidth() for drawn in chart_figure(chart).axes[0].get_lines()]


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_a_line_under_another_is_broader_and_others_are_alike(scale):
    under, over, apart = widths(scale, [1.0, 1.0, 1.0], [1.0, 1.001, 1.0], [0.1, 0.2, 0.3])
    assert under > 2 * over
    assert over == apart


def test_small_values_are_told_apart_on_a_logarithmic_axis_only():
    values = ([1.0, 1.0, 1.0], [1e-3, 1e-3, 1e-3], [1e-5, 1e-5, 1e-5])
    _, second, third = widths("log", *values)
    assert second == third
    _, second, third = widths("linear", *values)
    assert second > third

"""Lines of a chart that would hide each other."""

from __future__ import annotations

import numpy as np
import pytest

from memspan.presentation.draw.chart import chart_figure
from memspan.results import Chart, line


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

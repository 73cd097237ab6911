"""Builders for charts and for the lines that most of them have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from memspan.results import Chart, Line, line

Log = Literal["", "x", "y", "xy"]
"""Axes with a logarithmic scale."""


def chart(
    name: str,
    title: str,
    x_label: str,
    y_label: str,
    lines: Iterable[Line],
    caption: str,
    *,
    log: Log = "",
    x_names: tuple[str, ...] = (),
) -> Chart:
    """A chart with linear axes, except those named by `log`."""
    x_scale, y_scale = ("log" if axis in log else "linear" for axis in "xy")
    return Chart(name, title, x_label, y_label, x_scale, y_scale, tuple(lines), caption, x_names)


def information_chart(
    name: str, title: str, unit: str, lines: Iterable[Line], caption: str, *, log: Log = "xy"
) -> Chart:
    """Mutual information over the lag; `unit` is that of the lag, such as symbols."""
    return chart(name, title, f"lag tau ({unit})", "mutual information (nats)", lines, caption, log=log)


def points(label: str, x: ArrayLike, y: ArrayLike, error: ArrayLike | None = None) -> Line:
    """Markers; with a band of two standard errors if `error` is given."""
    if error is None:
        return line(label, x, y, style="markers")
    y, error = np.asarray(y), np.asarray(error)
    return line(label, x, y, band=(y - 2 * error, y + 2 * error), style="markers")


def dashed(label: str, x: ArrayLike, y: ArrayLike) -> Line:
    """A dashed line, as for theory and references."""
    return line(label, x, y, style="dashed")

"""What networks wrote beside what they learnt: curves, and correlation lengths over width and depth."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from memspan.reproductions.shen2019.decay import Laws, thinned
from memspan.reproductions.shen2019.generated import Generated
from memspan.results import Chart, Curve, Line, line


def curve_lines(generated: Iterable[Generated], data: Curve, data_label: str) -> tuple[Line, ...]:
    """The corrected curve of every network, and that of the data."""
    curves = [(each.network.label, thinned(each.curve)) for each in generated]
    thin = thinned(data)
    return (
        *(line(label, curve.lags, _shown(curve)) for label, curve in curves),
        line(data_label, thin.lags, _shown(thin), style="markers"),
    )


def _shown(curve: Curve) -> NDArray[np.float64]:
    """Corrected values where they are significant; there is nothing to see below the floor."""
    return np.where(curve.significant & (curve.corrected > 0), curve.corrected, np.nan)


def length_line(label: str, laws: Mapping[int, Laws]) -> Line:
    """xi over the width or the depth, with its interval, where one was found."""
    found = {at: law for at, law in laws.items() if not math.isnan(law.length)}
    low, high = zip(*(law.interval for law in found.values()), strict=True) if found else ((), ())
    return line(label, list(found), [law.length for law in found.values()], band=(low, high), style="markers")


def data_line(laws: Laws, x: Iterable[int], label: str = "the same fit to the data") -> Line:
    """xi of the data as a level."""
    ends = list(x)
    return line(label, [min(ends), max(ends)], [laws.length] * 2, style="dashed")


def lengths_chart(by: str, title: str, lines: tuple[Line, ...]) -> Chart:
    """xi of several networks beside that of what they learnt, by `width` or `depth`."""
    return Chart(
        name=f"lengths-by-{by}",
        title=title,
        x_label="units of the one layer" if by == "width" else "layers",
        y_label="correlation length xi (symbols)",
        x_scale="log" if by == "width" else "linear",
        y_scale="log",
        lines=lines,
        caption="The correlation length of I_0 exp(-tau / xi), a straight line through the logarithms of what each network "
        "wrote above the paper's level, with its 95 % interval; where no bar is seen, it is smaller than the marker. "
        "Where the law is a power, xi is a rough description: that of the data is the dashed line.",
    )


def curves_chart(
    name: str, title: str, lines: tuple[Line, ...], caption: str, unit: str = "symbols"
) -> Chart:
    """I(tau) of several networks beside that of what they learnt."""
    return Chart(
        name=name,
        title=title,
        x_label=f"distance tau ({unit})",
        y_label="mutual information (nats)",
        x_scale="log",
        y_scale="log",
        lines=lines,
        caption=caption,
    )

"""Numbers in reports: those of the figures, and a few that only tables need."""

from __future__ import annotations

import math

from memspan.figures.numbers import UNKNOWN as UNKNOWN
from memspan.figures.numbers import count as count
from memspan.figures.numbers import number as number
from memspan.figures.numbers import probability as probability
from memspan.figures.numbers import remark_in as remark_in
from memspan.figures.numbers import trimmed as trimmed
from memspan.figures.numbers import unit_of as unit_of
from memspan.figures.numbers import with_error as with_error
from memspan.figures.numbers import with_interval as with_interval


def share(weight: float) -> str:
    """A share of one in percent.

    >>> share(0.97), share(3e-9), share(0.9999)
    ('97 %', 'under 0.1 %', 'over 99.9 %')
    """
    if math.isnan(weight):
        return UNKNOWN
    if weight > 0.999:
        return "over 99.9 %" if weight < 1 else "100 %"
    if weight < 0.001:
        return "under 0.1 %"
    return f"{trimmed(100 * weight, 2)} %"


def duration(seconds: float) -> str:
    """Seconds, minutes or hours, whichever reads best.

    >>> duration(0.42), duration(312.0), duration(9000)
    ('0.42 s', '5 min 12 s', '2 h 30 min')
    """
    if not math.isfinite(seconds):
        return UNKNOWN
    if seconds < 120:
        return f"{number(seconds, 2)} s"
    whole = round(seconds)
    if whole < 7200:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def lag_list(lags: tuple[int, ...], measured: tuple[int, ...]) -> str:
    """Lags in words, those that are neighbours among the measured ones joined.

    >>> lag_list((1, 2, 3, 10, 40), (1, 2, 3, 5, 10, 20, 40))
    '1 to 3, 10, 40'
    """
    place = {lag: position for position, lag in enumerate(measured)}
    runs: list[list[int]] = []
    for lag in lags:
        if runs and place.get(lag, -1) == place.get(runs[-1][-1], -3) + 1:
            runs[-1].append(lag)
        else:
            runs.append([lag])
    words = [f"{run[0]:,} to {run[-1]:,}" if len(run) > 1 else f"{run[0]:,}" for run in runs]
    return ", ".join(words[:5]) + (f" and {len(words) - 5} more" if len(words) > 5 else "")

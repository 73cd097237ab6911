"""Which value has which colour: the ends of a map's colour bar, its ticks and their words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, final

import numpy as np
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from memspan.figures.numbers import trimmed
from memspan.results import HeatMap

_DECADES = 3
"""A logarithmic scale shows this many powers of ten below its top: more would leave none to tell apart."""
_APART = 0.06
"""Share of the bar that two labels need between them."""


@final
@dataclass(frozen=True)
class ColourScale:
    """Values from `low` to `high` differ in colour; beyond an open end all share the end's colour."""

    low: float
    high: float
    open_ends: Literal["neither", "min", "max", "both"]
    ticks: tuple[float, ...]
    labels: tuple[str, ...]


def colour_scale(map: HeatMap) -> ColourScale:
    """The scale of a map: its `colours`; else its top is `highest` where a value lies above it, or the largest value."""
    logarithmic = map.value_scale == "log"
    low, high = map.colours or _range(map, logarithmic)
    below = bool(np.any(map.values < low))
    above = bool(np.any(map.values > high))
    places = _places(low, high, logarithmic)
    ends = [place for place, is_open in ((low, below), (high, above)) if is_open]
    ticks = _thinned(ends, places, low, high, logarithmic)
    words = {low: f"{trimmed(low)} or less"} if below else {}
    words |= {high: f"{trimmed(high)} or more"} if above else {}
    return ColourScale(
        low=low,
        high=high,
        open_ends=("both" if below else "max") if above else ("min" if below else "neither"),
        ticks=ticks,
        labels=tuple(words.get(tick, _plain(tick)) for tick in ticks),
    )


def _range(map: HeatMap, logarithmic: bool) -> tuple[float, float]:
    values = map.values[np.isfinite(map.values) & ((map.values > 0) | (not logarithmic))]
    largest = float(values.max()) if values.size else 1.0
    beyond = (
        np.isfinite(map.highest) and (map.highest > 0 or not logarithmic) and np.any(map.values > map.highest)
    )
    high = map.highest if beyond else largest
    low = min(float(values.min()) if values.size else high, high)
    if logarithmic:
        low = max(low, high / 10**_DECADES)
        return low if low < high else high / 10, high
    return low if low < high else high - 1, high


def _places(low: float, high: float, logarithmic: bool) -> list[float]:
    """Round values for ticks: powers of ten, or what suits a linear axis."""
    if logarithmic:
        first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
        return [10.0**power for power in range(first, last + 1)]
    found: NDArray[np.float64] = np.asarray(MaxNLocator(6).tick_values(low, high), dtype=np.float64)
    return [float(place) for place in found if low <= place <= high]


def _thinned(
    ends: list[float], places: list[float], low: float, high: float, logarithmic: bool
) -> tuple[float, ...]:
    """The open ends, and the round values that stand far enough from them."""

    def height(value: float) -> float:
        if logarithmic:
            return math.log(value / low) / math.log(high / low)
        return (value - low) / (high - low)

    free = [place for place in places if all(abs(height(place) - height(end)) > _APART for end in ends)]
    return tuple(sorted({*ends, *free} if len(free) + len(ends) > 1 else {low, high}))


def _plain(value: float) -> str:
    return "0" if abs(value) < 1e-12 else trimmed(value)

"""What the metrics of a run tell of its second goal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memspan.results import AuxiliaryObjective
from memspan.training.config import Config

AFTER = ("bmi.nearby", "bmi.reward")
"""What is told after the switch only."""


def second_goal(config: Config, lines: Sequence[dict[str, Any]]) -> AuxiliaryObjective | None:
    """None where the run has none."""
    told = [line for line in lines if "bmi.bound" in line]
    if config.bmi.name == "none" or not told:
        return None
    return AuxiliaryObjective(
        name=config.bmi.name,
        pairs=config.bmi.pairs,
        logged=np.array([line["update"] for line in told], dtype=np.int64),
        bound=_column(told, "bmi.bound"),
        accuracy=_column(told, "bmi.accuracy"),
        effective=_column(told, "bmi.effective"),
        switched=_switched(config, told, lines),
    )


def _column(lines: Sequence[dict[str, Any]], name: str) -> NDArray[np.float64]:
    values = [line.get(name) for line in lines]
    return np.array([math.nan if value is None else value for value in values])


def _switched(config: Config, told: Sequence[dict[str, Any]], lines: Sequence[dict[str, Any]]) -> int | None:
    """The last update before the first line of what comes after it: the one that was set, or that of a validation."""
    first = next((line["update"] for line in told if any(name in line for name in AFTER)), None)
    if first is None:
        return None
    set_at = config.bmi.switch_at
    before = [line["update"] for line in lines if "validation" in line and line["update"] < first]
    places = before if set_at is None else [set_at] if set_at < first else []
    begun = config.init.name == "run" and first == told[0]["update"]  # it may have been made before
    return max(places) if places and not begun else 0

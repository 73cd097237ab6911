"""Limits of a run that is gone on with."""

from __future__ import annotations

import math
from dataclasses import replace

from memspan.training.config import Config, TrainingConfig
from memspan.training.position import Position
from memspan.training.stopping import why_over

GOOD_ENOUGH = ("stop_accuracy", "patience")
TIME = ("max_minutes",)


def with_limits(config: Config, updates: int | None, max_minutes: float | None) -> Config:
    """The same with other limits, where they are given."""
    training = config.training
    return replace(
        config,
        training=replace(
            training,
            updates=training.updates if updates is None else updates,
            max_minutes=training.max_minutes if max_minutes is None else max_minutes,
        ),
    )


def raised(before: TrainingConfig, after: TrainingConfig) -> bool:
    """Whether somebody wants more of a run than before."""
    old, new = (math.inf if one.max_minutes is None else one.max_minutes for one in (before, after))
    return after.updates > before.updates or new > old


def lifted(
    config: Config, position: Position, seconds: float, limits: tuple[str, ...]
) -> tuple[Config, str | None]:
    """Where a run has ended because of these limits: without them, and why it had ended."""
    free = replace(config.training, **dict.fromkeys(limits))
    why = why_over(config.training, position, seconds)
    if why is None or why_over(free, position, seconds) is not None:
        return config, None
    return replace(config, training=free), why

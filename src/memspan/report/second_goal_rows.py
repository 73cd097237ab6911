"""How the second goal of a training went, each quantity with its value and what it means."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memspan.figures.training_words import percent
from memspan.report.numbers import number
from memspan.report.section import Row
from memspan.results import AuxiliaryObjective

LAST = 0.25
"""The share of what was written down that is averaged, at the end: one update has too few pairs."""


def goal_rows(goal: AuxiliaryObjective) -> tuple[Row, ...]:
    """The bound and who tells it, then what came after the switch."""
    rows: list[Row] = [
        (
            "neighbours tell",
            f"{number(_late(goal.bound))} nats of each other",
            f"The second goal ({goal.name}): a lower bound by the discriminator, of pairs that it learns from; the mean of "
            "the last quarter of the updates.",
        ),
        (
            "pairs told right",
            percent(_late(goal.accuracy)),
            "By the discriminator: segments that follow each other against any two; half of them by chance.",
        ),
    ]
    if goal.name == "full":
        rows.append(("switch", _switch(goal.switched), "From when on segments nearby are learnt, too."))
    if np.isfinite(goal.effective).any():
        rows.append(
            (
                "weights that count",
                f"{number(_late(goal.effective[np.isfinite(goal.effective)]), 2)} of {goal.pairs}",
                "The effective number of segments nearby at every update: 1 / the sum of squared weights.",
            )
        )
    return tuple(rows)


def _switch(update: int | None) -> str:
    if update is None:
        return "never came"
    return f"after update {update:,}" if update else "made before the first update"


def _late(values: NDArray[np.float64]) -> float:
    """The mean of the last quarter."""
    return float(np.mean(values[-max(1, round(LAST * values.size)) :]))

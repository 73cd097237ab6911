"""How far gradients reach back after training: measured in runs, told as one number, drawn."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memspan.results import Chart, GradientNorms, line

if TYPE_CHECKING:
    from memspan.diagnostics.gradients import Loss

LEAST = 1e-300
"""What is drawn and counted instead of a norm of 0."""


def norms_after(
    runs: Path,
    names: Iterable[str],
    *,
    sequences: int,
    seed: int,
    loss: Loss = "recalled",
    double: bool = True,
) -> dict[str, GradientNorms]:
    """Of the best weights of every run below `runs`, on its own task."""
    from memspan.diagnostics.gradients import gradient_norms
    from memspan.training.best import load_best

    found = {}
    for name in names:
        best = load_best(runs / name)
        found[name] = gradient_norms(
            best.around_cell(), best.task, sequences=sequences, loss=loss, seed=seed, double=double
        )
    return found


def unevenness(norms: NDArray[np.float64]) -> float:
    """How many times the largest norm is the smallest; at most 1e300."""
    return min(float(norms.max()) / max(float(norms.min()), LEAST), 1 / LEAST)


def norms_chart(name: str, title: str, norms: dict[str, NDArray[np.float64]], caption: str) -> Chart:
    """Norms against the distance from the last step, a line for every label."""
    return Chart(
        name=name,
        title=title,
        x_label="steps before the last",
        y_label="norm of the loss's gradient at h_t",
        x_scale="linear",
        y_scale="log",
        lines=tuple(line(label, np.arange(len(of)), np.maximum(of, LEAST)) for label, of in norms.items()),
        caption=caption,
    )

"""Kerg 2020, Fig. 3: gradients after training with other sizes of the relevant set and of the short-term buffer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np

from memspan.errors import check_models
from memspan.progress import Progress
from memspan.reproductions.kerg2020.gradient_charts import norms_after, norms_chart, unevenness
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, GradientNorms, TrainingRun

SWEEPS = {"relevant": ("rho", "nu"), "short_term": ("nu", "rho")}
"""What is varied, how the paper calls it, and what is fixed."""
WORSE = 2.0
"""How many times less even a gradient is that is clearly less even."""


@final
@dataclass(frozen=True)
class _Size:
    delay: int
    hidden: int
    updates: int
    fixed: int
    values: tuple[int, ...]
    sequences: int


_SIZES = {
    "smoke": _Size(5, 8, 4, 3, (1, 3), 2),
    "laptop": _Size(100, 128, 10_000, 15, (3, 8, 18, 25), 1_000),
    "paper": _Size(1_000, 128, 200_000, 15, (3, 8, 18, 25), 1_000),
}


def run(scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    check_models("relevance-fig3")
    from memspan.reproductions.trainings import recall_config, train_all

    size = _SIZES[scale]
    configs = {
        f"{varied}-{value}": recall_config(
            "denoise",
            "rel-lstm",
            seed,
            delay=size.delay,
            hidden=size.hidden,
            updates=size.updates,
            options={"relevant": size.fixed, "short_term": size.fixed, varied: value},
        )
        for varied in SWEEPS
        for value in size.values
    }
    trained = train_all(configs, runs, progress, workers=1 if scale == "smoke" else None)
    norms = norms_after(runs, trained, sequences=size.sequences, seed=seed, loss="changed")
    charts = tuple(_chart(size, varied, norms, trained) for varied in SWEEPS)
    return Outcome(_claims(size, norms), charts, (_NOTE,))


def _claims(size: _Size, norms: dict[str, GradientNorms]) -> tuple[Claim, ...]:
    few, *more = (unevenness(norms[f"relevant-{value}"].rms) for value in size.values)
    ratio = few / max(more)
    spreads = {
        varied: np.log([unevenness(norms[f"{varied}-{value}"].rms) for value in size.values])
        for varied in SWEEPS
    }
    less = float(np.ptp(spreads["relevant"]) - np.ptp(spreads["short_term"]))
    return (
        Claim(
            f"With rho = {size.values[0]} gradients are less even than with any larger relevant set. (Measured: how many "
            f"times less; clear means {WORSE:g}.)",
            None,
            None,
            ratio,
            None,
            ratio >= WORSE,
        ),
        Claim(
            "The size nu of the short-term buffer has less leverage on gradients than rho. (Measured: by how much the range "
            "of the logarithm of unevenness is larger when rho is varied.)",
            None,
            None,
            less,
            None,
            less > 0,
        ),
    )


def _chart(
    size: _Size, varied: str, norms: dict[str, GradientNorms], trained: dict[str, TrainingRun]
) -> Chart:
    name, fixed = SWEEPS[varied]
    labelled = {
        f"{name} = {value} ({trained[f'{varied}-{value}'].accuracy or 0.0:.0%} right)": norms[
            f"{varied}-{value}"
        ].rms
        for value in size.values
    }
    return norms_chart(
        f"{varied.replace('_', '-')}-swept",
        f"Gradients after training, {name} varied",
        labelled,
        f"RelLSTM of {size.hidden} units after {size.updates:,} updates of denoise, T = {size.delay}, {fixed} = "
        f"{size.fixed}: the norm of the total gradient at h_t of the loss of the ten recalled answers if each ought to be "
        f"another symbol, of {size.sequences:,} test sequences as one batch.",
    )


_NOTE = (
    "The paper's caption speaks of MemLSTM; only RelLSTM has rho and nu, so that is what is trained here. Networks that "
    "recall more have less of a loss left, and fewer sequences with a gradient; where other answers are wanted than the "
    "right ones, as here, each has one, and how far gradients reach can be compared."
)

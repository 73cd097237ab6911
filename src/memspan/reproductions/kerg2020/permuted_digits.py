"""Kerg 2020, Table 3, right: digits pixel by pixel in a fixed disorder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np

from memspan.errors import check_models
from memspan.progress import Progress
from memspan.reproductions.kerg2020.published import NAMES, PERMUTED_DIGITS
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, TrainingRun, line


@final
@dataclass(frozen=True)
class _Size:
    data: str
    steps: int
    hidden: int
    updates: dict[str, int]


_SIZES = {
    "smoke": _Size("digits", 16, 8, {"rel-rnn": 5, "lstm": 5}),
    "laptop": _Size("mnist", 49, 100, dict.fromkeys(PERMUTED_DIGITS, 1_000)),
    "paper": _Size("mnist", 784, 100, dict.fromkeys(PERMUTED_DIGITS, 100_000)),
}


def run(scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    check_models("relevance-table3-pmnist")
    from memspan.reproductions.trainings import train_all, training_config

    size = _SIZES[scale]
    configs = {
        cell: training_config(
            "permuted-digits",
            cell,
            seed,
            {
                "task": {"data": size.data, "steps": size.steps},
                "cell": {"hidden": size.hidden},
                "training": {
                    "updates": updates,
                    "validate_every": min(100, updates),
                    "validation_batches": 10,
                },
            },
        )
        for cell, updates in size.updates.items()
    }
    trained = train_all(configs, runs, progress, workers=1 if scale == "smoke" else None)
    printed = [_as_printed(cell, run) for cell, run in trained.items()]
    return Outcome((*_ranks(trained), *printed), (_chart(size, trained),), (_NOTE,))


def _as_printed(cell: str, run: TrainingRun) -> Claim:
    paper, measured = PERMUTED_DIGITS[cell] / 100, run.accuracy or 0.0
    return Claim(
        f"{NAMES[cell]} after {run.updates:,} updates: the test accuracy is as printed, within 0.02, or better.",
        paper,
        None,
        measured,
        0.02,
        measured >= paper - 0.02,
    )


def _ranks(trained: dict[str, TrainingRun]) -> list[Claim]:
    """The paper's own comparison: relevancy screening costs little where dependencies are dense."""
    pairs = [pair for pair in (("rel-lstm", "lstm"), ("rel-rnn", "rnn")) if set(pair) <= set(trained)]
    claims = []
    for with_memory, without in pairs:
        gain = (trained[with_memory].accuracy or 0.0) - (trained[without].accuracy or 0.0)
        paper = (PERMUTED_DIGITS[with_memory] - PERMUTED_DIGITS[without]) / 100
        claims.append(
            Claim(
                f"{NAMES[with_memory]} is at least as accurate as {NAMES[without]}. (Measured: by how much.)",
                paper,
                None,
                gain,
                None,
                gain >= 0,
            )
        )
    return claims


def _chart(size: _Size, trained: dict[str, TrainingRun]) -> Chart:
    return Chart(
        name="permuted-digits",
        title="Digits in a fixed disorder: validation accuracy as it is learnt",
        x_label="updates",
        y_label="validation accuracy",
        x_scale="linear",
        y_scale="linear",
        lines=tuple(
            line(NAMES[cell], run.validated, np.nan_to_num(run.validation_accuracy))
            for cell, run in trained.items()
        ),
        caption=f"{size.hidden} units, images read in {size.steps} steps in one disorder for all, batches of 100 with the "
        "default settings of `memspan train permuted-digits`.",
    )


_NOTE = (
    "At laptop scale sixteen pixels are read at each of 49 steps, for two passes through the images; the sources read one "
    "at each of 784 steps, for 200 passes. The published program of the RNNs also chose the epoch with the largest "
    "validation loss."
)

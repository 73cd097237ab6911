"""Kerg 2020, Table 3, left: the Penn Treebank character by character."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from memspan.errors import check_models
from memspan.experiments.recipe import Outcome, Trained
from memspan.experiments.relevance_published import NAMES, PENN_TREEBANK
from memspan.progress import Progress
from memspan.results import Chart, Claim, TrainingRun, line

BITS = 1 / math.log(2)
"""In a nat."""


@final
@dataclass(frozen=True)
class _Size:
    task: dict[str, Any]
    cells: tuple[str, ...]
    hidden: int
    embedding: int
    training: dict[str, Any]


_SIZES = {
    "smoke": _Size(
        {"data": "python", "steps": 8},
        ("rel-rnn", "rnn"),
        8,
        4,
        {"updates": 5, "batch": 4, "validate_every": 5, "validation_batches": 1},
    ),
    "laptop": _Size(
        {"data": "ptb", "steps": 50},
        tuple(PENN_TREEBANK),
        128,
        32,
        {"updates": 1_000, "batch": 32, "validate_every": 500, "validation_batches": 50},
    ),
    "paper": _Size(
        {"data": "ptb", "steps": 150},
        tuple(PENN_TREEBANK),
        1_024,
        200,
        {"updates": 100 * 261, "batch": 128, "validate_every": 261},
    ),
}


def _train(scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    check_models("relevance-table3-ptb")
    from memspan.experiments.trainings import configured, train_all

    size = _SIZES[scale]
    settings = {
        "task": size.task,
        "cell": {"hidden": size.hidden},
        "model": {"embedding": size.embedding},
        "training": size.training,
    }
    configs = {cell: configured("characters", cell, seed, settings) for cell in size.cells}
    trained = train_all(configs, runs, progress, workers=1 if scale == "smoke" else None)
    claims = [*_ranks(trained), *(_as_printed(cell, run) for cell, run in trained.items())]
    return Outcome(tuple(claims), (_chart(size, trained),), (_NOTE,))


def _as_printed(cell: str, run: TrainingRun) -> Claim:
    paper, measured = PENN_TREEBANK[cell], run.loss * BITS
    return Claim(
        f"{NAMES[cell]} after {run.updates:,} updates: the bits per character of the test set are as printed, within 0.05, "
        "or fewer.",
        paper,
        None,
        measured,
        0.05,
        measured <= paper + 0.05,
    )


def _ranks(trained: dict[str, TrainingRun]) -> list[Claim]:
    """The paper's own comparison: relevancy screening does not cost where dependencies are dense."""
    pairs = [pair for pair in (("rel-lstm", "lstm"), ("rel-rnn", "rnn")) if set(pair) <= set(trained)]
    claims = []
    for with_memory, without in pairs:
        gain = (trained[without].loss - trained[with_memory].loss) * BITS
        claims.append(
            Claim(
                f"{NAMES[with_memory]} needs no more bits per character than {NAMES[without]}, within 0.01. (Measured: how "
                "many fewer.)",
                PENN_TREEBANK[without] - PENN_TREEBANK[with_memory],
                None,
                gain,
                None,
                gain >= -0.01,
            )
        )
    return claims


def _chart(size: _Size, trained: dict[str, TrainingRun]) -> Chart:
    return Chart(
        name="bits-per-character",
        title="The Penn Treebank character by character, as it is learnt",
        x_label="updates",
        y_label="bits per character on validation",
        x_scale="linear",
        y_scale="linear",
        lines=tuple(
            line(NAMES[cell], run.validated, np.array(run.validation_loss) * BITS)
            for cell, run in trained.items()
        ),
        caption=f"{size.hidden} units each, the default settings of `memspan train characters`, gradients through "
        f"{size.task['steps']} characters. Lower is better; a text's last characters tell most of the next one.",
    )


_NOTE = (
    "The sources have 1,024 units, 100 passes through the text, gradients through 150 characters and a rate for each cell; "
    "here all cells have the settings of `memspan train characters`, and at laptop scale a few minutes each. Cells whose "
    "state grows with what they read (SAB) begin every window from nothing."
)

RELEVANCE_TABLE3_PTB = Trained(
    id="relevance-table3-ptb",
    title="The Penn Treebank character by character",
    source="Kerg 2020, section 5.2, Table 3",
    scales={
        "smoke": "2 cells of 8 units on Python's own source: some seconds",
        "laptop": "7 cells of 128 units, 1,000 updates each: about 20 minutes",
        "paper": "7 cells of 1,024 units, 100 passes: weeks",
    },
    train=_train,
)

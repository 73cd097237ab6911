"""Kerg 2020, Table 3, left: the Penn Treebank character by character."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from memspan.errors import check_models
from memspan.progress import Progress
from memspan.reproductions.kerg2020.published import (
    NAMES,
    PENN_TREEBANK,
    PENN_TREEBANK_MEMORY,
    PENN_TREEBANK_RATES,
)
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, TrainingRun, line

if TYPE_CHECKING:
    from memspan.training import Config

BITS = 1 / math.log(2)
"""In a nat."""
PUBLISHED_UNITS = 1_024
PASS = 261
"""Updates of 128 windows of 150 characters that go through the text once."""
AS_GOOD = 0.01
"""Bits per character that make no difference."""
BETTER = (
    *(("orthogonal-rnn", "rnn"), ("exp-rnn", "orthogonal-rnn"), ("rel-rnn", "rnn")),
    *(("rel-rnn", "exp-rnn"), ("lstm", "rel-rnn")),
)
"""Pairs whose first was printed with fewer bits than the second, by 0.03 or more."""
ALIKE = 2e-3
"""The rate of every cell where none has its own: that of `memspan train characters`."""
_RATES = {
    **PENN_TREEBANK_RATES,
    "rnn": PENN_TREEBANK_RATES["orthogonal-rnn"],
    **dict.fromkeys(("sab-lstm", "rel-lstm"), PENN_TREEBANK_RATES["lstm"]),
}
"""Table 9 leaves out RNN, which has that of the orth-RNN here, and SAB and RelLSTM, which have the LSTM's."""


@final
@dataclass(frozen=True)
class _Size:
    task: dict[str, Any]
    cells: tuple[str, ...]
    hidden: int
    embedding: int
    training: dict[str, Any]
    published: bool = False
    """Whether every cell has the rate and the memory of Table 9"""


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
        {"updates": 8_000, "batch": 32, "validate_every": 1_000, "validation_size": 50},
    ),
    "paper": _Size(
        {"data": "ptb", "steps": 150},
        tuple(PENN_TREEBANK),
        PUBLISHED_UNITS,
        200,
        {"updates": 100 * PASS, "batch": 128, "validate_every": PASS, "schedule": "constant"},
        published=True,
    ),
}


def _configs(scale: str, seed: int) -> dict[str, Config]:
    """By cell."""
    from memspan.reproductions.trainings import WHOLE, training_config

    size = _SIZES[scale]
    settings = {
        "task": size.task,
        "cell": {"hidden": size.hidden},
        "model": {"embedding": size.embedding},
        "training": {"learning_rate": ALIKE, **WHOLE, **size.training},
    }
    return {
        cell: training_config("characters", cell, seed, settings, _own(cell, size.published))
        for cell in size.cells
    }


def _own(cell: str, published: bool) -> dict[str, Any]:
    """What one cell has for itself. An RNN that began orthogonally, as by default with characters, were an orth-RNN."""
    settings: dict[str, Any] = {"init": {"name": "default"}} if cell == "rnn" else {}
    if published:
        settings["training"] = {"learning_rate": _RATES[cell]}
    if published and cell in ("rel-rnn", "rel-lstm"):
        settings["cell"] = PENN_TREEBANK_MEMORY
    return settings


def run(scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    check_models("relevance-table3-ptb")
    from memspan.reproductions.trainings import train_all

    size = _SIZES[scale]
    trained = train_all(_configs(scale, seed), runs, progress, workers=1 if scale == "smoke" else None)
    full = size.hidden == PUBLISHED_UNITS
    printed = [_as_printed(cell, run) for cell, run in trained.items()] if full else []
    notes = (*(_note(cell, run) for cell, run in trained.items()), _NOTES[size.published])
    return Outcome((*_ranks(trained), *printed), (_chart(size, trained),), notes)


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
    """The order of the table; and the paper's own point, that screening does not cost where dependencies are dense."""
    claims = [
        _fewer(f"{NAMES[one]} needs fewer bits per character than {NAMES[other]}.", one, other, 0.0, trained)
        for one, other in BETTER
        if {one, other} <= set(trained)
    ]
    if {"rel-lstm", "lstm"} <= set(trained):
        said = f"RelLSTM needs no more bits per character than LSTM, within {AS_GOOD:g}."
        claims.append(_fewer(said, "rel-lstm", "lstm", -AS_GOOD, trained))
    return claims


def _fewer(said: str, one: str, other: str, least: float, trained: dict[str, TrainingRun]) -> Claim:
    gain = (trained[other].loss - trained[one].loss) * BITS
    printed = round(PENN_TREEBANK[other] - PENN_TREEBANK[one], 2)
    return Claim(f"{said} (Measured: how many fewer.)", printed, None, gain, None, gain > least)


def _note(cell: str, run: TrainingRun) -> str:
    return (
        f"{NAMES[cell]}, {run.parameter_count:,} parameters: {run.loss * BITS:.3f} bits per character on test after "
        f"{run.updates:,} updates (printed, of {PUBLISHED_UNITS:,} units: {PENN_TREEBANK[cell]:.2f})."
    )


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
        caption=f"{size.hidden:,} units each, gradients through {size.task['steps']} characters. Lower is better; "
        "a text's last characters tell most of the next one.",
    )


_MEMORY = "Cells whose state grows with what they read (SAB) begin every window from nothing."
_NOTES = {
    False: "The sources have 1,024 units, 100 passes through the text, gradients through 150 characters and a rate for each "
    "cell, so that only the order of the cells can be compared; here all have the settings of `memspan train characters`, "
    f"but the RNN begins with the weights of PyTorch's and learns as fast as the others. {_MEMORY}",
    True: "Rates, nu and rho are those of Table 9, with Adam, and the rates do not fall. The table has none for RNN, which "
    "has that of the orth-RNN, and for SAB and RelLSTM, which have that of the LSTM; RelLSTM has the memory of RelRNN. Its "
    f"orth-RNN and expRNN are of tanh, ours of modrelu. {_MEMORY}",
}
"""By whether cells have the settings of Table 9."""

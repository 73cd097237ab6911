"""Kerg 2020, Table 3, left: the Penn Treebank character by character."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from memspan.errors import check_models
from memspan.progress import Progress
from memspan.reproductions.charts import chart
from memspan.reproductions.claims import claim
from memspan.reproductions.kerg2020.published import NAMES, PENN_TREEBANK
from memspan.reproductions.recipe import Outcome
from memspan.results import Claim, TrainingRun, line

if TYPE_CHECKING:
    from memspan.training import Config

# Bits per nat.
BITS = 1 / math.log(2)
PUBLISHED_UNITS = 1_024
# Bits per character by which a cell may exceed the printed number.
TOLERANCE = 0.05
# Bits per character that make no difference.
EQUAL = 0.01
# Pairs of cells whose first was printed with at least 0.03 bits less than the second.
BETTER = (
    ("orthogonal-rnn", "rnn"),
    ("exp-rnn", "orthogonal-rnn"),
    ("rel-rnn", "rnn"),
    ("rel-rnn", "exp-rnn"),
    ("lstm", "rel-rnn"),
)
# Learning rate of `memspan train characters`, for all cells where they do not have the published ones.
RATE = 2e-3
# Cells that Table 9 omits, and those whose learning rate they have here.
OMITTED = {"rnn": "orthogonal-rnn", "sab-lstm": "lstm", "rel-lstm": "lstm"}


def run(
    *,
    seed: int,
    progress: Progress,
    runs: Path,
    task: dict[str, Any],
    cells: tuple[str, ...],
    hidden: int,
    embedding: int,
    training: dict[str, Any],
    published_settings: bool,
    workers: int | None,
) -> Outcome:
    """Train every cell and compare their bits per character on the test text."""
    check_models("relevance-table3-ptb")
    from memspan.reproductions.trainings import train_all

    settings = configs(seed, task, cells, hidden, embedding, training, published_settings)
    trained = train_all(settings, runs, progress, workers=workers)
    full_size = hidden == PUBLISHED_UNITS
    printed = [printed_claim(cell, run) for cell, run in trained.items()] if full_size else []
    curves = chart(
        "bits-per-character",
        "The Penn Treebank character by character: validation loss during training",
        "updates",
        "bits per character on validation",
        [line(NAMES[cell], run.validated, np.array(run.validation_loss) * BITS) for cell, run in trained.items()],
        f"{hidden:,} units each, truncated backpropagation through {task['steps']} characters. Lower is better; most "
        "of the information about the next character is in the last few.",
    )
    notes = (*(_note(cell, run) for cell, run in trained.items()), _NOTES[published_settings])
    return Outcome((*order_claims(trained), *printed), (curves,), notes)


def configs(
    seed: int,
    task: dict[str, Any],
    cells: tuple[str, ...],
    hidden: int,
    embedding: int,
    training: dict[str, Any],
    published_settings: bool,
) -> dict[str, Config]:
    """Configurations by cell, with the learning rate and the memory of Table 9 if `published_settings`."""
    from memspan.reproductions.trainings import WHOLE, training_config

    settings = {
        "task": task,
        "cell": {"hidden": hidden},
        "model": {"embedding": embedding},
        "training": {"learning_rate": RATE, **WHOLE, **training},
    }
    return {
        cell: training_config("characters", cell, seed, settings, _cell_settings(cell, published_settings))
        for cell in cells
    }


def _cell_settings(cell: str, published_settings: bool) -> dict[str, Any]:
    from memspan.training.supervised.presets import preset_settings

    # By default an RNN on characters is initialized orthogonally, which would make it an orth-RNN.
    settings: dict[str, Any] = {"init": {"name": "default"}} if cell == "rnn" else {}
    if published_settings:
        row = preset_settings("kerg2020", "characters", OMITTED.get(cell, cell))
        settings["training"] = {"learning_rate": row["training"]["learning_rate"]}
    if published_settings and cell in ("rel-rnn", "rel-lstm"):
        memory = preset_settings("kerg2020", "characters", "rel-rnn")["cell"]
        settings["cell"] = {name: memory[name] for name in ("short_term", "relevant")}
    return settings


def printed_claim(cell: str, run: TrainingRun) -> Claim:
    """Claim about the printed bits per character."""
    paper, measured = PENN_TREEBANK[cell], run.loss * BITS
    return claim(
        f"{NAMES[cell]} after {run.updates:,} updates: the bits per character of the test set are as printed, within "
        f"{TOLERANCE:g}, or fewer."
    ).holds_if(measured, measured <= paper + TOLERANCE, paper=paper, tolerance=TOLERANCE)


def order_claims(trained: dict[str, TrainingRun]) -> list[Claim]:
    """The order of the table, and the paper's own point: screening does not cost where dependencies are dense."""
    texts = {(one, other): f"{NAMES[one]} needs fewer bits per character than {NAMES[other]}." for one, other in BETTER}
    texts["rel-lstm", "lstm"] = f"RelLSTM needs no more bits per character than LSTM, within {EQUAL:g}."
    return [
        claim(text, measure="how many fewer").above(
            (trained[other].loss - trained[one].loss) * BITS,
            0.0 if (one, other) in BETTER else -EQUAL,
            paper=round(PENN_TREEBANK[other] - PENN_TREEBANK[one], 2),
        )
        for (one, other), text in texts.items()
        if {one, other} <= set(trained)
    ]


def _note(cell: str, run: TrainingRun) -> str:
    return (
        f"{NAMES[cell]}, {run.parameter_count:,} parameters: {run.loss * BITS:.3f} bits per character on test after "
        f"{run.updates:,} updates (printed, with {PUBLISHED_UNITS:,} units: {PENN_TREEBANK[cell]:.2f})."
    )


_STATE_NOTE = "Cells whose state grows with their input (SAB) start every window from a zero state."
# By whether cells have the settings of Table 9.
_NOTES = {
    False: "The papers use 1,024 units, 100 epochs, truncated backpropagation through 150 characters and a learning rate "
    "for each cell, so only the order of the cells can be compared. Here all have the settings of `memspan train "
    f"characters`, but the RNN has the initialization of PyTorch and the learning rate of the others. {_STATE_NOTE}",
    True: "Learning rates, nu and rho are those of Table 9, with Adam and constant rates. The table has none for RNN, which "
    "has that of orth-RNN, and for SAB and RelLSTM, which have that of LSTM. RelLSTM has the memory of RelRNN. The "
    f"paper's orth-RNN and expRNN use tanh, ours modReLU. {_STATE_NOTE}",
}

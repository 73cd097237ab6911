"""Chen, Pennington and Schoenholz 2018, Table 1: words of the Penn Treebank, by networks of one layer and equal size."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from memspan.errors import check_models
from memspan.progress import Progress
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, TrainingRun, line

if TYPE_CHECKING:
    from memspan.training import Config

NAMES = {"minimal-rnn": "Minimal RNN", "gru": "GRU", "lstm": "LSTM"}
PRINTED = {
    5: {"minimal-rnn": 101.4, "gru": 99.5, "lstm": 95.4},
    20: {"minimal-rnn": 89.9, "gru": 89.8, "lstm": 83.8},
}
"""Perplexity on the test set, by millions of parameters."""
WIDTHS = {
    5: {"lstm": 228, "gru": 233, "minimal-rnn": 240},
    20: {"lstm": 765, "gru": 805, "minimal-rnn": 882},
}
"""Units, and as many numbers for a word, that make so many millions of parameters with 10,000 words."""
CLOSE = 1.05
"""Perplexities whose ratio is below this are comparable."""


@final
@dataclass(frozen=True)
class _Size:
    task: dict[str, Any]
    widths: dict[int, dict[str, int]]
    dropout: float
    training: dict[str, Any]


STEPS = 35
"""Words over which gradients go back."""
_PTB = {"data": "ptb", "most": 10_000, "steps": STEPS}
_ZAREMBA = {
    "optimizer": "sgd",
    "learning_rate": 1.0 * STEPS,
    "schedule": "stairs",
    "updates": 39 * 1_327,
    "hold": 6 * 1_327,
    "stair": 1_327,
    "anneal": 0.8,
    "clip_norm": 5.0 / STEPS,
    "validate_every": 1_327,
}
"""Zaremba 2014, the medium network: a pass through the text is 1,327 updates of 20 times 35 words.

Its rate of 1 and its largest norm of 5 are for a loss that is summed over the 35 steps of a window. Here the loss is their
mean, whose gradient is 35 times smaller: the same updates need 35 times the rate and a 35th of the norm.
"""

_SIZES = {
    "smoke": _Size(
        {"data": "python", "steps": 8, "most": 50},
        {5: dict.fromkeys(NAMES, 4)},
        0.0,
        {"updates": 4, "batch": 4, "validate_every": 4, "validation_batches": 1},
    ),
    "laptop": _Size(_PTB, {5: WIDTHS[5]}, 0.2, {"updates": 6_000, "validate_every": 500}),
    "paper": _Size({**_PTB, "restart": 0.0}, WIDTHS, 0.5, _ZAREMBA),
}


def _configs(scale: str, seed: int) -> dict[str, Config]:
    """By cell and millions of parameters."""
    from memspan.reproductions.trainings import training_config

    size = _SIZES[scale]
    settings = {"task": size.task, "training": size.training}
    return {
        f"{cell}-{millions}m": training_config(
            "words",
            cell,
            seed,
            settings,
            {"cell": {"hidden": width}, "model": {"embedding": width, "dropout": size.dropout}},
        )
        for millions, widths in size.widths.items()
        for cell, width in widths.items()
    }


def run(scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    check_models("meanfield-table1")
    from memspan.reproductions.trainings import train_all

    size = _SIZES[scale]
    trained = train_all(_configs(scale, seed), runs, progress, workers=1 if scale == "smoke" else None)
    claims: list[Claim] = []
    for millions in size.widths:
        found = {cell: trained[f"{cell}-{millions}m"] for cell in NAMES}
        claims += [*(_printed(millions, found) if size.task["data"] == "ptb" else []), *_compared(found)]
    return Outcome(tuple(claims), (_chart(trained),), (*map(_note, trained.values()), _NOTE))


def perplexity(loss: float) -> float:
    """Of nats per word."""
    return math.exp(loss)


def _printed(millions: int, found: dict[str, TrainingRun]) -> list[Claim]:
    claims = []
    for cell, run in found.items():
        paper, measured = PRINTED[millions][cell], perplexity(run.loss)
        claims.append(
            Claim(
                f"{NAMES[cell]} of {millions} million parameters: the perplexity on the test set is as printed, or at most "
                "a tenth above it.",
                paper,
                None,
                measured,
                0.1 * paper,
                measured <= 1.1 * paper,
            )
        )
    return claims


def _compared(found: dict[str, TrainingRun]) -> list[Claim]:
    """What the paper concludes: as good as the GRU with one gate less, and not as good as the LSTM."""
    minimal, gru, lstm = (perplexity(found[cell].loss) for cell in NAMES)
    return [
        Claim(
            "The minimal RNN is comparable to the GRU. (Measured: the ratio of their perplexities; it holds "
            f"below {CLOSE}.)",
            None,
            None,
            minimal / gru,
            None,
            minimal / gru < CLOSE,
        ),
        Claim(
            "The LSTM is better than the minimal RNN. (Measured: the ratio of their perplexities, LSTM first.)",
            None,
            None,
            lstm / minimal,
            None,
            lstm < minimal,
        ),
    ]


def _note(run: TrainingRun) -> str:
    valid, test = perplexity(float(np.min(run.validation_loss))), perplexity(run.loss)
    return (
        f"{NAMES[run.cell]}, {run.parameter_count:,} parameters: {valid:.1f} on validation, {test:.1f} on test, after "
        f"{run.updates:,} updates and {run.seconds / 60:.1f} minutes."
    )


_NOTE = (
    "The sources chose the rate, how long it is held, how it falls and the dropout for each network, on validation; here "
    "they are the same for all: at laptop scale those of `memspan train words`, at paper scale Zaremba's medium ones, from "
    "weights that start as in `memspan train words`."
)


def _chart(trained: dict[str, TrainingRun]) -> Chart:
    return Chart(
        name="perplexity",
        title="Words of the Penn Treebank, by networks of equal size",
        x_label="updates",
        y_label="perplexity on validation",
        x_scale="linear",
        y_scale="log",
        lines=tuple(
            line(
                f"{NAMES[run.cell]}, {run.parameter_count / 1e6:.2g} million parameters",
                run.validated,
                np.exp(run.validation_loss),
            )
            for run in trained.values()
        ),
        caption="One layer each; embedding and output have matrices of their own, and the widths differ so that the number "
        "of parameters does not. The perplexity is that of every word of the validation set; lower is better.",
    )

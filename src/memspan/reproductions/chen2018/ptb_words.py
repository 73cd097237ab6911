"""Chen et al. 2018, Table 1: words of the Penn Treebank, with networks of one layer and equal size."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from memspan.errors import check_models
from memspan.progress import Progress
from memspan.reproductions.charts import chart
from memspan.reproductions.claims import claim
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, TrainingRun, line

if TYPE_CHECKING:
    from memspan.training import Config

NAMES = {"minimal-rnn": "Minimal RNN", "gru": "GRU", "lstm": "LSTM"}
# Test perplexity, by millions of parameters.
PRINTED = {5: {"minimal-rnn": 101.4, "gru": 99.5, "lstm": 95.4}, 20: {"minimal-rnn": 89.9, "gru": 89.8, "lstm": 83.8}}
# Largest ratio of comparable perplexities.
COMPARABLE = 1.05


def run(
    *,
    seed: int,
    progress: Progress,
    runs: Path,
    task: dict[str, Any],
    widths: dict[int, dict[str, int]],
    dropout: float,
    training: dict[str, Any],
    workers: int | None,
) -> Outcome:
    """Train all cells of all `widths` (by millions of parameters) and compare their perplexities."""
    check_models("meanfield-table1")
    from memspan.reproductions.trainings import train_all

    trained = train_all(configs(seed, task, widths, dropout, training), runs, progress, workers=workers)
    claims: list[Claim] = []
    for millions in widths:
        own = {cell: trained[f"{cell}-{millions}m"] for cell in NAMES}
        claims += [*(printed_claims(millions, own) if task["data"] == "ptb" else []), *comparisons(own)]
    return Outcome(tuple(claims), (_chart(trained),), (*map(_note, trained.values()), _NOTE))


def configs(
    seed: int, task: dict[str, Any], widths: dict[int, dict[str, int]], dropout: float, training: dict[str, Any]
) -> dict[str, Config]:
    """Configurations by cell and millions of parameters."""
    from memspan.reproductions.trainings import training_config

    settings = {"task": task, "training": training}
    return {
        f"{cell}-{millions}m": training_config(
            "words",
            cell,
            seed,
            settings,
            {"cell": {"hidden": width}, "model": {"embedding": width, "dropout": dropout}},
        )
        for millions, own in widths.items()
        for cell, width in own.items()
    }


def printed_claims(millions: int, runs: dict[str, TrainingRun]) -> list[Claim]:
    """Claims about the printed perplexities, by cell."""
    claims = []
    for cell, run in runs.items():
        paper, measured = PRINTED[millions][cell], math.exp(run.loss)
        claims.append(
            claim(
                f"{NAMES[cell]} with {millions} million parameters: the test perplexity is as printed, or at most a "
                "tenth above."
            ).holds_if(measured, measured <= 1.1 * paper, paper=paper, tolerance=0.1 * paper)
        )
    return claims


def comparisons(runs: dict[str, TrainingRun]) -> list[Claim]:
    """The paper's conclusion: as good as the GRU with one gate less, and not as good as the LSTM."""
    minimal, gru, lstm = (math.exp(runs[cell].loss) for cell in NAMES)
    return [
        claim(
            "The minimal RNN is comparable to the GRU.",
            measure=f"the ratio of their perplexities; it holds below {COMPARABLE}",
        ).below(minimal / gru, COMPARABLE),
        claim(
            "The LSTM is better than the minimal RNN.", measure="the ratio of their perplexities, LSTM over minimal RNN"
        ).holds_if(lstm / minimal, lstm < minimal),
    ]


def _note(run: TrainingRun) -> str:
    validation, test = math.exp(float(np.min(run.validation_loss))), math.exp(run.loss)
    return (
        f"{NAMES[run.cell]}, {run.parameter_count:,} parameters: validation perplexity {validation:.1f}, test "
        f"perplexity {test:.1f}, after {run.updates:,} updates and {run.seconds / 60:.1f} minutes."
    )


_NOTE = (
    "The papers chose the learning rate, its schedule and the dropout for each network on the validation set. Here "
    "they are the same for all: at laptop scale those of `memspan train words`, at paper scale Zaremba's for the "
    "medium network, with the initialization of `memspan train words`."
)


def _chart(trained: dict[str, TrainingRun]) -> Chart:
    return chart(
        "perplexity",
        "Words of the Penn Treebank, with networks of equal size",
        "updates",
        "validation perplexity",
        [
            line(
                f"{NAMES[run.cell]}, {run.parameter_count / 1e6:.2g} million parameters",
                run.validated,
                np.exp(run.validation_loss),
            )
            for run in trained.values()
        ],
        "One layer each. Embedding and output have separate matrices, and hidden sizes are chosen for an equal number "
        "of parameters. The perplexity is over all words of the validation set; lower is better.",
        log="y",
    )

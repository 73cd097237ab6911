"""Kerg 2020, Table 3, right: digits pixel by pixel in a fixed random order."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from memspan.errors import check_models
from memspan.progress import Progress
from memspan.reproductions.charts import chart
from memspan.reproductions.claims import claim
from memspan.reproductions.kerg2020.published import NAMES, PERMUTED_DIGITS
from memspan.reproductions.recipe import Outcome
from memspan.results import Claim, TrainingRun, line

# Amount by which an accuracy may be below the printed one.
TOLERANCE = 0.02
# Cells with relevancy screening, and the same cells without.
PAIRS = (("rel-lstm", "lstm"), ("rel-rnn", "rnn"))
# Steps of an image read pixel by pixel.
PIXELS = 784


def run(
    *,
    seed: int,
    progress: Progress,
    runs: Path,
    data: str,
    steps: int,
    hidden: int,
    updates: dict[str, int],
    pixels: dict[str, int],
    workers: int | None,
) -> Outcome:
    """Train every cell on images read in a number of steps, some also pixel by pixel; `updates` and `pixels` are updates
    by cell.
    """
    check_models("relevance-table3-pmnist")
    from memspan.reproductions.trainings import train_all, training_config
    from memspan.training import Config

    def config(cell: str, steps: int, own: int) -> Config:
        settings = {
            "task": {"data": data, "steps": steps},
            "cell": {"hidden": hidden},
            "training": {"updates": own, "validate_every": min(100, own), "validation_batches": 10},
        }
        return training_config("permuted-digits", cell, seed, settings)

    configs = {cell: config(cell, steps, own) for cell, own in updates.items()}
    by_pixel = {f"{cell}-{PIXELS}": config(cell, PIXELS, own) for cell, own in pixels.items()}
    found = train_all({**by_pixel, **configs}, runs, progress, workers=workers)
    trained = {cell: found[cell] for cell in updates}
    curves = chart(
        "permuted-digits",
        "Digits in a fixed random pixel order: validation accuracy during training",
        "updates",
        "validation accuracy",
        [line(NAMES[cell], run.validated, np.nan_to_num(run.validation_accuracy)) for cell, run in trained.items()],
        f"{hidden} units, images read in {steps} steps in the same random order, batch size 100, with the default "
        "settings of `memspan train permuted-digits`.",
    )
    claims = (
        *_pair_claims(trained),
        *(_printed_claim(NAMES[cell], cell, run) for cell, run in trained.items()),
        *(_printed_claim(f"{NAMES[cell]} in {PIXELS} steps", cell, found[f"{cell}-{PIXELS}"]) for cell in pixels),
    )
    return Outcome(claims, (curves,), (_NOTE,))


def _printed_claim(name: str, cell: str, run: TrainingRun) -> Claim:
    paper, measured = PERMUTED_DIGITS[cell] / 100, run.accuracy or 0.0
    return claim(
        f"{name} after {run.updates:,} updates: the test accuracy is as printed, within {TOLERANCE:g}, or better."
    ).holds_if(measured, measured >= paper - TOLERANCE, paper=paper, tolerance=TOLERANCE)


def _pair_claims(trained: dict[str, TrainingRun]) -> list[Claim]:
    """The paper's own comparison: relevancy screening costs little where dependencies are dense."""
    claims = []
    for screened, plain in PAIRS:
        if screened in trained and plain in trained:
            gain = (trained[screened].accuracy or 0.0) - (trained[plain].accuracy or 0.0)
            claims.append(
                claim(
                    f"{NAMES[screened]} is at least as accurate as {NAMES[plain]}.", measure="the difference"
                ).holds_if(gain, gain >= 0, paper=(PERMUTED_DIGITS[screened] - PERMUTED_DIGITS[plain]) / 100)
            )
    return claims


_NOTE = (
    "At laptop scale sixteen pixels are read at each of 49 steps, for 18 epochs, and one cell reads one pixel at each of "
    "784 steps. The papers read one pixel at each of 784 steps, for 200 epochs. The published program of the RNNs also "
    "selected the epoch with the largest validation loss."
)

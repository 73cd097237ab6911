"""Erratum 15 (Kerg 2020, Tables 1, 2 and 5): the programs of the compared networks define accuracy in different ways.

Those of RelRNN, h-detach and SAB count the ten recalled symbols; those of expRNN and GORU count all steps, nearly all of
which are blanks. memspan counts the recalled symbols for every network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memspan.errors import check_models
from memspan.progress import Progress
from memspan.reproductions.charts import chart
from memspan.reproductions.claims import MANY, claim
from memspan.reproductions.kerg2020.published import DENOISE, NAMES, TRANSFER_COPY
from memspan.reproductions.recipe import Outcome, tracked
from memspan.results import Chart, Claim, line

if TYPE_CHECKING:
    from memspan.tasks import Batch
    from memspan.tasks.synthetic import RecallTask

Answers = NDArray[np.int64]
"""(time, batch)"""
# Recalled symbols, their kinds, and the delay of most tables.
RECALLED, KINDS, DELAY = 10, 8, 100
# The network that recalls everything gets every tenth blank wrong. More than its ten symbols are wrong then from T = 100 on.
SPILLED = 10
# What a network may answer, and how a program counts it.
ANSWERS = {
    "blank": "only blanks",
    "guess": "blanks, then guessed symbols",
    "spilled": "all symbols, and every tenth blank wrong",
    "right": "everything right",
}
DEFINITIONS = {"recalled": "the recalled symbols", "all": "all steps", "whole": "whole sequences"}


def run(*, delays: tuple[int, ...], sequences: int, seed: int, progress: Progress) -> Outcome:
    """Count the same answers in each way, on `sequences` sequences of copy and denoise at every delay."""
    check_models("errata-15")
    from memspan.tasks.synthetic import Copy, Denoise

    found: dict[tuple[str, int, str, str], float] = {}
    for delay in tracked(delays, progress, "counting answers"):
        for name, task in (("copy", Copy(delay=delay)), ("denoise", Denoise(delay=delay))):
            batch = task.batch(0, sequences, seed=seed, split="test")
            for kind, answers in example_answers(batch, seed).items():
                for definition, accuracy in accuracies(task, batch, answers).items():
                    found[name, delay, kind, definition] = accuracy
    claims = [one for task in ("copy", "denoise") for one in task_claims(task, delays, found, sequences)]
    return Outcome((*claims, _printed_claim()), (_chart(delays, found),), (_below_chance_note(), _NOTE))


def example_answers(batch: Batch, seed: int) -> dict[str, Answers]:
    """The answers of four networks, by the keys of `ANSWERS`."""
    rng = np.random.default_rng([seed, 15])
    right: Answers = batch.targets.numpy()
    guess, spilled = right.copy(), right.copy()
    guess[-RECALLED:] = rng.integers(1, KINDS + 1, guess[-RECALLED:].shape)
    spilled[:-RECALLED:SPILLED] = 1
    return {"blank": np.zeros_like(right), "guess": guess, "spilled": spilled, "right": right}


def accuracies(task: RecallTask, batch: Batch, answers: Answers) -> dict[str, float]:
    """The accuracy of some answers by the keys of `DEFINITIONS`; that of the recalled symbols is memspan's own."""
    import torch

    logits = torch.nn.functional.one_hot(torch.from_numpy(answers), task.classes).float()
    right = answers == batch.targets.numpy()
    return {
        "recalled": task.measures(logits, batch)["accuracy"],
        "all": float(right.mean()),
        "whole": float(right[-RECALLED:].all(0).mean()),
    }


def task_claims(
    task: str, delays: tuple[int, ...], found: dict[tuple[str, int, str, str], float], sequences: int
) -> list[Claim]:
    """The same answers counted in several ways, for one task."""
    name, error = task.capitalize(), np.sqrt((1 / KINDS) * (1 - 1 / KINDS) / (RECALLED * sequences))
    lowest, longest = min(delays), max(delays)
    claims = [
        claim(
            f"{name}, T = {delay:,}: a network that always answers blank, and recalls nothing, has an accuracy of "
            f"(T + 10) / (T + 20) if all steps count."
        ).near(found[task, delay, "blank", "all"], 1e-9, corrected=(delay + RECALLED) / (delay + 2 * RECALLED))
        for delay in dict.fromkeys((lowest, longest))
    ]
    ahead = {
        definition: found[task, longest, "spilled", definition] - found[task, longest, "blank", definition]
        for definition in ("recalled", "all")
    }
    return [
        *claims,
        claim(f"{name}: its accuracy is 0 if the recalled symbols count. (Measured: the largest, over T.)").near(
            max(found[task, delay, "blank", "recalled"] for delay in delays), 0.0, corrected=0.0
        ),
        claim(f"{name}: the best memoryless answers have an accuracy of 1/8 if the recalled symbols count.").near(
            found[task, lowest, "guess", "recalled"], MANY * error, corrected=1 / KINDS
        ),
        claim(
            f"{name}, T = {longest:,}: the order of two networks depends on the definition. If all steps count, one that "
            "recalls every symbol but gets every tenth blank wrong is below one that always answers blank. (Measured: the "
            "difference; it is +1 if the recalled symbols count.)"
        ).holds_if(ahead["all"], ahead["all"] < 0 and ahead["recalled"] == 1),
        claim(
            f"{name}: answers that are all right have an accuracy of 1 by every definition. (Measured: the smallest.)"
        ).near(
            min(found[task, delay, "right", definition] for delay in delays for definition in DEFINITIONS),
            0.0,
            corrected=1.0,
        ),
    ]


def _printed_claim() -> Claim:
    """The printed tables themselves cannot count all steps."""
    smallest = min(value for row in TRANSFER_COPY.values() for value in row.values() if value is not None) / 100
    bound = (DELAY + RECALLED) / (DELAY + 2 * RECALLED)
    return claim(
        "Table 1 does not count all steps for every network: it prints accuracies far below those of a network that always "
        f"answers blank, {bound:.3f} or more.",
        measure="the smallest printed accuracy",
    ).below(smallest, bound, paper=smallest)


def _below_chance_note() -> str:
    low = [
        f"{NAMES[cell]} {value:g} % (T = {delay:,})"
        for table in (TRANSFER_COPY, DENOISE)
        for cell, row in table.items()
        for delay, value in row.items()
        if value is not None and value < 100 / KINDS
    ]
    return f"Printed in Tables 1 and 2 below the 12.5 % of a guess among the eight symbols: {', '.join(low)}."


def _chart(delays: tuple[int, ...], found: dict[tuple[str, int, str, str], float]) -> Chart:
    lines = [
        line(
            f"{ANSWERS[kind]}: {DEFINITIONS[definition]}", delays, [found["copy", d, kind, definition] for d in delays]
        )
        for kind in ("blank", "guess", "spilled")
        for definition in ("recalled", "all")
    ]
    return chart(
        "definitions",
        "The same answers, counted in two ways",
        "delay T (steps)",
        "accuracy",
        lines,
        "Copy: the accuracy of three sets of answers if the ten recalled symbols count, and if all T + 20 steps do. If all "
        "steps count, a network that recalls nothing is above 90 %, and the more so the longer the delay.",
        log="x",
    )


_NOTE = (
    "The program of Kerg 2020 reports the mean over the last 100 training batches, which are new sequences, instead of a "
    "test set. memspan evaluates a test split with the weights of the best validation. An accuracy below that of a guess "
    "means that blanks, or other symbols than the eight, were answered."
)

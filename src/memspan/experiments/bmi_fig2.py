"""Cao and Xu 2020, Fig. 2: validation perplexity after the switch, without and with a second goal."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memspan.errors import check_models
from memspan.experiments.bmi_published import BESIDE, GOALS
from memspan.experiments.bmi_trainings import SIZES, Key
from memspan.experiments.recipe import Outcome, Trained
from memspan.progress import Progress
from memspan.results import Chart, Claim, TrainingRun, line

CONSISTENT = 0.9
"""Of the validations after the switch, the share at which a network that is consistently better is better."""


def _train(scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    check_models("bmi-fig2")
    size = SIZES[scale]
    curves = {key: after_switch(run) for key, run in size.train(size.keys(seed), runs, progress).items()}
    claims: list[Claim] = []
    for data in size.corpora:
        for goal, other in BESIDE.items():
            claims += compared(data, goal, other, curves)
    return Outcome(tuple(claims), tuple(_chart(data, curves) for data in size.corpora), (_NOTE,))


def after_switch(run: TrainingRun) -> NDArray[np.float64]:
    """(2, looks): updates since the switch, and the validation losses from then on.

    The switch is at a set update, or, as nt-asgd makes it, when validation no longer improves.
    """
    from memspan.training.rates import triggered

    settings, losses = run.config, run.validation_loss.tolist()
    at = settings["bmi"]["switch_at"]
    if at is None:
        patience = settings["training"]["nonmonotone"]
        looks = [n for n in range(1, len(losses) + 1) if triggered(losses[:n], patience)]
        at = int(run.validated[looks[0] - 1]) if looks else int(run.validated[-1])
    later = run.validated >= at
    return np.stack([(run.validated[later] - at).astype(np.float64), run.validation_loss[later]])


def mean_curve(data: str, goal: str, curves: dict[Key, NDArray[np.float64]]) -> NDArray[np.float64]:
    """(2, looks): the mean loss over seeds, as far as all of them go."""
    mine = [curve for key, curve in curves.items() if (key.data, key.goal) == (data, goal)]
    looks = min(curve.shape[1] for curve in mine)
    return np.mean([curve[:, :looks] for curve in mine], axis=0)


def compared(data: str, goal: str, other: str, curves: dict[Key, NDArray[np.float64]]) -> list[Claim]:
    """Whether one goal is below the other at every look, and at its lowest."""
    mine, theirs = (mean_curve(data, word, curves) for word in (goal, other))
    looks = min(mine.shape[1], theirs.shape[1])
    below = float(np.mean(mine[1, 1:looks] < theirs[1, 1:looks])) if looks > 1 else 0.0
    lowest = float(np.exp(mine[1].min() - theirs[1].min()))
    names = f"{GOALS[goal]}'s validation perplexity", GOALS[other].replace("Baseline", "the baseline")
    return [
        Claim(
            f"On {data}, {names[0]} is consistently below that of {names[1]} after the switch. (Measured: the share of "
            "validations at which it is, of means over seeds.)",
            None,
            None,
            below,
            None,
            below >= CONSISTENT,
        ),
        Claim(
            f"On {data}, {names[0]} goes on to fall where that of {names[1]} stops. (Measured: the ratio of the lowest "
            "perplexities, of means over seeds; below 1.)",
            None,
            None,
            lowest,
            None,
            lowest < 1,
        ),
    ]


_NOTE = (
    "The source switches from SGD to averaged SGD, and its full goal begins then; at laptop scale all networks learn by "
    "Adam with a falling rate, and the full goal begins at a set update, which is where all curves begin."
)


def _chart(data: str, curves: dict[Key, NDArray[np.float64]]) -> Chart:
    lines = []
    for goal, name in GOALS.items():
        middle = mean_curve(data, goal, curves)
        all_of = [
            curve[1, : middle.shape[1]]
            for key, curve in curves.items()
            if (key.data, key.goal) == (data, goal)
        ]
        band = np.exp(np.min(all_of, axis=0)), np.exp(np.max(all_of, axis=0))
        lines.append(line(name, middle[0], np.exp(middle[1]), band=band))
    return Chart(
        name=f"learning-curves-{data}",
        title=f"After the switch, {data}",
        x_label="updates since the switch",
        y_label="perplexity on validation",
        x_scale="linear",
        y_scale="linear",
        lines=tuple(lines),
        caption="Validation perplexity from the switch on, when the full goal begins to learn segments nearby as "
        "continuations; the line is the geometric mean over seeds, the band holds all of them. Lower is better.",
    )


BMI_FIG2 = Trained(
    id="bmi-fig2",
    title="Learning curves after the switch",
    source="Cao and Xu 2020, section 5.1, Fig. 2",
    scales={
        "smoke": "3 networks of 6 units on Python's own source: some seconds",
        "laptop": "9 networks of bmi-table1 (the same folder serves both): about 15 minutes, or seconds with that folder",
        "paper": "18 AWD-LSTMs of bmi-table1: months, or seconds with its folder",
    },
    train=_train,
)

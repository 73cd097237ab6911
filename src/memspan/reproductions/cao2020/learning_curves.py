"""Cao and Xu 2020, Fig. 2: validation perplexity after the switch, without and with a second goal."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memspan.errors import check_models
from memspan.progress import Progress
from memspan.reproductions.cao2020.published import GOALS
from memspan.reproductions.cao2020.trainings import SIZES, Key
from memspan.reproductions.claims import reach_of_mean
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, TrainingRun, line

CONSISTENT = 0.9
"""Of the validations after the switch, the share at which a network that is consistently better is better."""


def run(scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    check_models("bmi-fig2")
    size = SIZES[scale]
    curves = {key: after_switch(run) for key, run in size.train(size.keys(seed), runs, progress).items()}
    claims: list[Claim] = []
    for data in size.corpora:
        claims += [faster(data, goal, curves) for goal in ("base", "full")]
        claims += [consistent(data, curves), further(data, curves)]
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


def _of(data: str, goal: str, curves: dict[Key, NDArray[np.float64]]) -> list[NDArray[np.float64]]:
    """Seed by seed."""
    return [curves[key] for key in sorted(curves) if (key.data, key.goal) == (data, goal)]


def mean_curve(data: str, goal: str, curves: dict[Key, NDArray[np.float64]]) -> NDArray[np.float64]:
    """(2, looks): the mean loss over seeds, as far as all of them go."""
    mine = _of(data, goal, curves)
    looks = min(curve.shape[1] for curve in mine)
    return np.mean([curve[:, :looks] for curve in mine], axis=0)


def faster(data: str, goal: str, curves: dict[Key, NDArray[np.float64]]) -> Claim:
    """Whether one goal's loss falls faster than the baseline's, from the switch to the looks after it."""
    mine, theirs = _paired(data, (goal, "none"), curves)
    apart = _falls(mine) - _falls(theirs)
    measured, noise = float(apart.mean()), reach_of_mean(apart)
    return Claim(
        f"On {data}, {GOALS[goal]}'s validation perplexity decreases faster than the baseline's after the switch. "
        "(Measured: by how many nats more the loss has fallen since the switch, in the mean over validations and "
        f"{len(apart)} seeds; {_beyond(noise)}.)",
        None,
        None,
        measured,
        None,
        measured > noise,
    )


def consistent(data: str, curves: dict[Key, NDArray[np.float64]]) -> Claim:
    """Whether the full goal is below the base one at nearly every look, and by more than noise."""
    full, base = _paired(data, ("full", "base"), curves)
    apart = base[:, 1:] - full[:, 1:]
    share = float(np.mean(apart.mean(axis=0) > 0)) if apart.size else 0.0
    means = apart.mean(axis=1) if apart.size else np.zeros(len(apart))
    mean, noise = float(means.mean()), reach_of_mean(means)
    return Claim(
        f"On {data}, BMI-full's validation perplexity is consistently better than BMI-base's after the switch. (Measured: "
        f"the share of validations at which it is lower, of means over {len(apart)} seeds; it holds from {CONSISTENT:g} on, "
        f"if the mean of the differences, here {mean:.4f} nats, is above {noise:.4f}, beyond its 95 % interval by "
        "Student's t.)",
        None,
        None,
        share,
        None,
        share >= CONSISTENT and mean > noise,
    )


def further(data: str, curves: dict[Key, NDArray[np.float64]]) -> Claim:
    """Whether the full goal gets lower than the others ever do."""
    full, base, none = (
        np.array([curve[1].min() for curve in _of(data, goal, curves)]) for goal in ("full", "base", "none")
    )
    apart = np.minimum(base, none) - full
    measured, noise = float(apart.mean()), reach_of_mean(apart)
    return Claim(
        f"On {data}, BMI-full's validation perplexity decreases further than BMI-base's and the baseline's do. (Measured: "
        "by how many nats its lowest loss is below the lowest of the two others, in the mean over "
        f"{len(apart)} seeds; {_beyond(noise)}.)",
        None,
        None,
        measured,
        None,
        measured > noise,
    )


def _beyond(noise: float) -> str:
    return f"it holds if above {noise:.4f}, beyond the 95 % interval by Student's t"


def _paired(
    data: str, goals: tuple[str, ...], curves: dict[Key, NDArray[np.float64]]
) -> list[NDArray[np.float64]]:
    """Losses (seeds, looks) of each goal, the same seeds in the same order, as far as all of them go."""
    mine = [_of(data, goal, curves) for goal in goals]
    looks = min(curve.shape[1] for each in mine for curve in each)
    return [np.array([curve[1, :looks] for curve in each]) for each in mine]


def _falls(losses: NDArray[np.float64]) -> NDArray[np.float64]:
    """(seeds,): how far below its first loss each is, in the mean over later looks; 0 where there are none."""
    return (losses[:, :1] - losses[:, 1:]).mean(axis=1) if losses.shape[1] > 1 else np.zeros(len(losses))


_NOTE = (
    "The source switches from SGD to averaged SGD, and its full goal begins then; at laptop scale all networks learn by "
    "Adam with a falling rate, and the full goal begins at a set update, which is where all curves begin. With such a rate "
    "curves fall to the end, so that how far each goes is told by how low it gets, not by what comes after it stops."
)


def _chart(data: str, curves: dict[Key, NDArray[np.float64]]) -> Chart:
    lines = []
    for goal, name in GOALS.items():
        middle = mean_curve(data, goal, curves)
        all_of = [curve[1, : middle.shape[1]] for curve in _of(data, goal, curves)]
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

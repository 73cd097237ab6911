"""Cao and Xu 2020, Table 2: how much two segments tell of each other, in what networks write and in real text."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np

from memspan.errors import check_models
from memspan.experiments.bmi_published import GOALS, SEGMENTS
from memspan.experiments.bmi_trainings import SIZES, Key
from memspan.experiments.recipe import Outcome, Trained
from memspan.experiments.standard_errors import SURE, error_of_mean
from memspan.progress import Progress
from memspan.results import Chart, Claim, SegmentInformation, line

ORDER = (*GOALS, "real")
"""From the least information to the most, as printed."""
LABELS = {**GOALS, "real": "Real text"}
NEAR = 0.25
"""How far from the printed information of the real text ours may be, as a share of it."""


def _train(scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    check_models("bmi-table2")
    from memspan.experiments.bmi_judging import segments_all

    size = SIZES[scale]
    trained = size.train(size.keys(seed), runs, progress)
    found = segments_all(size, trained, runs, seed, progress)
    claims: list[Claim] = []
    for data in size.corpora:
        claims += [rises(data, less, more, found) for less, more in itertools.pairwise(ORDER)]
        claims += as_printed(data, found)
    charts = tuple(_chart(data, found) for data in size.corpora)
    return Outcome(tuple(claims), charts, (*map(_note, found.items()), _NOTE))


def of(data: str, goal: str, found: dict[Key, SegmentInformation]) -> list[SegmentInformation]:
    """Seed by seed."""
    return [one for key, one in found.items() if (key.data, key.goal) == (data, goal)]


def mean_and_error(texts: list[SegmentInformation]) -> tuple[float, float]:
    """Nats, and their standard error over seeds; of one text that over its folds."""
    nats = np.array([one.nats for one in texts])
    return float(nats.mean()), error_of_mean(nats if len(nats) > 1 else texts[0].folds)


def rises(data: str, less: str, more: str, found: dict[Key, SegmentInformation]) -> Claim:
    """Whether one text has more information between its segments than another, beyond the noise of seeds and folds."""
    (low, low_error), (high, high_error) = (mean_and_error(of(data, goal, found)) for goal in (less, more))
    noise = SURE * math.hypot(low_error, high_error)
    row = SEGMENTS.get(data)
    return Claim(
        f"On {data}, segments of {_named(more)} tell more of each other than those of {_named(less)}. (Measured: the "
        f"difference in nats; it holds if above {noise:.3f}, two standard errors.)",
        None if row is None else row[more] - row[less],
        None,
        high - low,
        None,
        high - low > noise,
    )


def as_printed(data: str, found: dict[Key, SegmentInformation]) -> list[Claim]:
    """Whether our critic finds in the real text what the source's found."""
    if data not in SEGMENTS:
        return []
    paper, (measured, _) = SEGMENTS[data]["real"], mean_and_error(of(data, "real", found))
    return [
        Claim(
            f"Segments of the real text of {data} tell as much of each other as printed, within a quarter. "
            "(Measured: nats.)",
            paper,
            None,
            measured,
            NEAR * paper,
            abs(measured - paper) <= NEAR * paper,
        )
    ]


def _named(goal: str) -> str:
    return (
        "the real text"
        if goal == "real"
        else f"what {GOALS[goal].replace('Baseline', 'the baseline')} writes"
    )


def _note(one: tuple[Key, SegmentInformation]) -> str:
    key, found = one
    low, high = found.interval
    return f"{key.data}, {LABELS[key.goal]}, seed {key.seed}: {found.nats:.3f} nats [{low:.3f}, {high:.3f}]."


_NOTE = (
    "Intervals are of 95 % over the folds of one text. The critic of the source is not published but for being small; ours "
    "is the mean and the largest of vectors of words with one hidden layer on top, the same for all texts. All texts of one "
    "data set are equally long. Segments that should have nothing to do with each other are taken from places far apart."
)


def _chart(data: str, found: dict[Key, SegmentInformation]) -> Chart:
    lines = []
    for place, goal in enumerate(ORDER):
        mine = of(data, goal, found)
        x = place + 0.15 * (np.arange(len(mine)) - (len(mine) - 1) / 2)
        low, high = ([one.interval[side] for one in mine] for side in (0, 1))
        nats = [one.nats for one in mine]
        lines.append(line(LABELS[goal], x, nats, band=(low, high), style="markers"))
    return Chart(
        name=f"segments-{data}",
        title=f"What a segment tells of one a little later, {data}",
        x_label="who wrote it, from the baseline to the real text",
        y_label="information (nats)",
        x_scale="linear",
        y_scale="linear",
        lines=tuple(lines),
        caption="A lower bound on the information between two segments with a gap between them, by a critic that knows "
        "nothing of the networks; one mark for each network, with its 95 % interval over the folds.",
    )


BMI_TABLE2 = Trained(
    id="bmi-table2",
    title="Information between segments of generated and of real text",
    source="Cao and Xu 2020, section 5.2, Table 2",
    scales={
        "smoke": "3 networks of 6 units on Python's own source: some seconds",
        "laptop": "18 networks of bmi-table1 (the same folder serves both), 10 folds for each text: about 40 minutes more",
        "paper": "18 AWD-LSTMs of bmi-table1, 6 million words from each: months, most of them for the networks",
    },
    train=_train,
)

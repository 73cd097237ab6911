"""Cao and Xu 2020, Table 2: how much two segments tell of each other, in what networks write and in real text."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from memspan.errors import check_models
from memspan.progress import Progress
from memspan.reproductions.cao2020.published import BETTER, GOALS, SEGMENTS
from memspan.reproductions.cao2020.tables import REAL, losses, samples, table
from memspan.reproductions.cao2020.trainings import SIZES, Key
from memspan.reproductions.claims import reach_of_difference
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, SegmentInformation, line

ORDER = (*GOALS, "real")
"""From the least information to the most, as printed."""
LABELS = {**GOALS, "real": REAL}
NEAR = 0.25
"""How far from the printed information of the real text ours may be, as a share of it."""


def run(scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    check_models("bmi-table2")
    from memspan.reproductions.cao2020.evaluation import segments_all

    size = SIZES[scale]
    trained = size.train(size.keys(seed), runs, progress)
    found = segments_all(size, trained, runs, seed, progress)
    claims: list[Claim] = []
    for data in size.corpora:
        claims += [rises(data, less, more, found) for more, less in (*BETTER, ("real", "full"))]
        claims += as_printed(data, found)
    charts = tuple(_chart(data, found) for data in size.corpora)
    foretold = {key: losses(run) for key, run in trained.items()}
    tables = tuple(table(data, foretold, found) for data in size.corpora)
    return Outcome(tuple(claims), charts, (_NOTE,), tables=tables)


def of(data: str, goal: str, found: dict[Key, SegmentInformation]) -> list[SegmentInformation]:
    """Seed by seed."""
    return [one for key, one in found.items() if (key.data, key.goal) == (data, goal)]


def rises(data: str, less: str, more: str, found: dict[Key, SegmentInformation]) -> Claim:
    """Whether one text has more information between its segments than another, beyond the noise of seeds and folds."""
    low, high = (samples(of(data, goal, found)) for goal in (less, more))
    apart, noise = float(np.mean(high) - np.mean(low)), reach_of_difference(low, high)
    row = SEGMENTS.get(data)
    return Claim(
        f"On {data}, segments of {_named(more)} tell more of each other than those of {_named(less)}. (Measured: the "
        f"difference in nats; it holds if above {noise:.3f}, beyond the 95 % interval by Student's t.)",
        None if row is None else row[more] - row[less],
        None,
        apart,
        None,
        apart > noise,
    )


def as_printed(data: str, found: dict[Key, SegmentInformation]) -> list[Claim]:
    """Whether our critic finds in the real text what the source's found."""
    if data not in SEGMENTS:
        return []
    paper, measured = SEGMENTS[data]["real"], float(np.mean(samples(of(data, "real", found))))
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


_NOTE = (
    "The critic of the source is not published but for being small; ours "
    "is the mean and the largest of vectors of words with one hidden layer on top, the same for all texts. All texts of one "
    "data set are equally long. Segments that should have nothing to do with each other are taken from places far apart."
)


def _chart(data: str, found: dict[Key, SegmentInformation]) -> Chart:
    lines = []
    for place, goal in enumerate(ORDER, 1):
        mine = of(data, goal, found)
        x = place + 0.15 * (np.arange(len(mine)) - (len(mine) - 1) / 2)
        low, high = ([one.interval[side] for one in mine] for side in (0, 1))
        nats = [one.nats for one in mine]
        lines.append(line(LABELS[goal], x, nats, band=(low, high), style="markers"))
    return Chart(
        name=f"segments-{data}",
        title=f"What a segment tells of one a little later, {data}",
        x_label="who wrote it",
        y_label="information (nats)",
        x_scale="linear",
        y_scale="linear",
        lines=tuple(lines),
        caption="A lower bound on the information between two segments with a gap between them, by a critic that knows "
        "nothing of the networks; one mark for each network, with its 95 % interval over the folds.",
        x_names=tuple(LABELS[goal] for goal in ORDER),
    )

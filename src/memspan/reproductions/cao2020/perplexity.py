"""Cao and Xu 2020, Table 1: does a second goal make language models better, and what they write richer?"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from memspan.errors import check_models
from memspan.progress import Progress
from memspan.reproductions.cao2020.published import BETTER, GOALS, MEASURES, printed
from memspan.reproductions.cao2020.tables import losses, table
from memspan.reproductions.cao2020.trainings import SIZES, Key
from memspan.reproductions.claims import reach_of_mean
from memspan.reproductions.recipe import Outcome
from memspan.results import Chart, Claim, ReversePerplexity, TrainingRun, line


def run(scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
    check_models("bmi-table1")
    from memspan.reproductions.cao2020.evaluation import reverse_all, segments_all

    size = SIZES[scale]
    trained = size.train(size.keys(seed), runs, progress)
    trained |= size.train(size.keys(seed, tuned=True), runs, progress)
    reverse = reverse_all(size, trained, runs, seed, progress)
    segments = segments_all(size, size.keys(seed), runs, seed, progress)
    found = {key: nats(trained[key], reverse[key]) for key in trained}
    claims = [
        compared(data, tuned, goal, other, measure, found)
        for data in size.corpora
        for tuned in (False, True)
        for measure in MEASURES
        for goal, other in BETTER
    ]
    charts = tuple(_chart(data, found) for data in size.corpora)
    tables = tuple(table(data, found, segments) for data in size.corpora)
    return Outcome(tuple(claims), charts, (_NOTE,), tables=tables)


def nats(run: TrainingRun, reverse: ReversePerplexity) -> dict[str, float]:
    """The logarithm of every measure, by the words of `MEASURES`."""
    return {**losses(run), "reverse_valid": reverse.valid_loss, "reverse_test": reverse.test_loss}


def compared(
    data: str, tuned: bool, goal: str, other: str, measure: str, found: dict[Key, dict[str, float]]
) -> Claim:
    """Whether one goal has a lower perplexity than another, in the mean over seeds, beyond their noise."""
    mine = [key for key in found if (key.data, key.goal, key.tuned) == (data, goal, tuned)]
    apart = np.array([found[key][measure] - found[key._replace(goal=other)][measure] for key in mine])
    ours, theirs = printed(data, tuned, goal, measure), printed(data, tuned, other, measure)
    measured, noise = math.exp(float(apart.mean())), reach_of_mean(apart)
    said = (
        f"On {data}{', fine-tuned' if tuned else ''}, {GOALS[goal]} has a lower {MEASURES[measure]} than "
        f"{GOALS[other].replace('Baseline', 'the baseline')}. (Measured: the ratio, in the geometric mean over "
        f"{len(mine)} seeds, of which {int((apart < 0).sum())} agree; it holds if below "
        f"{math.exp(-noise):.4f}, beyond the 95 % interval by Student's t.)"
    )
    paper = None if ours is None or theirs is None else ours / theirs
    return Claim(said, paper, None, measured, None, float(apart.mean()) < -noise)


_NOTE = (
    "At paper scale the networks are the AWD-LSTMs with a mixture of softmaxes of the source. At laptop scale they are "
    "LSTMs of 100 units that know the 3,000 most frequent words, so that only ratios can be set beside the printed ones; "
    "all goals have the same settings, and the switch comes at the same update. The configuration of the fresh model that "
    "the reverse perplexity is taken from is not published; ours is one LSTM, the same for all."
)


def _chart(data: str, found: dict[Key, dict[str, float]]) -> Chart:
    kinds = dict.fromkeys(key._replace(seed=0) for key in found if key.data == data)
    lines = []
    for kind in kinds:
        mine = [value for key, value in found.items() if key._replace(seed=0) == kind]
        x, y = ([math.exp(value[measure]) for value in mine] for measure in ("test", "reverse_test"))
        lines.append(line(kind.label, x, y, style="markers"))
    return Chart(
        name=f"perplexity-{data}",
        title=f"How well networks foretell {data}, and how well others learn from what they write",
        x_label="perplexity on test",
        y_label="reverse perplexity on test",
        x_scale="linear",
        y_scale="linear",
        lines=tuple(lines),
        caption="One mark for each network, from several seeds. To the left: it foretells the test text better. Further "
        "down: a fresh model that read only what it wrote foretells the test text better; lower is better in both.",
    )

"""Tables 1 and 2 of Cao and Xu 2020 in one: every goal with all that was measured of it, next to the printed numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from memspan.reproductions.cao2020.published import MEASURES, SEGMENT_ERRORS, SEGMENTS, printed
from memspan.reproductions.cao2020.trainings import Key
from memspan.reproductions.claims import reach_of_mean
from memspan.results import Measured, MeasuredRow, MeasuredTable, SegmentInformation, TrainingRun

REAL = "Real text"
INFORMATION = "information between segments (nats)"


def table(
    data: str, found: Mapping[Key, Mapping[str, float]], segments: Mapping[Key, SegmentInformation]
) -> MeasuredTable:
    """One row for each goal, fine-tuned ones below, and the real text; columns that nobody measured are left out.

    `found` has logarithms of perplexities by the words of `MEASURES`.
    """
    kinds = dict.fromkeys((key.goal, key.tuned, key.label) for key in found if key.data == data)
    rows = [
        MeasuredRow(
            label, (*_perplexities(data, goal, tuned, found), _information(data, goal, tuned, segments))
        )
        for goal, tuned, label in kinds
    ]
    rows.append(MeasuredRow(REAL, (*(None for _ in MEASURES), _information(data, "real", False, segments))))
    columns = (*MEASURES.values(), INFORMATION)
    there = [place for place in range(len(columns)) if any(row.entries[place] for row in rows)]
    return MeasuredTable(
        title=f"All goals, {data}",
        columns=tuple(columns[place] for place in there),
        rows=tuple(
            MeasuredRow(row.name, tuple(row.entries[place] for place in there))
            for row in rows
            if any(row.entries)
        ),
        caption="Means over seeds (of perplexities geometric ones) with 95 % intervals by Student's t; those of a single "
        "text are over its folds, those of a single training are not known. In brackets what the source prints, for far "
        "larger networks at any scale but paper. Lower perplexities and more information are better.",
    )


def losses(run: TrainingRun) -> dict[str, float]:
    """The logarithms of a network's own perplexities, by the words of `MEASURES`."""
    return {"valid": float(np.min(run.validation_loss)), "test": run.loss}


def _perplexities(
    data: str, goal: str, tuned: bool, found: Mapping[Key, Mapping[str, float]]
) -> list[Measured | None]:
    mine = [nats for key, nats in found.items() if (key.data, key.goal, key.tuned) == (data, goal, tuned)]
    return [
        _perplexity([nats[measure] for nats in mine], printed(data, tuned, goal, measure))
        if all(measure in nats for nats in mine)
        else None
        for measure in MEASURES
    ]


def _perplexity(nats: list[float], paper: float | None) -> Measured:
    mean, reach = float(np.mean(nats)), reach_of_mean(nats)
    interval = (math.exp(mean - reach), math.exp(mean + reach)) if len(nats) > 1 else None
    return Measured(math.exp(mean), interval, tuple(map(math.exp, nats)), paper)


def _information(
    data: str, goal: str, tuned: bool, segments: Mapping[Key, SegmentInformation]
) -> Measured | None:
    texts = [text for key, text in segments.items() if (key.data, key.goal, key.tuned) == (data, goal, tuned)]
    if not texts:
        return None
    each = samples(texts)
    mean, reach = float(np.mean(each)), reach_of_mean(each)
    paper, error = (None if tuned else row.get(data, {}).get(goal) for row in (SEGMENTS, SEGMENT_ERRORS))
    return Measured(mean, (mean - reach, mean + reach), each, paper, error)


def samples(texts: list[SegmentInformation]) -> tuple[float, ...]:
    """What the mean is taken over: nats seed by seed, or fold by fold of a single text."""
    return tuple(text.nats for text in texts) if len(texts) > 1 else texts[0].folds

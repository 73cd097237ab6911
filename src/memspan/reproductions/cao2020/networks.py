"""A network with its discriminator, as a run with a second goal left them; what the latter tells of another text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from memspan.objectives import Bmi, donsker_varadhan
from memspan.objectives.reading import pooled
from memspan.objectives.segment_information import far_shifts
from memspan.sampling.writing import at_rest
from memspan.tasks.text import TextTask, encoded
from memspan.training.beginning import begin_with
from memspan.training.best import Best, load_best
from memspan.training.config import InitConfig
from memspan.training.objectives import configured_objectives, lines_of


def load_bmi(run: Path) -> tuple[Best, Bmi]:
    """The best weights of a run, and what its discriminator was then."""
    best = load_best(run)
    (bmi,) = configured_objectives(best.config, best.network)
    assert isinstance(bmi, Bmi)
    again = replace(best.config, init=InitConfig(name="run", run=str(run)))
    begin_with(best.network, {bmi.name: bmi}, again)
    return best, bmi


def held_out_bound(run: Path, *, most: int, shifts: int = 20) -> float:
    """The Donsker-Varadhan bound on neighbouring lines of the validation text, in nats.

    Every line with the next, against every line with `shifts` others far from it.
    """
    best, bmi = load_bmi(run)
    task = best.task
    assert isinstance(task, TextTask)
    text = encoded(task.identity).symbols["valid"]
    found = lines_of(task, text, bmi.config.length)
    count, side_by_side, padding = min(most, len(found)), 3 * bmi.config.pairs, bmi.config.padding
    with at_rest(best.network), at_rest(bmi):
        vectors = torch.cat(
            [
                pooled(
                    best.network,
                    found.take(np.arange(first, min(first + side_by_side, count)), whole=padding),
                    padding=padding,
                )
                for first in range(0, count, side_by_side)
            ]
        )
        joint = bmi.discriminator(vectors[:-1], vectors[1:])
        apart = far_shifts(count, shifts)
        product = torch.cat([bmi.discriminator(vectors, vectors.roll(by, 0)) for by in apart])
    return float(donsker_varadhan(joint, product))

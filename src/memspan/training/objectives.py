"""The objectives that a configuration asks for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memspan.models.model import Model
from memspan.models.vocabulary import END, UNKNOWN
from memspan.objectives import Bmi, Objective
from memspan.objectives.segments import Segments, lines, windows
from memspan.tasks.text import TextTask, encode_corpus
from memspan.training.building import seeded, stream
from memspan.training.config import Config

PLACE = 2**32
"""Of the discriminator's first weights among the streams of a seed: no process has such a rank."""


def configured_objectives(config: Config, network: Model) -> tuple[Objective, ...]:
    """None, or the information between segments; its first weights are a function of the configuration alone."""
    if config.bmi.name == "none":
        return ()
    with seeded(stream(config.seed, PLACE)):
        return (Bmi(config.bmi, segments_of(config), network, config.seed),)


def segments_of(config: Config) -> Segments:
    """The training text in pieces."""
    task, bmi = config.task, config.bmi
    assert isinstance(task, TextTask), "check_config asks for it"
    text = encode_corpus(task.identity).symbols["train"]
    if bmi.segments == "windows":
        return windows(text, bmi.length, bmi.gap)
    return lines_of(task, text, bmi.length)


def lines_of(task: TextTask, text: NDArray[np.int64], length: int) -> Segments:
    """Lines that are filled up by the unknown symbol, as in the authors' program, or by their end where there is none."""
    numbers = task.vocabulary.numbers
    return lines(text, numbers[END[task.kind]], length, filler=numbers.get(UNKNOWN[task.kind]))

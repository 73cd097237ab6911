"""What trainings and evaluations are called, in words that titles, sentences and tables share."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memspan.figures.numbers import UNKNOWN, number, trimmed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

_ANSWERS = {
    "copy": "recalled symbols",
    "denoise": "recalled symbols",
    "adding": "sums",
    "noisy-digits": "digits",
    "digits": "digits",
    "permuted-digits": "digits",
    "binary": "next symbols",
}
TEXTS = ("characters", "words")
"""Tasks that are a text, whose next symbol is asked for."""
TOKENS = "tokens"
"""The text that a model reads which was not trained here."""
_LOSSES = {
    "adding": "squared error",
    "characters": "bits per character",
    "words": "perplexity",
    TOKENS: "perplexity",
}
_BEHIND = ("nats", "bits per character")
"""Units that stand behind their number."""
_SHOWN = ("delay", "length", "steps")
"""Options of tasks that belong to their names."""


def answers_word(task: str) -> str:
    """What an accuracy counts.

    >>> answers_word("copy"), answers_word("words")
    ('recalled symbols', 'answers')
    """
    return _ANSWERS.get(task, "answers")


def loss_unit(task: str) -> str:
    """What a loss is told in.

    >>> loss_unit("adding"), loss_unit("copy"), loss_unit("words")
    ('squared error', 'nats', 'perplexity')
    """
    return _LOSSES.get(task, "nats")


def in_its_unit(task: str, loss: ArrayLike) -> NDArray[np.float64]:
    """Losses in the unit that they are told in: nats of a text as bits per character or perplexity, others as they are.

    >>> in_its_unit("characters", [0.0, math.log(8)]), in_its_unit("words", [0.0, math.log(8)])
    (array([0., 3.]), array([1., 8.]))
    """
    import numpy as np  # not before: the command line, which takes words from here, starts without numpy

    from memspan.results.text import LARGEST

    nats = np.asarray(loss, np.float64)
    if task == "characters":
        return nats / math.log(2)
    return np.exp(np.minimum(nats, LARGEST)) if loss_unit(task) == "perplexity" else nats


def loss_words(task: str, loss: float | None) -> str:
    """A loss with its unit; of a text in the measure that such losses are told in.

    >>> loss_words("copy", 0.0123), loss_words("adding", 1 / 6)
    ('0.0123 nats', 'squared error 0.167')
    >>> loss_words("characters", math.log(2)), loss_words("words", math.log(120))
    ('1.00 bits per character', 'perplexity 120')
    """
    unit = loss_unit(task)
    words = number(None if loss is None else float(in_its_unit(task, loss)))
    return f"{words} {unit}" if unit in _BEHIND else f"{unit} {words}"


def task_words(task: str, config: Mapping[str, Any]) -> str:
    """A task with its size in time.

    >>> task_words("copy", {"task": {"name": "copy", "delay": 1000}})
    'copy, delay 1,000'
    >>> task_words("words", {"task": {"name": "words", "data": "ptb", "steps": 35}})
    'words of ptb'
    """
    settings = config.get("task", {})
    if task in (*TEXTS, TOKENS):
        return f"{task} of {Path(str(settings.get('data', 'a text'))).name}"
    sizes = [f"{name} {settings[name]:,}" for name in _SHOWN if settings.get(name) is not None]
    return ", ".join([task, *sizes])


def percent(share: float | None) -> str:
    """A share of one, never rounded up to all of them.

    >>> percent(0.9987), percent(0.99996), percent(1.0), percent(0.125)
    ('99.9 %', '99.99 %', '100 %', '12.5 %')
    """
    if share is None or math.isnan(share):
        return UNKNOWN
    if share == 1:
        return "100 %"
    if share >= 0.9995:
        return f"{math.floor(1e4 * share) / 100:.2f} %"
    return f"{100 * share:.1f} %"


def percent_interval(interval: tuple[float, float] | None) -> str:
    """Both ends in percent.

    >>> percent_interval((0.9962, 1.0))
    '[99.6 %, 100 %]'
    """
    return "" if interval is None else f"[{percent(interval[0])}, {percent(interval[1])}]"


def chance_words(chance: float) -> str:
    """
    >>> chance_words(0.125), chance_words(0.1)
    ('chance 12.5 %', 'chance 10 %')
    """
    return f"chance {trimmed(100 * chance)} %"


def accuracy_words(task: str, accuracy: float | None, chance: float) -> str:
    """How much was right.

    >>> accuracy_words("copy", 0.9991, 0.125)
    '99.9 % of recalled symbols right (chance 12.5 %)'
    """
    return f"{percent(accuracy)} of {answers_word(task)} right ({chance_words(chance)})"

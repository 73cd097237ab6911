"""Tasks, losses and accuracies in words, shared by trainings, evaluations and diagnoses.

The command line takes words from here before numpy is loaded.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memspan.presentation.numbers import UNKNOWN, number, trimmed
from memspan.tasks.catalog import facts_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

# The text that a model from elsewhere reads.
TOKENS = "tokens"
# Units that follow their number.
_SUFFIXES = ("nats", "bits per character")
# Options of tasks that belong to their names.
_SIZES = ("delay", "length", "steps")


def answers_word(task: str) -> str:
    """What an accuracy counts.

    >>> answers_word("copy"), answers_word("words")
    ('recalled symbols', 'answers')
    """
    return facts_of(task).answers


def loss_unit(task: str) -> str:
    """The unit of a reported loss.

    >>> loss_unit("adding"), loss_unit("copy"), loss_unit("words")
    ('squared error', 'nats', 'perplexity')
    """
    return "perplexity" if task == TOKENS else facts_of(task).loss_unit


def loss_in_unit(task: str, loss: ArrayLike) -> NDArray[np.float64]:
    """Losses in nats converted to `loss_unit`.

    >>> loss_in_unit("characters", [0.0, math.log(8)]), loss_in_unit("words", [0.0, math.log(8)])
    (array([0., 3.]), array([1., 8.]))
    """
    import numpy as np

    from memspan.results.text import LARGEST

    nats = np.asarray(loss, np.float64)
    if loss_unit(task) == "bits per character":
        return nats / math.log(2)
    return np.exp(np.minimum(nats, LARGEST)) if loss_unit(task) == "perplexity" else nats


def loss_words(task: str, loss: float | None) -> str:
    """A loss with its unit.

    >>> loss_words("copy", 0.0123), loss_words("adding", 1 / 6)
    ('0.0123 nats', 'squared error 0.167')
    >>> loss_words("characters", math.log(2)), loss_words("words", math.log(120))
    ('1.00 bits per character', 'perplexity 120')
    """
    unit = loss_unit(task)
    value = number(None if loss is None else float(loss_in_unit(task, loss)))
    return f"{value} {unit}" if unit in _SUFFIXES else f"{unit} {value}"


def task_words(task: str, config: Mapping[str, Any]) -> str:
    """A task with its length in time.

    >>> task_words("copy", {"task": {"name": "copy", "delay": 1000}})
    'copy, delay 1,000'
    >>> task_words("words", {"task": {"name": "words", "data": "ptb", "steps": 35}})
    'words of ptb'
    """
    settings = config.get("task", {})
    if task == TOKENS or facts_of(task).is_text:
        return f"{task} of {Path(str(settings.get('data', 'a text'))).name}"
    sizes = [f"{name} {settings[name]:,}" for name in _SIZES if settings.get(name) is not None]
    return ", ".join([task, *sizes])


def percent(share: float | None) -> str:
    """A share between 0 and 1 in percent, never rounded up to 100.

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
    """An accuracy and its chance level.

    >>> accuracy_words("copy", 0.9991, 0.125)
    '99.9 % of recalled symbols correct (chance 12.5 %)'
    """
    return f"{percent(accuracy)} of {answers_word(task)} correct ({chance_words(chance)})"

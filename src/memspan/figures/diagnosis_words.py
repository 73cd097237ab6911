"""What a diagnosis found, in words that titles, the first line and tables share."""

from __future__ import annotations

import numpy as np

from memspan.figures.numbers import number
from memspan.results import ContextLoss, Diagnosis, GradientNorms, TrainingCosts

_SAME = 1.1
"""Norms that differ by less are called equal."""


def gradient_words(norms: GradientNorms) -> str:
    """How far back gradients come, and how large they arrive."""
    last = int(norms.distances[-1])
    if not np.isfinite(norms.mean).all():
        return "gradients are too large for numbers"
    if norms.mean[0] == 0:
        return "the loss has no gradient at the last step"
    if norms.reach < last:
        return f"gradients reach {norms.reach:,} of {steps_word(last)} back"
    return f"gradients reach all {steps_word(last)} back with {_times(norms.fall)} norm {_than(norms.fall)} at the end"


def judged_words(norms: GradientNorms) -> str:
    """Whose loss was differentiated."""
    if norms.loss == "whole":
        return "all answers"
    what = "the last answer" if norms.answers == 1 else f"the last {norms.answers:,} answers"
    return f"{what} (if other ones were wanted)" if norms.loss == "changed" else what


def attention_words(result: Diagnosis) -> str | None:
    """Among how many states attention is shared, and how far back they are; None where there is none."""
    seen = result.attention
    if seen is None:
        return None
    states = f"{number(seen.states, 2)} {'state' if seen.states < 1.05 else 'states'}"
    return f"attention on {states}, {steps_word(round(seen.distance))} back on average"


def jacobian_words(result: Diagnosis) -> str | None:
    """By which factor a step changes a squared gradient on average; None where that is not known."""
    spectrum = result.jacobian
    if spectrum is None:
        return None
    words = f"squared singular values of one step average {number(spectrum.one_step_mean)}"
    if not spectrum.theory.size or not np.isfinite(spectrum.theory[0]):
        return words
    return f"{words} (theory: {number(float(spectrum.theory[0]))})"


def context_words(found: ContextLoss) -> str:
    """How much of what they could read the answers need."""
    read = int(found.context[-1]) + 1
    if read > 1 and not found.helps:
        how = "no better" if found.loss[0] <= found.loss[-1] else "not clearly better"
        return f"the answers are {how} from {steps_word(read)} than from one"
    if found.used + 1 == read:
        return f"the answers need all {steps_word(read)} up to the first of them"
    return f"the answers use the last {found.used + 1:,} of {steps_word(read)} up to the first of them"


def growth_words(costs: TrainingCosts) -> str:
    """How memory grows over the last increase of the length."""
    if len(costs.steps) < 2 or costs.peak[-2] <= 0:
        return "memory"
    longer, more = float(costs.steps[-1] / costs.steps[-2]), float(costs.peak[-1] / costs.peak[-2])
    times = "twice" if longer == 2 else f"{number(longer, 2)} times"
    return f"{times} the length takes {number(more, 2)} times the memory"


def steps_word(count: int) -> str:
    """
    >>> steps_word(1), steps_word(1200)
    ('1 step', '1,200 steps')
    """
    return "1 step" if count == 1 else f"{count:,} steps"


def _times(fall: float) -> str:
    if 1 / _SAME < fall < _SAME:
        return "as much"
    return f"{number(fall, 2)} times less" if fall > 1 else f"{number(1 / fall, 2)} times more"


def _than(fall: float) -> str:
    return "as" if 1 / _SAME < fall < _SAME else "than"

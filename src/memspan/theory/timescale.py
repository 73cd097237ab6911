"""From the slope of a map to a timescale, a phase, and words for both."""

from __future__ import annotations

from typing import Any

import numpy as np

CRITICAL_WIDTH = 0.005
"""Within this of 1, chi_1 is called critical."""
INFINITE_WIDTH = 1e-9
"""Within this of 1, a slope is 1 as far as the numbers can tell."""


def timescale_of(chi: Any) -> Any:
    """-1 / log chi, in steps: a deviation falls by 1/e in so many steps.

    Infinite where chi is 1 (within 1e-9) or more, 0 where it is 0 or below.

    >>> round(timescale_of(0.9), 3), timescale_of(1.0), timescale_of(0.0)
    (9.491, inf, 0.0)
    """
    values = np.asarray(chi, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        finite = -1 / np.log(values)
    result = np.where(values >= 1 - INFINITE_WIDTH, np.inf, np.where(values <= 0, 0.0, finite))
    return result.item() if result.ndim == 0 else result


def kind_of(chi: float) -> str:
    """`finite`, `infinite` (chi is 1 or more) or `undefined` (chi is 0 or below, or no number).

    >>> kind_of(0.9), kind_of(1.0), kind_of(-0.1)
    ('finite', 'infinite', 'undefined')
    """
    if not chi > 0:
        return "undefined"
    return "infinite" if chi >= 1 - INFINITE_WIDTH else "finite"


def phase_of(chi1: Any) -> Any:
    """`ordered`, `critical` or `chaotic`, from the growth of a small distance per step.

    >>> phase_of(0.9928), phase_of(0.9988), phase_of(1.12)
    ('ordered', 'critical', 'chaotic')
    """
    values = np.asarray(chi1, np.float64)
    words = np.where(values < 1 - CRITICAL_WIDTH, "ordered", "critical")
    words = np.where(values > 1 + CRITICAL_WIDTH, "chaotic", words)
    return words.item() if words.ndim == 0 else words

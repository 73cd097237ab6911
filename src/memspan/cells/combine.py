"""s_t = h_{t-1} + c_t, the sum of the paper, or its half, the mean of the published program.  Kerg 2020, errata 13."""

from __future__ import annotations

from memspan.errors import InputError, suggestion

FACTORS = {"mean": 0.5, "sum": 1.0}
"""What h_{t-1} + c_t is multiplied with, by the name of the way to combine them."""


def check_combine(combine: str) -> None:
    """A way to combine the last state and what was found in memory."""
    if combine not in FACTORS:
        raise InputError(f"there is no combine={combine!r}; {suggestion(combine, FACTORS)}")

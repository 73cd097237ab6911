"""Builders for claims: near a value, above or below a bound, within standard errors; and the errors themselves."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from memspan.results import Claim, claim_near

ONE = 4.0
"""Standard errors that one measured value may be off: errors from 16 blocks are off by more in 1 of 900 cases."""
MANY = 5.0
"""The same for the worst of many values: one value is off by more in 1 of 6,000 cases."""
CONFIDENCE = 0.95
"""Confidence level of intervals over seeds."""


def claim_if(
    claim: str,
    measured: float | None,
    holds: object,
    *,
    measure: str = "",
    paper: float | None = None,
    corrected: float | None = None,
    tolerance: float | None = None,
) -> Claim:
    """A claim that holds if `holds` is true. `measure` says what the measured number is.

    A measured value that is None or not finite (for example because too little is above the noise floor) becomes None,
    and the claim does not hold.

    >>> claim_if("The dice are fair.", 0.17, True, measure="the share of sixes").claim
    'The dice are fair. (Measured: the share of sixes.)'
    """
    value = None if measured is None or not math.isfinite(measured) else float(measured)
    text = f"{claim} (Measured: {measure}.)" if measure else claim
    return Claim(text, paper, corrected, value, tolerance, value is not None and bool(holds))


def claim_above(
    claim: str, measured: float, bound: float, *, measure: str = "", paper: float | None = None
) -> Claim:
    """A claim that holds if `measured` > `bound`."""
    return claim_if(claim, measured, measured > bound, measure=measure, paper=paper)


def claim_below(
    claim: str, measured: float, bound: float, *, measure: str = "", paper: float | None = None
) -> Claim:
    """A claim that holds if `measured` < `bound`."""
    return claim_if(claim, measured, measured < bound, measure=measure, paper=paper)


def claim_between(
    claim: str,
    measured: float,
    *,
    least: float = -math.inf,
    most: float = math.inf,
    measure: str = "the ratio",
) -> Claim:
    """A claim that holds if `least` < `measured` < `most`."""
    return claim_if(claim, measured, least < measured < most, measure=measure)


def settled(claim: Claim) -> Claim:
    """The same claim; if its measured value is not finite, the value becomes None and the claim does not hold."""
    return claim_if(
        claim.claim,
        claim.measured,
        claim.holds,
        paper=claim.paper,
        corrected=claim.corrected,
        tolerance=claim.tolerance,
    )


def claim_within_errors(claim: str, measured: ArrayLike, expected: ArrayLike, error: ArrayLike) -> Claim:
    """A claim whose measured number is the largest deviation, in standard errors; it holds up to `MANY` of them.

    >>> claim_within_errors("The dice are fair.", [0.17], [1 / 6], [0.01]).holds
    True
    """
    worst = deviation(measured, expected, error)
    return claim_near(
        f"{claim} (Measured: the largest deviation in standard errors.)", worst, MANY, corrected=0.0
    )


def deviation(measured: ArrayLike, expected: ArrayLike, error: ArrayLike) -> float:
    """max |measured - expected| / error, over all values.

    >>> deviation([0.1, 0.2], [0.1, 0.4], [0.1, 0.1])
    2.0
    """
    difference = np.asarray(measured, np.float64) - np.asarray(expected, np.float64)
    return float(np.max(np.abs(difference) / np.asarray(error, np.float64)))


def error_of_mean(values: ArrayLike) -> float:
    """The standard error of a mean over seeds; 0 where there is one seed, whose scatter nobody knows.

    >>> error_of_mean([1.0, 2.0, 3.0]) == 1 / np.sqrt(3), error_of_mean([1.0])
    (np.True_, 0.0)
    """
    found = np.asarray(values, np.float64)
    return float(found.std(ddof=1) / np.sqrt(found.size)) if found.size > 1 else 0.0


def reach_of_mean(values: ArrayLike) -> float:
    """Half of the 95 % interval of a mean over seeds, by Student's t; 0 where there is one seed.

    Of three seeds it is 4.3 standard errors, of ten 2.3.

    >>> round(reach_of_mean([1.0, 2.0, 3.0]), 3), reach_of_mean([1.0])
    (2.484, 0.0)
    """
    found = np.asarray(values, np.float64)
    return _sure(found.size - 1) * error_of_mean(found) if found.size > 1 else 0.0


def reach_of_difference(some: ArrayLike, others: ArrayLike) -> float:
    """The same of the difference of two means whose seeds have nothing to do with each other, as Welch 1947 has it.

    >>> round(reach_of_difference([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]), 3)  # 4 degrees of freedom
    2.267
    """
    sizes = np.array([np.size(some), np.size(others)])
    squares = np.array([error_of_mean(some) ** 2, error_of_mean(others) ** 2])
    if not squares.any():
        return 0.0
    freedom = squares.sum() ** 2 / (squares**2 / np.maximum(sizes - 1, 1)).sum()
    return _sure(float(freedom)) * float(np.sqrt(squares.sum()))


def _sure(freedom: float) -> float:
    return float(stdtrit(freedom, (1 + CONFIDENCE) / 2))

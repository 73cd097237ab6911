"""Claims: a sentence compared with a measured value; and the errors that such values have."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import SupportsFloat, final

import numpy as np
from numpy.typing import ArrayLike

from memspan.results import Claim
from memspan.statistics import student_margin

# Standard errors that one measured value may be off: errors from 16 blocks are off by more in 1 of 900 cases.
ONE = 4.0
# The same for the worst of many values: one value is off by more in 1 of 6,000 cases.
MANY = 5.0


def claim(text: str, measure: str = "", *, ours: bool = False) -> Statement:
    """A sentence to be checked; `measure` says what the measured number is, `ours` that the source does not state it.

    >>> claim("The dice are fair.", "the fraction of sixes").near(0.17, 0.01, paper=1 / 6)
    Claim(claim='The dice are fair. (Measured: the fraction of sixes.)', paper=0.16666666666666666, corrected=None, \
measured=0.17, tolerance=0.01, holds=True, ours=False, untestable='')
    """
    return Statement(f"{text} (Measured: {measure}.)" if measure else text, ours)


@final
@dataclass(frozen=True)
class Statement:
    """The sentence of a claim. Each method compares it with a measured value in one way.

    A measured value that is None or not finite (for example because too little is above the noise floor) becomes None,
    and the claim does not hold.
    """

    text: str
    ours: bool = False

    def near(
        self,
        measured: SupportsFloat,
        tolerance: SupportsFloat,
        *,
        paper: SupportsFloat | None = None,
        corrected: SupportsFloat | None = None,
    ) -> Claim:
        """It holds if `measured` is within `tolerance` of `corrected`, or of `paper` where that is right.

        A claim about a corrected value is our own.
        """
        expected = paper if corrected is None else corrected
        if expected is None:
            raise ValueError("a claim about a value needs the paper's value or the corrected one")
        holds = abs(float(measured) - float(expected)) <= float(tolerance)
        own = Statement(self.text, self.ours or corrected is not None)
        return own.holds_if(measured, holds, paper=paper, corrected=corrected, tolerance=tolerance)

    def above(self, measured: SupportsFloat, bound: float, *, paper: SupportsFloat | None = None) -> Claim:
        """It holds if `measured` > `bound`."""
        return self.holds_if(measured, float(measured) > bound, paper=paper)

    def below(self, measured: SupportsFloat, bound: float, *, paper: SupportsFloat | None = None) -> Claim:
        """It holds if `measured` < `bound`."""
        return self.holds_if(measured, float(measured) < bound, paper=paper)

    def between(
        self,
        measured: SupportsFloat,
        *,
        least: float = -math.inf,
        most: float = math.inf,
        paper: SupportsFloat | None = None,
    ) -> Claim:
        """It holds if `least` < `measured` < `most`."""
        return self.holds_if(measured, least < float(measured) < most, paper=paper)

    def within_errors(self, measured: ArrayLike, expected: ArrayLike, error: ArrayLike) -> Claim:
        """The measured number is the largest deviation, in standard errors; it holds up to `MANY` of them.

        >>> claim("The dice are fair.").within_errors([0.17], [1 / 6], [0.01]).holds
        True
        """
        largest, found = (
            claim(self.text, "the largest deviation in standard errors", ours=self.ours),
            deviation(measured, expected, error),
        )
        return largest.holds_if(found, found <= MANY, corrected=0.0, tolerance=MANY)

    def holds_if(
        self,
        measured: SupportsFloat | None,
        holds: object,
        *,
        paper: SupportsFloat | None = None,
        corrected: SupportsFloat | None = None,
        tolerance: SupportsFloat | None = None,
    ) -> Claim:
        """It holds if `holds` is true."""
        value = None if measured is None or not math.isfinite(measured) else float(measured)
        paper, corrected, tolerance = (None if x is None else float(x) for x in (paper, corrected, tolerance))
        return Claim(self.text, paper, corrected, value, tolerance, value is not None and bool(holds), self.ours)


def deviation(measured: ArrayLike, expected: ArrayLike, error: ArrayLike) -> float:
    """max |measured - expected| / error, over all values.

    >>> deviation([0.1, 0.2], [0.1, 0.4], [0.1, 0.1])
    2.0
    """
    difference = np.asarray(measured, np.float64) - np.asarray(expected, np.float64)
    return float(np.max(np.abs(difference) / np.asarray(error, np.float64)))


def reach_of_mean(values: ArrayLike) -> float:
    """Half of the 95 % interval of a mean over seeds, by Student's t; 0 where there is one seed.

    Of three seeds it is 4.3 standard errors, of ten 2.3.

    >>> round(reach_of_mean([1.0, 2.0, 3.0]), 3), reach_of_mean([1.0])
    (2.484, 0.0)
    """
    return float(np.nan_to_num(student_margin(values)))

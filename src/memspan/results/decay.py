"""What `fit_decay` returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.results.display import Notebook
from memspan.results.encoding import JsonResult

# A law does not fit if its residuals would be as large with less than this probability.
#
# Chosen by calibration together with `LARGEST_MISFIT`. The best law was accepted for all of 600 samples of ten sources that
# follow one of the six laws exactly (60 seeds each, 160,000 to 1 M symbols), and for 415 of 420 with errors as small as the
# jackknife alone makes them. It was rejected for 60 of 60 and 52 of 60 samples of a sum of two exponentials (lengths about 1
# and 250, 1 M symbols; 1 and 25, 300,000 symbols), and for all of 120 samples of the noisy cycles aabab and abc.
# Weaker periods may pass this test; they are found by their peaks instead.
LACK_OF_FIT = 0.02
# A law does not fit if it misses the points by more than this number of standard errors in some range of lags.
#
# In samples of true laws the root mean square stays below 1.5. The bound catches structure finer than the bands of the
# lack-of-fit test.
LARGEST_MISFIT = 3.0


@final
@dataclass(frozen=True)
class LawFit:
    """One law fitted to a curve.

    | field | meaning |
    |---|---|
    | `parameters` | by name |
    | `intervals` | 95 % intervals from refits on jackknife replicates; where the law does not fit, `misfit` times as wide |
    | `aicc` | from generalized least squares |
    | `weight` | this law's share of the AICc weights of all laws fitted |
    | `misfit` | root mean square distance of the points from the law, in standard errors; about 1 or less if it holds |
    | `p_value` | of the lack-of-fit test; None in results of version 0.1 |
    | `decays` | whether the law falls from the first fitted lag to the last by more than its error |
    | `local_misfit` | `misfit` within the range of lags (1-10, 10-100, …) where it is largest |
    """

    parameters: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    aicc: float
    weight: float
    misfit: float
    p_value: float | None = None
    decays: bool = True
    local_misfit: float | None = None

    @property
    def fits(self) -> bool:
        """Whether the law decays and its residuals are explained by the errors of the curve."""
        explained = self.p_value is None or self.p_value >= LACK_OF_FIT
        misfit = self.misfit if self.local_misfit is None else self.local_misfit
        return self.decays and explained and misfit <= LARGEST_MISFIT


@final
@dataclass(frozen=True)
class LocalExponent:
    """gamma of A tau^-gamma fitted between the lags `first` and `last` only, with its 95 % interval."""

    first: int
    last: int
    exponent: float
    interval: tuple[float, float]


@final
@dataclass(frozen=True, eq=False, repr=False)
class DecayFit(JsonResult, Notebook):
    """Every law fitted to one curve, by name, the lags used, and the local exponents by range of lags."""

    laws: dict[str, LawFit]
    lags: NDArray[np.int64]
    local_exponents: tuple[LocalExponent, ...] = ()

    def _summary(self) -> str:
        if not self.laws:
            return "no laws"
        best = self.laws[self.best]
        parameters = ", ".join(f"{name} {value:.4g}" for name, value in best.parameters.items())
        return f"best {self.best}: {parameters}; {len(self.laws)} laws over {self.lags.size:,} lags"

    @property
    def best(self) -> str:
        """Name of the law with the largest AICc weight, among those that decay if any does. It may not fit."""
        decaying = [name for name in self.laws if self.laws[name].decays]
        return max(decaying or self.laws, key=lambda name: self.laws[name].weight)

    @property
    def fits(self) -> bool:
        """Whether the best law fits; if not, the local exponents describe the curve better."""
        return self.laws[self.best].fits

    def __getitem__(self, name: str) -> LawFit:
        return self.laws[name]

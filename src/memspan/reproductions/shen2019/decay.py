"""By which law what was written forgets: the best one, exponential against power law, and the correlation length."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from memspan.decay import LAWS, fit_decay
from memspan.errors import EvidenceError
from memspan.information import log_lags
from memspan.results import Claim, Curve, DecayFit, LawFit

FEWEST = 4
"""Values for a straight line."""
TAIL = 10
"""From here on a tail is looked at: what is nearer has a law of its own in most texts."""


@final
@dataclass(frozen=True)
class Length:
    """The correlation length xi of I_0 exp(-tau / xi), in symbols, with its 95 % interval."""

    value: float
    interval: tuple[float, float]

    @classmethod
    def of(cls, curve: Curve, above: float) -> Length | None:
        """A straight line through the logarithms of all values above a level, each lag counting the same.

        Shen 2019 does not say how it is fitted; this gives the paper's 420 for its data at every lag up to 500. The interval
        is the jackknife's. None where fewer than four values are above, or where they do not fall.
        """
        use = curve.significant & (curve.corrected > above)
        if use.sum() < FEWEST:
            return None
        slope = _slope(curve.lags[use], curve.corrected[use])
        left_out = np.fmax(curve.corrected + curve.replicates, above / 10)[:, use]
        slopes = np.array([_slope(curve.lags[use], values) for values in left_out])
        blocks = len(slopes)
        error = float(np.sqrt((blocks - 1) / blocks * ((slopes - slopes.mean()) ** 2).sum()))
        margin = float(stdtrit(blocks - 1, 0.975)) * error
        if slope >= 0:
            return None
        low = -1 / (slope - margin)
        high = -1 / (slope + margin) if slope + margin < 0 else math.inf
        return cls(-1 / slope, (low, high))


def _slope(lags: NDArray[np.int64], values: NDArray[np.float64]) -> float:
    return float(np.polyfit(lags, np.log(values), 1)[0])


@final
@dataclass(frozen=True, eq=False)
class Laws:
    """How a curve falls: all laws, the exponential against the power law far away, and the correlation length."""

    all: DecayFit | None
    """None: too few lags above the floor"""
    tail: DecayFit | None
    """The exponential and the power law at lags from `TAIL` on"""
    straight: Length | None

    @classmethod
    def of(cls, curve: Curve, above: float) -> Laws:
        """`above` is in nats; Shen 2019 takes 1e-3 for binary sequences and 2e-3 for text.

        Laws are fitted at lags that are evenly spaced on a logarithmic axis, the correlation length at all.
        """
        two = [LAWS["exponential"], LAWS["power"]]
        thin = thinned(curve)
        return cls(
            _fitted(lambda: fit_decay(thin)),
            _fitted(lambda: fit_decay(thin, two, first=TAIL)),
            Length.of(curve, above),
        )

    @property
    def length(self) -> float:
        """xi in symbols; NaN where too little is above the level."""
        return math.nan if self.straight is None else self.straight.value

    @property
    def interval(self) -> tuple[float, float]:
        """Of 95 %."""
        return (math.nan, math.nan) if self.straight is None else self.straight.interval

    @property
    def exponential_share(self) -> float:
        """The AICc weight of the exponential law when there is the power law only beside it; NaN without both."""
        return _share(self.all)

    @property
    def tail_share(self) -> float:
        """The same at lags from `TAIL` on."""
        return _share(self.tail)

    def __str__(self) -> str:
        low, high = self.interval
        length = (
            "xi not found" if self.straight is None else f"xi = {self.length:.3g} [{low:.3g}, {high:.3g}]"
        )
        if self.all is None:
            return f"{length}; too few lags above the floor for a law"
        best = self.all.best
        shares = [
            f"{share:.2g} {where}"
            for where, share in (("overall", self.exponential_share), (f"from {TAIL} on", self.tail_share))
            if not math.isnan(share)
        ]
        beside = f"; exponential against power law {', '.join(shares)}" if shares else ""
        return f"{length}; best law {best} with weight {self.all[best].weight:.2g}{beside}"


def thinned(curve: Curve) -> Curve:
    """The same curve at lags that are evenly spaced on a logarithmic axis."""
    return curve.select(np.isin(curve.lags, log_lags(1, int(curve.lags[-1]))))


def exponential_between(curve: Curve, distances: tuple[int, int]) -> float:
    """The AICc weight of the exponential law with the power law alone beside it, at some lags; NaN with too few of them."""
    return _share(_between(curve, distances))


def power_between(curve: Curve, distances: tuple[int, int]) -> LawFit | None:
    """A power law at some lags; None with too few of them."""
    return _law(_between(curve, distances), "power")


def _between(curve: Curve, distances: tuple[int, int]) -> DecayFit | None:
    (first, last), two = distances, [LAWS["exponential"], LAWS["power"]]
    return _fitted(lambda: fit_decay(thinned(curve), two, first=first, last=last))


def _share(fit: DecayFit | None) -> float:
    exponential, power = _law(fit, "exponential"), _law(fit, "power")
    if exponential is None or power is None:
        return math.nan
    return float(1 / (1 + np.exp(np.clip((exponential.aicc - power.aicc) / 2, -700, 700))))


def _fitted(fit: Callable[[], DecayFit]) -> DecayFit | None:
    try:
        return fit()
    except EvidenceError:
        return None


def _law(fit: DecayFit | None, name: str) -> LawFit | None:
    return None if fit is None else fit.laws.get(name)


def share_claim(claim: str, share: float, whose: str, least: float = 0.5) -> Claim:
    """A claim about which of two laws describes a curve better."""
    said = f"{claim} (Measured: the {whose} share of the AICc weight of the two.)"
    return settled(Claim(said, None, None, share, None, share > least))


def ratio_claim(
    claim: str, measured: float, *, least: float | None = None, most: float | None = None
) -> Claim:
    """A claim about the ratio of two lengths or informations."""
    holds = (least is None or measured > least) and (most is None or measured < most)
    return settled(Claim(f"{claim} (Measured: the ratio.)", None, None, measured, None, holds))


def settled(claim: Claim) -> Claim:
    """Where too little stood above the floor for a number there is none, and the claim does not hold."""
    if claim.measured is not None and math.isfinite(claim.measured):
        return claim
    return replace(claim, measured=None, holds=False)

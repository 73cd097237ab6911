"""By which law what was written forgets: the best one, exponential against power law, and the correlation length."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from memspan.decay import LAWS, fit_decay
from memspan.errors import EvidenceError
from memspan.results import Claim, Curve, DecayFit, LawFit

TAIL = 10
"""From here on a tail is looked at: what is nearer has a law of its own in most texts."""


@final
@dataclass(frozen=True, eq=False)
class Laws:
    """How a curve falls: all laws, and the correlation length xi of I_0 exp(-tau / xi) where it is above a level."""

    all: DecayFit | None
    """None: too few lags above the floor"""
    tail: DecayFit | None
    """The exponential and the power law at lags from `TAIL` on"""
    exponential: LawFit | None

    @classmethod
    def of(cls, curve: Curve, above: float) -> Laws:
        """`above` is in nats; Shen 2019 takes 1e-3 for binary sequences and 2e-3 for text."""
        two = [LAWS["exponential"], LAWS["power"]]
        return cls(
            _fitted(lambda: fit_decay(curve)),
            _fitted(lambda: fit_decay(curve, two, first=TAIL)),
            _law(_fitted(lambda: fit_decay(curve, two[:1], above=above)), "exponential"),
        )

    @property
    def length(self) -> float:
        """xi in symbols; NaN where too little is above the level."""
        return math.nan if self.exponential is None else self.exponential.parameters["length"]

    @property
    def interval(self) -> tuple[float, float]:
        """Of 95 %."""
        return (math.nan, math.nan) if self.exponential is None else self.exponential.intervals["length"]

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
            "xi not found" if self.exponential is None else f"xi = {self.length:.3g} [{low:.3g}, {high:.3g}]"
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


def share_claim(claim: str, share: float, whose: str) -> Claim:
    """A claim about which of two laws describes a curve better."""
    said = f"{claim} (Measured: the {whose} share of the AICc weight of the two.)"
    return settled(Claim(said, None, None, share, None, share > 0.5))


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

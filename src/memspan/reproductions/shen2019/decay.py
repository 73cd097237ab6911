"""How curves decay: correlation length, exponential or power law, ratios of two curves; and claims about these."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.decay import LAWS, fit_decay
from memspan.errors import EvidenceError
from memspan.information import log_lags
from memspan.reproductions.claims import claim
from memspan.results import Claim, Curve, DecayFit, LawFit
from memspan.statistics import jackknife_error, student_quantile

Lags = tuple[int, int]
"""First and last, in symbols."""
# A straight line with an interval needs at least four values.
FEWEST = 4
# The tail begins at this lag; shorter lags follow a law of their own in most texts.
TAIL = 10


@final
@dataclass(frozen=True)
class CorrelationLength:
    """The correlation length xi of I_0 exp(-tau / xi), in symbols, with its 95 % interval."""

    value: float
    interval: tuple[float, float]

    @classmethod
    def of(cls, curve: Curve, above: float) -> CorrelationLength | None:
        """Fit a straight line to the logarithms of all values above a level, with equal weights.

        Shen 2019 does not say how xi is fitted; this gives the paper's 420 for its data at every lag up to 500. The
        interval is that of the jackknife. None if fewer than four values are above the level, or if they do not fall.
        """
        use = curve.significant & (curve.corrected > above)
        if use.sum() < FEWEST:
            return None
        slope = _slope(curve.lags[use], curve.corrected[use])
        # A replicate may fall below zero; a tenth of the level keeps its logarithm finite.
        left_out = np.fmax(curve.corrected + curve.replicates, above / 10)[:, use]
        slopes = np.array([_slope(curve.lags[use], values) for values in left_out])
        margin = student_quantile(len(slopes) - 1) * float(jackknife_error(slopes))
        if slope >= 0:
            return None
        low = -1 / (slope - margin)
        high = -1 / (slope + margin) if slope + margin < 0 else math.inf
        return cls(-1 / slope, (low, high))


def _slope(lags: NDArray[np.int64], values: NDArray[np.float64]) -> float:
    return float(np.polyfit(lags, np.log(values), 1)[0])


@final
@dataclass(frozen=True, eq=False)
class CurveDecay:
    """The decay of one curve: all laws, the exponential against the power law in the tail, and the correlation length."""

    all: DecayFit | None
    """None if too few lags are above the floor."""
    tail: DecayFit | None
    """The exponential and the power law at lags from `TAIL` on."""
    correlation: CorrelationLength | None

    @classmethod
    def of(cls, curve: Curve, above: float) -> CurveDecay:
        """Fit a curve. `above` is in nats; Shen 2019 uses 1e-3 for binary sequences and 2e-3 for text.

        Laws are fitted at log-spaced lags, the correlation length at all lags.
        """
        return cls(
            _fitted(lambda: fit_decay(thinned(curve))), _two_laws(curve, TAIL), CorrelationLength.of(curve, above)
        )

    @property
    def length(self) -> float:
        """xi in symbols; NaN if too little is above the level."""
        return math.nan if self.correlation is None else self.correlation.value

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of xi."""
        return (math.nan, math.nan) if self.correlation is None else self.correlation.interval

    @property
    def exponential_weight(self) -> float:
        """The AICc weight of the exponential against the power law alone; NaN without both."""
        return _exponential_weight(self.all)

    @property
    def tail_weight(self) -> float:
        """The same at lags from `TAIL` on."""
        return _exponential_weight(self.tail)

    def __str__(self) -> str:
        low, high = self.interval
        length = "xi not found" if self.correlation is None else f"xi = {self.length:.3g} [{low:.3g}, {high:.3g}]"
        if self.all is None:
            return f"{length}; too few lags above the floor for a law"
        best = self.all.best
        weights = [
            f"{weight:.2g} {where}"
            for where, weight in (("overall", self.exponential_weight), (f"from lag {TAIL} on", self.tail_weight))
            if not math.isnan(weight)
        ]
        against = f"; exponential against power law {', '.join(weights)}" if weights else ""
        return f"{length}; best law {best} with weight {self.all[best].weight:.2g}{against}"


def thinned(curve: Curve) -> Curve:
    """The same curve at log-spaced lags."""
    return curve.select(np.isin(curve.lags, log_lags(1, int(curve.lags[-1]))))


def exponential_between(curve: Curve, lags: Lags) -> float:
    """The AICc weight of the exponential against the power law alone, between two lags; NaN if there are too few."""
    return _exponential_weight(_two_laws(curve, *lags))


def power_between(curve: Curve, lags: Lags) -> LawFit | None:
    """A power law between two lags; None if there are too few."""
    fit = _two_laws(curve, *lags)
    return None if fit is None else fit.laws.get("power")


def _two_laws(curve: Curve, first: int, last: int | None = None) -> DecayFit | None:
    two = [LAWS["exponential"], LAWS["power"]]
    return _fitted(lambda: fit_decay(thinned(curve), two, first=first, last=last))


def _fitted(fit: Callable[[], DecayFit]) -> DecayFit | None:
    try:
        return fit()
    except EvidenceError:
        return None


def _exponential_weight(fit: DecayFit | None) -> float:
    if fit is None or not {"exponential", "power"} <= set(fit.laws):
        return math.nan
    difference = (fit.laws["exponential"].aicc - fit.laws["power"].aicc) / 2
    return float(1 / (1 + np.exp(np.clip(difference, -700, 700))))


def law_claim(text: str, weight: float, law: str, least: float = 0.5) -> Claim:
    """A claim about which of two laws describes a curve better: it holds if `weight` is above `least`."""
    return claim(text, f"the AICc weight of the {law} against the other law").above(weight, least)


# --- Ratios of two curves or lengths


@final
@dataclass(frozen=True)
class Ratio:
    """A ratio with its 95 % interval; NaN if too little is above the noise floor."""

    value: float
    interval: tuple[float, float]


UNKNOWN = Ratio(math.nan, (math.nan, math.nan))


def mean_ratio(curve: Curve, expected: NDArray[np.float64], use: NDArray[np.bool_]) -> float:
    """Information of a curve / expected information, in the geometric mean over the lags in `use`.

    A value that is not visible counts as the standard deviation of its floor. NaN without lags.
    """
    if not use.any():
        return math.nan
    own = np.maximum(curve.corrected, curve.floor_sd)[use]
    return float(np.exp(np.mean(np.log(own / expected[use]))))


def information_ratio(generated: Curve, text: Curve, lags: Lags) -> Ratio:
    """Information of a generated text / information of a text, in the geometric mean between two lags.

    Only lags at which that of the text is significant count. The interval is that of the logarithm, from the jackknife of
    both curves and the standard deviation of their floors.
    """
    use = (text.lags >= lags[0]) & (text.lags <= lags[1]) & text.significant & (text.corrected > 0)
    if not use.any():
        return UNKNOWN
    value = mean_ratio(generated, text.corrected, use)
    own = np.maximum(generated.corrected, generated.floor_sd)
    error = math.hypot(_log_error(generated, own, use), _log_error(text, text.corrected, use))
    margin = student_quantile(min(len(generated.replicates), len(text.replicates)) - 1) * error
    # exp(700) is the largest power of e that is finite.
    return Ratio(value, (value * math.exp(-margin), value * math.exp(min(margin, 700.0))))


def total_ratio(generated: Curve, text: Curve, lags: Lags) -> Ratio:
    """Information of a generated text / information of a text, as sums over the lags between two.

    For lags at which the generated text may have no information at all, so that its logarithms would be those of noise.
    """
    use = (text.lags >= lags[0]) & (text.lags <= lags[1]) & text.significant & (text.corrected > 0)
    if not use.any():
        return UNKNOWN
    (own, own_error), (other, other_error) = (_total(curve, use) for curve in (generated, text))
    value = own / other
    margin = student_quantile(min(len(generated.replicates), len(text.replicates)) - 1) * math.hypot(
        own_error / other, value * other_error / other
    )
    return Ratio(value, (value - margin, value + margin))


def _total(curve: Curve, use: NDArray[np.bool_]) -> tuple[float, float]:
    """The sum of some corrected values, and its standard error."""
    error = math.hypot(
        float(jackknife_error(curve.replicates[:, use].sum(axis=1))), float(np.linalg.norm(curve.floor_sd[use]))
    )
    return float(curve.corrected[use].sum()), error


def _log_error(curve: Curve, values: NDArray[np.float64], use: NDArray[np.bool_]) -> float:
    """The standard error of the mean logarithm of some values of a curve."""
    weights = 1 / (values[use] * use.sum())
    left_out = curve.replicates[:, use] @ weights
    return math.hypot(float(jackknife_error(left_out)), float(np.linalg.norm(curve.floor_sd[use] * weights)))


def length_ratio(own: CurveDecay, other: CurveDecay) -> Ratio:
    """The ratio of two correlation lengths; the logarithms of their intervals add as independent errors."""
    if own.correlation is None or other.correlation is None:
        return UNKNOWN
    (low, high), (least, most) = own.interval, other.interval
    value = own.length / other.length
    down = math.hypot(math.log(own.length / low), math.log(most / other.length))
    up = math.hypot(math.log(high / own.length), math.log(other.length / least))
    return Ratio(value, (value * math.exp(-down), value * math.exp(up)))


def largest(ratios: Iterable[Ratio]) -> Ratio:
    """The largest known ratio."""
    known = [ratio for ratio in ratios if not math.isnan(ratio.value)]
    return max(known, key=lambda ratio: ratio.value, default=UNKNOWN)


def ratio_claim(
    text: str, ratio: Ratio, *, least: float = -math.inf, most: float = math.inf, paper: float | None = None
) -> Claim:
    """A claim that holds if the whole interval is above `least` and below `most`.

    >>> ratio_claim("It is longer.", Ratio(1.2, (0.9, 1.6)), least=1.0).holds
    False
    """
    if math.isnan(ratio.value):
        unknown = claim(f"{text} (Not measured: too little is above the noise floor.)")
        return unknown.holds_if(None, holds=False, paper=paper)
    low, high = ratio.interval
    measure = f"the ratio; it holds if the whole 95 % interval, {low:.3g} to {high:.3g}, satisfies it"
    return claim(text, measure).holds_if(ratio.value, least < low and high < most, paper=paper)

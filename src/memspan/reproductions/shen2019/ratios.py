"""How many times one information or correlation length is another, with its interval, and claims that know this noise."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from memspan.reproductions.shen2019.decay import Laws, settled
from memspan.reproductions.shen2019.generated import share
from memspan.results import Claim, Curve

Distances = tuple[int, int]
"""From, to, in symbols."""


@final
@dataclass(frozen=True)
class Times:
    """So many times, with the 95 % interval; NaN where too little stands above the floor."""

    value: float
    interval: tuple[float, float]


NONE = Times(math.nan, (math.nan, math.nan))


def times_information(written: Curve, text: Curve, distances: Distances) -> Times:
    """How many times the information of a text another has, in the geometric mean over some distances.

    Only those where that of the text is significant. The interval is that of the logarithm, by the jackknife of both and by
    how much their floors scatter.
    """
    first, last = distances
    use = (text.lags >= first) & (text.lags <= last) & text.significant & (text.corrected > 0)
    if not use.any():
        return NONE
    value = share(written, text.corrected, use)
    own = np.maximum(written.corrected, written.floor_sd)
    error = math.hypot(_log_error(written, own, use), _log_error(text, text.corrected, use))
    margin = float(stdtrit(min(len(written.replicates), len(text.replicates)) - 1, 0.975)) * error
    return Times(value, (value * math.exp(-margin), value * math.exp(min(margin, 700.0))))


def _log_error(curve: Curve, values: NDArray[np.float64], use: NDArray[np.bool_]) -> float:
    """The standard error of the mean logarithm of some values of a curve."""
    weights = 1 / (values[use] * use.sum())
    left_out = curve.replicates[:, use] @ weights
    blocks = len(left_out)
    jackknife = math.sqrt((blocks - 1) / blocks * ((left_out - left_out.mean()) ** 2).sum())
    return math.hypot(jackknife, float(np.linalg.norm(curve.floor_sd[use] * weights)))


def times_length(own: Laws, other: Laws) -> Times:
    """The quotient of two correlation lengths; logarithms of their intervals add as independent errors do."""
    if own.straight is None or other.straight is None:
        return NONE
    (low, high), (least, most) = own.interval, other.interval
    value = own.length / other.length
    down = math.hypot(math.log(own.length / low), math.log(most / other.length))
    up = math.hypot(math.log(high / own.length), math.log(other.length / least))
    return Times(value, (value * math.exp(-down), value * math.exp(up)))


def longest(times: Iterable[Times]) -> Times:
    """The largest that there is."""
    return max(
        (each for each in times if not math.isnan(each.value)), key=lambda each: each.value, default=NONE
    )


def times_claim(claim: str, times: Times, *, least: float = -math.inf, most: float = math.inf) -> Claim:
    """A claim that holds where all of the interval is above `least` and below `most`.

    >>> times_claim("It is longer.", Times(1.2, (0.9, 1.6)), least=1.0).holds
    False
    """
    low, high = times.interval
    said = f"{claim} (Measured: how many times; it holds if all of the 95 % interval, {low:.3g} to {high:.3g}, says so.)"
    if math.isnan(times.value):
        said = f"{claim} (Not measured: too little stands above the floor.)"
    return settled(Claim(said, None, None, times.value, None, least < low and high < most))

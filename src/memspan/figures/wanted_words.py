"""The value to set, and the region in which every value will do: rounded so that what is printed still does."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

from memspan.figures.numbers import trimmed
from memspan.figures.prediction_words import steps_words
from memspan.results import TimescaleTarget


@final
@dataclass(frozen=True)
class Advice:
    """`value` to set and the words for its region, both rounded towards the inside of the region."""

    value: str
    region: str


def advice(wanted: TimescaleTarget) -> Advice:
    """What to set.

    >>> broad = TimescaleTarget(340.0, "bias_mean", 7.0934, 340.0, 7.0934, None, (-10.0, 20.0), "novel.txt")
    >>> advice(broad)
    Advice(value='7.1', region='every value above it will do')
    >>> narrow = TimescaleTarget(20.0, "sigma_w", 0.98, 24.0, 0.97, 0.99, (0.0, 20.0), "--timescale")
    >>> advice(narrow)
    Advice(value='0.98', region='good from 0.97 to 0.99')
    """
    if wanted.low is not None and wanted.high is not None and wanted.high <= wanted.low:
        return Advice(trimmed(wanted.value, 6), "no other value will do")
    decimals = _decimals(wanted)
    low = None if wanted.low is None else _rounded(wanted.low, decimals, up=True)
    high = None if wanted.high is None else _rounded(wanted.high, decimals, up=False)
    value = round(wanted.value, decimals)
    value = value if low is None else max(value, low)
    value = value if high is None else min(value, high)
    return Advice(_text(value, decimals), _region(value, low, high, decimals, wanted))


def _region(
    value: float, low: float | None, high: float | None, decimals: int, wanted: TimescaleTarget
) -> str:
    if low is not None and high is not None:
        return f"good from {_text(low, decimals)} to {_text(high, decimals)}"
    if low is not None:
        return "every value above it will do" if low == value else f"good from {_text(low, decimals)} on"
    if high is not None:
        return "every value below it will do" if high == value else f"good up to {_text(high, decimals)}"
    return f"every value from {trimmed(wanted.searched[0])} to {trimmed(wanted.searched[1])} will do"


def _decimals(wanted: TimescaleTarget) -> int:
    """Decimals that show half the region's breadth, or two digits of the value where it has no end."""
    if wanted.low is not None and wanted.high is not None:
        breadth = (wanted.high - wanted.low) / 2
        return min(9, max(1, -math.floor(math.log10(breadth) + 1e-9)))
    size = abs(wanted.value)
    return 2 if size == 0 else min(9, max(2, 1 - math.floor(math.log10(size))))


def _rounded(value: float, decimals: int, *, up: bool) -> float:
    """Up or down, except that a value which is already round stays."""
    scaled = value * 10**decimals
    whole = math.ceil(scaled - 1e-6) if up else math.floor(scaled + 1e-6)
    return round(whole / 10**decimals, decimals)


def _text(value: float, decimals: int) -> str:
    text = f"{value + 0.0:,.{decimals}f}"  # adding zero takes the sign off a negative zero
    return text.rstrip("0").rstrip(".") if "." in text else text


def reached_words(wanted: TimescaleTarget) -> str:
    """How long signals last at the value to set.

    >>> reached_words(TimescaleTarget(340.0, "bias_mean", 40.0, None, 7.0934, None, (-10.0, 40.0), "novel.txt"))
    'no end'
    """
    return "no end" if wanted.reached is None else steps_words(wanted.reached)

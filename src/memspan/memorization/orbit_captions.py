"""What one sees in the drawings of a network, in words; told without running it."""

from __future__ import annotations

from math import gcd

from memspan.results import Memorization

MOST_PLANES = 4
"""A state that turns in more planes than this is drawn in the first ones."""


def caption_of(memorization: Memorization) -> str:
    """The caption that all drawings of one network share."""
    if memorization.hidden_size == 1:
        return _number(memorization)
    if memorization.hidden_size == 2:
        return _plane(memorization)
    return _shadows(memorization) if memorization.frequencies else _ring(memorization)


def _number(memorization: Memorization) -> str:
    caption = (
        "The value of the one hidden unit at every place of the period. Each band of values belongs to the symbol whose "
        "score is the greatest there, and that symbol, which stands in the point, is written next."
    )
    if memorization.method != "feedback" or len(memorization.alphabet) == 1:
        return caption
    caption += " Each symbol, once written, is taken out of the number, and the rest is magnified: the next comes first."
    if memorization.repeats:
        caption += " A symbol that occurs once in the period also brings the whole number back, so the string begins again."
    return caption


def _plane(memorization: Memorization) -> str:
    return (
        f"The state of the network, two numbers, at the {memorization.period:,} places of the period. Each point shows the "
        "symbol that is written there and, outside, its place; lines lead from each place to the next, and the last leads "
        "back to the first. In each coloured region one symbol has the greatest score."
    )


def _shadows(memorization: Memorization) -> str:
    p, frequencies = memorization.period, memorization.frequencies
    turning = [frequency for frequency in frequencies if 2 * frequency != p]
    planes = len(turning)
    caption = (
        f"The state has {memorization.hidden_size} numbers and turns in {planes} "
        f"{'plane' if planes == 1 else 'planes at once'}. Each point shows the symbol that is written there and, outside, "
        "its place in the period; lines lead from each place to the next. Which symbol is written depends on all "
        "hidden units together, so no regions are drawn"
    )
    if planes < len(frequencies):
        caption += "; one more hidden unit changes its sign at every step"
    if any(gcd(frequency, p) > 1 for frequency in turning):
        caption += "; a white point stands for several places that differ in their symbols"
    if planes > MOST_PLANES:
        left = planes - MOST_PLANES
        caption += f"; {left} more {'plane is' if left == 1 else 'planes are'} not shown"
    return caption + "."


def _ring(memorization: Memorization) -> str:
    d = memorization.hidden_size
    return (
        f"At each place of the period one of {d:,} hidden units is 1 and the others are 0; W_h, a permutation, passes the "
        "1 on. The picture is the projection of these states on the plane in which the permutation turns most slowly. "
        "Each point shows the symbol that is written there and, outside, its place. The regions of the symbols have "
        f"{d:,} dimensions and cannot be shown here."
    )

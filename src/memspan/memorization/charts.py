"""A network as drawings: where its state goes in one period, and which symbol is read there."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

import numpy as np
from numpy.typing import NDArray

from memspan.memorization.harmonics import size_of
from memspan.results import Chart, Line, Memorization, Orbit, line
from memspan.results.text import one_line, visible


def orbits(memorization: Memorization) -> tuple[Orbit, ...]:
    """One drawing of h_1 … h_period for each plane in which the state turns, or one over the places where it is a number.

    Memorization note 2023, Fig. 1 and 2, for states of every size: with two hidden units the plane is the whole state, so
    the regions of the arg max are drawn; with more, a plane is a shadow of it, and they are not.

    >>> from memspan.memorization import memorize
    >>> (orbit,) = orbits(memorize("00000111"))
    >>> orbit.points.shape, orbit.weights.shape  # eight points in the plane, and the scores of two symbols
    ((8, 2), (2, 2))
    """
    states, symbols = memorization.network.run(memorization.period)
    if memorization.hidden_size == 1:
        return (_number(memorization, states, symbols),)
    if memorization.hidden_size == 2:
        return (_plane(memorization, states, symbols),)
    if memorization.frequencies:
        return _shadows(memorization, states, symbols)
    return (_ring(memorization, states, symbols),)


def blocks(memorization: Memorization) -> Iterator[tuple[int, slice]]:
    """Each frequency with its coordinates of the state: two that turn, or the one that changes its sign.

    W_h is block-diagonal in the order of the frequencies.
    """
    start = 0
    for frequency in memorization.frequencies:
        # A rotation by half a turn (period 2) may have a plane to itself.
        alone = len(memorization.frequencies) == 1
        size = memorization.hidden_size if alone else size_of(memorization.period, (frequency,))
        yield frequency, slice(start, start + size)
        start += size


def _number(memorization: Memorization, states: NDArray[np.float64], symbols: NDArray[np.int64]) -> Orbit:
    """One hidden unit: its value over the places; a symbol's score does not depend on the place."""
    network, name = memorization.network, one_line(memorization.name)
    if len(network.alphabet) == 1:
        title = f"{name}: one symbol only, so there is nothing to tell apart"
    elif memorization.method == "feedback":
        title = f"{name}: one number holds what is still to be written"
    else:
        title = f"{name}: one number that changes its sign at every step"
    places = np.arange(1.0, memorization.period + 1)
    return Orbit(
        name="orbit",
        title=title,
        x_label="place in the period",
        y_label="hidden unit h",
        alphabet=network.alphabet,
        points=np.column_stack([places, states[:, 0]]),
        symbols=symbols,
        weights=np.column_stack([np.zeros(len(network.alphabet)), network.W_y[:, 0]]),
        bias=network.b_y,
        round=False,
        caption=caption_of(memorization),
    )


def _plane(memorization: Memorization, states: NDArray[np.float64], symbols: NDArray[np.int64]) -> Orbit:
    """Two hidden units: the whole state, with the regions of the arg max."""
    network, name, p = memorization.network, one_line(memorization.name), memorization.period
    turns = f"{memorization.frequencies[0] if memorization.frequencies else 1}/{p} of a turn"
    return Orbit(
        name="orbit",
        title=f"{name}: the state moves on by {turns} at every step, and each region writes its symbol",
        x_label="first hidden unit",
        y_label="second hidden unit",
        alphabet=network.alphabet,
        points=states,
        symbols=symbols,
        weights=network.W_y,
        bias=network.b_y,
        round=True,
        caption=caption_of(memorization),
    )


def _shadows(
    memorization: Memorization, states: NDArray[np.float64], symbols: NDArray[np.int64]
) -> tuple[Orbit, ...]:
    """More hidden units: one drawing per plane, without regions."""
    planes = [
        (frequency, where) for frequency, where in blocks(memorization) if where.stop - where.start == 2
    ]
    return tuple(
        Orbit(
            name=f"orbit-{frequency}",
            title=f"Plane {place} of {len(planes)}: {_turns(frequency)} in {memorization.period} symbols",
            x_label=f"hidden unit {where.start + 1}",
            y_label=f"hidden unit {where.start + 2}",
            alphabet=memorization.alphabet,
            points=states[:, where],
            symbols=symbols,
            weights=np.zeros((0, 2)),
            bias=np.zeros(0),
            round=True,
            caption=caption_of(memorization),
        )
        for place, (frequency, where) in enumerate(planes[:MOST_PLANES], start=1)
    )


def _turns(frequency: int) -> str:
    return "1 turn" if frequency == 1 else f"{frequency} turns"


def _ring(memorization: Memorization, states: NDArray[np.float64], symbols: NDArray[np.int64]) -> Orbit:
    """One unit per place, passed around by W_h: seen in the plane where W_h turns by its slowest eigenvalue.

    With lambda = exp(2 pi i / p) and u = sum_i lambda^i h_i, u h_{i+1} = lambda u h_i for one-hot states.
    """
    d, p = memorization.hidden_size, memorization.period
    angles = 2 * np.pi * np.arange(p) / p
    projection = states.T @ np.column_stack([np.cos(angles), np.sin(angles)])
    return Orbit(
        name="orbit",
        title=f"{one_line(memorization.name)}: {d} hidden units, one for each place, take turns",
        x_label="projection, first axis",
        y_label="projection, second axis",
        alphabet=memorization.alphabet,
        points=states @ projection,
        symbols=symbols,
        weights=np.zeros((0, 2)),
        bias=np.zeros(0),
        round=True,
        caption=caption_of(memorization),
    )


MOST_SYMBOLS = 8
"""Symbols with a line of their own, the most frequent ones."""
_MOST_CURVES = 5
"""Curves between the places are drawn for no more symbols than this: more of them hide each other."""
_LONGEST_CURVE = 40
"""Places of the longest period for which curves between them can be followed."""
_STEPS = 24
"""Points of a curve from one place to the next."""


def leads(memorization: Memorization) -> Chart:
    """y_k - max_{j != k} y_j over the period, for every symbol k: above zero exactly where k is written.

    Where the state turns smoothly (every W_h that is made of rotations), the lead is also drawn between the places, as if
    a step could be divided.
    """
    states, symbols = memorization.network.run(memorization.period)
    several = len(memorization.alphabet) > 1
    name = one_line(memorization.name)
    title = f"{name}: the right symbol always leads, by at least {memorization.margin:.3g}"
    return Chart(
        name="scores",
        title=title if several else f"{name}: one symbol only, so no other could lead",
        x_label="place in the period",
        y_label="lead of the symbol's score",
        x_scale="linear",
        y_scale="linear",
        lines=_lines(memorization, states, symbols) if several else (),
        caption=lead_caption(memorization),
    )


def _lines(
    memorization: Memorization, states: NDArray[np.float64], symbols: NDArray[np.int64]
) -> tuple[Line, ...]:
    places, period = np.arange(1, memorization.period + 1), memorization.period
    lead = _leads(memorization, states)[np.arange(period), symbols]
    counts = np.bincount(symbols, minlength=len(memorization.alphabet))
    order = np.argsort(-counts, kind="stable")
    shown = order[: MOST_SYMBOLS if len(order) <= MOST_SYMBOLS else MOST_SYMBOLS - 1]
    lines: list[Line] = []
    curves = _curves(memorization) if _has_curves(memorization) else None
    for symbol in shown:
        here, label = symbols == symbol, f"writes {visible(memorization.alphabet[symbol])}"
        lines.append(line(label, places[here], lead[here], style="markers"))
        if curves is not None:
            between, values = curves
            lines.append(line("", between, values[:, symbol], style="dashed"))
    here = ~np.isin(symbols, shown)
    if here.any():
        lines.append(
            line(f"writes one of {len(order) - len(shown)} others", places[here], lead[here], style="markers")
        )
    lines.append(line("no lead", [1, max(period, 2)], [0, 0], style="dashed"))
    return tuple(lines)


def _leads(memorization: Memorization, states: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each symbol's score minus the best of the others, of shape (states, symbols)."""
    scores = states @ memorization.network.W_y.T + memorization.network.b_y
    first, second = np.sort(scores, axis=1)[:, [-1, -2]].T
    best_other = np.where(scores == first[:, None], second[:, None], first[:, None])
    return scores - best_other


def _has_curves(memorization: Memorization) -> bool:
    """Whether the state turns, and few enough symbols and places can be followed."""
    few = len(memorization.alphabet) <= _MOST_CURVES and memorization.period <= _LONGEST_CURVE
    return bool(memorization.frequencies) and few


def _curves(memorization: Memorization) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Times from 1 to the period in fractions of a step, and the leads then, of shape (times, symbols)."""
    period = memorization.period
    times = np.arange(_STEPS * (period - 1) + 1) / _STEPS
    first = memorization.network.run(1)[0][0]
    states = np.empty((times.size, first.size))
    for frequency, where in blocks(memorization):
        angles = 2 * np.pi * frequency / period * times
        cos, sin = np.cos(angles), np.sin(angles)
        if where.stop - where.start == 1:
            states[:, where.start] = first[where.start] * cos
        else:
            x, y = first[where]
            states[:, where] = np.column_stack([cos * x - sin * y, sin * x + cos * y])
    lead = _leads(memorization, states)
    # How far behind a symbol is matters little, and would press the leads themselves together.
    return 1 + times, np.where(lead >= -lead.max(), lead, np.nan)


def lead_caption(memorization: Memorization) -> str:
    """What one sees; told without running the network."""
    caption = (
        "Each marker is one place of the period: by how much the score of the symbol that is written there exceeds the "
        "best of all others. All markers are above zero, so no place is read wrongly; the lowest is the margin"
    )
    if _has_curves(memorization):
        caption += ". The dashed curves continue each symbol's lead between the places, where nothing is read"
    return caption + "."


MOST_PLANES = 4
"""A state that turns in more planes than this is drawn in the first ones."""


def caption_of(memorization: Memorization) -> str:
    """The caption that all drawings of one network share."""
    if memorization.hidden_size == 1:
        return _number_caption(memorization)
    if memorization.hidden_size == 2:
        return _plane_caption(memorization)
    return _planes_caption(memorization) if memorization.frequencies else _ring_caption(memorization)


def _number_caption(memorization: Memorization) -> str:
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


def _plane_caption(memorization: Memorization) -> str:
    return (
        f"The state of the network, two numbers, at the {memorization.period:,} places of the period. Each point shows the "
        "symbol that is written there and, outside, its place; lines lead from each place to the next, and the last leads "
        "back to the first. In each coloured region one symbol has the greatest score."
    )


def _planes_caption(memorization: Memorization) -> str:
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


def _ring_caption(memorization: Memorization) -> str:
    d = memorization.hidden_size
    return (
        f"At each place of the period one of {d:,} hidden units is 1 and the others are 0; W_h, a permutation, passes the "
        "1 on. The picture is the projection of these states on the plane in which the permutation turns most slowly. "
        "Each point shows the symbol that is written there and, outside, its place. The regions of the symbols have "
        f"{d:,} dimensions and cannot be shown here."
    )

"""Drawings of a memorizing network as plain data: the orbit of its state, and the leads of its scores."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

import numpy as np
from numpy.typing import NDArray

from memspan.memorization.harmonics import size_of
from memspan.results import Chart, Line, Memorization, Orbit, line
from memspan.results.text import one_line, visible

Array = NDArray[np.float64]

# A state that turns in more planes is drawn in the first ones only.
MOST_PLANES = 4
MOST_SYMBOLS = 8
"""Number of symbols with a line of their own, the most frequent ones."""
# Curves between the positions are drawn for at most this many symbols: more would hide each other.
_MOST_CURVES = 5
# Longest period for which curves between the positions are readable.
_LONGEST_CURVE = 40
# Points of a curve from one position to the next.
_STEPS = 24


def orbits(memorization: Memorization) -> tuple[Orbit, ...]:
    """One drawing of h_1 … h_period for each plane in which the state turns; a single unit is drawn over the positions.

    Memorization note 2023, Fig. 1 and 2, for states of every size. With two hidden units the plane is the whole state and
    the regions of the arg max are drawn. With more, a plane is only a projection, and they are not.

    >>> from memspan.memorization import memorize
    >>> (orbit,) = orbits(memorize("00000111"))
    >>> orbit.points.shape, orbit.weights.shape  # eight points in the plane, and the scores of two symbols
    ((8, 2), (2, 2))
    """
    network, name, p = memorization.network, one_line(memorization.name), memorization.period
    states, symbols = network.run(p)

    def drawing(
        title: str,
        labels: tuple[str, str],
        points: Array,
        scores: tuple[Array, Array] | None = None,
        *,
        suffix: str = "",
        closed: bool = True,
    ) -> Orbit:
        weights, bias = scores if scores is not None else (np.zeros((0, 2)), np.zeros(0))
        return Orbit(
            name=f"orbit{suffix}",
            title=title,
            x_label=labels[0],
            y_label=labels[1],
            alphabet=network.alphabet,
            points=points,
            symbols=symbols,
            weights=weights,
            bias=bias,
            round=closed,
            caption=caption_of(memorization),
        )

    if memorization.hidden_size == 1:
        if len(network.alphabet) == 1:
            title = f"{name}: only one symbol, so there is nothing to separate"
        elif memorization.method == "feedback":
            title = f"{name}: one number holds the rest of the string"
        else:
            title = f"{name}: one number that changes its sign at every step"
        points = np.column_stack([np.arange(1.0, p + 1), states[:, 0]])
        # A symbol's score does not depend on the position, so the first weight is zero.
        weights = np.column_stack([np.zeros(len(network.alphabet)), network.W_y[:, 0]])
        labels = ("position in the period", "hidden unit h")
        return (drawing(title, labels, points, (weights, network.b_y), closed=False),)
    if memorization.hidden_size == 2:
        turns = f"{memorization.frequencies[0] if memorization.frequencies else 1}/{p} of a turn"
        title = f"{name}: the state rotates by {turns} at every step, and each region emits its symbol"
        return (drawing(title, ("first hidden unit", "second hidden unit"), states, (network.W_y, network.b_y)),)
    if memorization.frequencies:
        planes = [(f, where) for f, where in blocks(memorization) if where.stop - where.start == 2]
        return tuple(
            drawing(
                f"Plane {number} of {len(planes)}: {'1 turn' if f == 1 else f'{f} turns'} in {p} symbols",
                (f"hidden unit {where.start + 1}", f"hidden unit {where.start + 2}"),
                states[:, where],
                suffix=f"-{f}",
            )
            for number, (f, where) in enumerate(planes[:MOST_PLANES], start=1)
        )
    # One-hot states, passed around by W_h, projected on the plane of its slowest eigenvalue lambda = exp(2 pi i / p):
    # u = sum_i lambda^i h_i satisfies u h_{i+1} = lambda u h_i.
    angles = 2 * np.pi * np.arange(p) / p
    projection = states.T @ np.column_stack([np.cos(angles), np.sin(angles)])
    title = f"{name}: {memorization.hidden_size} hidden units, one for each position, take turns"
    return (drawing(title, ("projection, first axis", "projection, second axis"), states @ projection),)


def blocks(memorization: Memorization) -> Iterator[tuple[int, slice]]:
    """Each frequency with its coordinates of the state: two that rotate, or one that changes its sign.

    W_h is block-diagonal in the order of the frequencies.
    """
    start = 0
    for frequency in memorization.frequencies:
        # A rotation by half a turn (period 2) may have a plane to itself.
        alone = len(memorization.frequencies) == 1
        size = memorization.hidden_size if alone else size_of(memorization.period, (frequency,))
        yield frequency, slice(start, start + size)
        start += size


def caption_of(memorization: Memorization) -> str:
    """The caption that all orbits of one network share; does not run the network."""
    if memorization.hidden_size == 1:
        return _number_caption(memorization)
    if memorization.hidden_size == 2:
        return (
            f"The state of the network, two numbers, at the {memorization.period:,} positions of the period. Each point "
            "shows the symbol that is emitted there and, outside, its position; lines lead from each position to the next, "
            "and from the last to the first. In each colored region one symbol has the highest score."
        )
    if memorization.frequencies:
        return _planes_caption(memorization)
    d = memorization.hidden_size
    return (
        f"At each position of the period one of {d:,} hidden units is 1 and the others are 0; W_h, a permutation, passes "
        "the 1 on. The picture is the projection of these states on the plane in which the permutation turns most slowly. "
        "Each point shows the symbol that is emitted there and, outside, its position. The regions of the symbols have "
        f"{d:,} dimensions and cannot be shown here."
    )


def _number_caption(memorization: Memorization) -> str:
    caption = (
        "The value of the only hidden unit at every position of the period. Each band of values belongs to the symbol with "
        "the highest score there; that symbol, shown in the point, is emitted next."
    )
    if memorization.method != "feedback" or len(memorization.alphabet) == 1:
        return caption
    caption += (
        " Each emitted symbol is subtracted from the number, and the rest is magnified: the next symbol comes first."
    )
    if memorization.repeats:
        caption += " A symbol that occurs once in the period also reloads the whole number, so the string begins again."
    return caption


def _planes_caption(memorization: Memorization) -> str:
    p, frequencies = memorization.period, memorization.frequencies
    turning = [frequency for frequency in frequencies if 2 * frequency != p]
    planes = len(turning)
    caption = (
        f"The state has {memorization.hidden_size} numbers and turns in {planes} "
        f"{'plane' if planes == 1 else 'planes at once'}. Each point shows the symbol that is emitted there and, outside, "
        "its position in the period; lines lead from each position to the next. The emitted symbol depends on all "
        "hidden units together, so no regions are drawn"
    )
    if planes < len(frequencies):
        caption += "; one more hidden unit changes its sign at every step"
    if any(gcd(frequency, p) > 1 for frequency in turning):
        caption += "; a white point stands for several positions with different symbols"
    if planes > MOST_PLANES:
        left = planes - MOST_PLANES
        caption += f"; {left} more {'plane is' if left == 1 else 'planes are'} not shown"
    return caption + "."


def leads(memorization: Memorization) -> Chart:
    """y_k - max_{j != k} y_j over the period, for every symbol k: positive exactly where k is emitted.

    If the state turns smoothly (W_h consists of rotations), the lead is also drawn between the positions, as if a step
    could be divided.
    """
    states, symbols = memorization.network.run(memorization.period)
    several = len(memorization.alphabet) > 1
    name = one_line(memorization.name)
    title = f"{name}: the correct symbol always leads, by at least {memorization.margin:.3g}"
    return Chart(
        name="scores",
        title=title if several else f"{name}: only one symbol, so no other could lead",
        x_label="position in the period",
        y_label="lead of the symbol's score",
        x_scale="linear",
        y_scale="linear",
        lines=_lead_lines(memorization, states, symbols) if several else (),
        caption=lead_caption(memorization),
    )


def _lead_lines(memorization: Memorization, states: Array, symbols: NDArray[np.int64]) -> tuple[Line, ...]:
    places, period = np.arange(1, memorization.period + 1), memorization.period
    lead = _leads(memorization, states)[np.arange(period), symbols]
    counts = np.bincount(symbols, minlength=len(memorization.alphabet))
    order = np.argsort(-counts, kind="stable")
    shown = order[: MOST_SYMBOLS if len(order) <= MOST_SYMBOLS else MOST_SYMBOLS - 1]
    lines: list[Line] = []
    curves = _lead_curves(memorization) if _has_curves(memorization) else None
    for symbol in shown:
        here, label = symbols == symbol, f"emits {visible(memorization.alphabet[symbol])}"
        lines.append(line(label, places[here], lead[here], style="markers"))
        if curves is not None:
            between, values = curves
            lines.append(line("", between, values[:, symbol], style="dashed"))
    here = ~np.isin(symbols, shown)
    if here.any():
        others = f"emits one of {len(order) - len(shown)} others"
        lines.append(line(others, places[here], lead[here], style="markers"))
    lines.append(line("no lead", [1, max(period, 2)], [0, 0], style="dashed"))
    return tuple(lines)


def _leads(memorization: Memorization, states: Array) -> Array:
    """Each symbol's score minus the best of the others, of shape (states, symbols)."""
    scores = states @ memorization.network.W_y.T + memorization.network.b_y
    first, second = np.sort(scores, axis=1)[:, [-1, -2]].T
    best_other = np.where(scores == first[:, None], second[:, None], first[:, None])
    return scores - best_other


def _has_curves(memorization: Memorization) -> bool:
    """Whether the state rotates, with few enough symbols and positions for readable curves."""
    few = len(memorization.alphabet) <= _MOST_CURVES and memorization.period <= _LONGEST_CURVE
    return bool(memorization.frequencies) and few


def _lead_curves(memorization: Memorization) -> tuple[Array, Array]:
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
    # Large negative leads matter little and would compress the positive ones, so they are cut.
    return 1 + times, np.where(lead >= -lead.max(), lead, np.nan)


def lead_caption(memorization: Memorization) -> str:
    """The caption of `leads`; does not run the network."""
    caption = (
        "Each marker is one position of the period: the lead of the emitted symbol's score over the best of all others. "
        "All markers are above zero, so every position is read correctly; the lowest is the margin"
    )
    if _has_curves(memorization):
        caption += ". The dashed curves continue each symbol's lead between the positions, where nothing is read"
    return caption + "."

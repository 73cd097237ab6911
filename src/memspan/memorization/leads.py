"""How a memory is read: by how much the score of each symbol leads, place by place."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memspan.memorization.orbits import blocks
from memspan.results import Chart, Line, Memorization, line
from memspan.results.visible import one_line, visible

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

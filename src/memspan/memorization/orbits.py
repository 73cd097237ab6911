"""A network as drawings: where its state goes in one period, and which symbol is read there."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from memspan.memorization.harmonics import size_of
from memspan.memorization.orbit_captions import MOST_PLANES, caption_of
from memspan.results import Memorization, Orbit
from memspan.results.visible import one_line


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

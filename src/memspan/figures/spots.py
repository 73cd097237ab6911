"""The points of an orbit: all places that share one, and what is written in it and beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.results import END, Orbit
from memspan.results.text import visible

_NUMBERS = 40
"""Up to this many points their places are written beside them, and their symbols up to twice as many."""
_SYMBOLS, _PLACES = 4, 3
"""The most symbols and places that are listed at one point."""


@final
@dataclass(frozen=True, eq=False)
class Spot:
    """One point of the plane and all places of the period that lie on it."""

    point: NDArray[np.float64]
    places: list[int]
    symbols: list[int]
    """Different symbols that are written here, in the order of their places."""


def spots_of(orbit: Orbit) -> list[Spot]:
    """Places that lie on one point, together: a plane may turn faster than the period."""
    span = float(np.ptp(orbit.points, axis=0).max()) or 1.0
    found: dict[tuple[int, ...], Spot] = {}
    for place, (point, symbol) in enumerate(zip(orbit.points, orbit.symbols.tolist(), strict=True)):
        key = tuple(np.round(point / span * 1e6).astype(int).tolist())
        spot = found.setdefault(key, Spot(point, [], []))
        spot.places.append(place)
        if symbol not in spot.symbols:
            spot.symbols.append(symbol)
    return list(found.values())


def letters(orbit: Orbit, spot: Spot) -> str:
    """The symbols of a point; of many, the first ones."""
    shown = [visible(orbit.alphabet[code], 9) for code in spot.symbols[:_SYMBOLS]]
    return " ".join(shown) + (" …" if len(spot.symbols) > _SYMBOLS else "")


def fits(orbit: Orbit, spot: Spot) -> bool:
    """Whether the symbol can stand in its point: one letter, or the end symbol."""
    return len(letters(orbit, spot)) == 1 or [orbit.alphabet[code] for code in spot.symbols] == [END]


def beside(orbit: Orbit, spot: Spot, amount: int) -> str:
    """What stands beside one of `amount` points: its places, and its symbols where they do not fit into it."""
    written = "" if fits(orbit, spot) or amount > 2 * _NUMBERS else letters(orbit, spot)
    if not orbit.round:
        return written  # the axis tells the place
    numbers = ", ".join(str(place + 1) for place in spot.places[:_PLACES])
    numbers += " …" if len(spot.places) > _PLACES else ""
    if 0 in spot.places and len(orbit.points) > 1:
        numbers = f"start, {numbers}"
    elif amount > _NUMBERS:
        numbers = ""
    between = "\n" if len(spot.symbols) > 1 else " "
    return f"{written}{between}({numbers})" if written and numbers else written or numbers

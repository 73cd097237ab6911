"""What an agent is told at each step, as one row of small whole numbers: the view, its direction, the words of its mission.

A network reads the numbers as names, not as sizes: kind 4 is a door, which is not twice a wall.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError

KINDS, COLOURS, STATES, DIRECTIONS = 11, 6, 4, 4
"""How many there are.  `minigrid.core.constants`; a state of 3 is an agent's that looks up."""

SMALLEST = 7
"""Cells at each side of a view, at the least: what is left of it after the convolutions is then one place."""

VOCABULARY = (
    *("red", "green", "blue", "purple", "yellow", "grey"),
    *("key", "ball", "box", "door", "goal", "object", "hallway", "matching"),
    *("open", "get", "go", "fetch", "use", "then", "end", "must", "you"),
)
"""Words that missions of the table are told apart by; others (a, the, to, …) are passed over."""
_PLACES = {word: place for place, word in enumerate(VOCABULARY)}


@final
@dataclass(frozen=True)
class Observing:
    """The layout of a row: size x size x (kind, colour, state), the direction, then one place for each known word."""

    size: int = 7
    mission: bool = False

    @property
    def length(self) -> int:
        """Numbers of a row."""
        return 3 * self.size**2 + 1 + (len(VOCABULARY) if self.mission else 0)

    def row(self, seen: dict[str, Any]) -> NDArray[np.uint8]:
        """An observation of MiniGrid as a row.

        >>> image = np.ones((7, 7, 3), dtype=np.uint8)
        >>> Observing(mission=True).row({"image": image, "direction": 2, "mission": "get a red ball"}).sum()
        np.uint64(152)
        """
        row = np.zeros(self.length, dtype=np.uint8)
        cells = 3 * self.size**2
        row[:cells] = seen["image"].reshape(-1)
        row[cells] = seen["direction"]
        if self.mission:
            for word in seen["mission"].split():
                if word in _PLACES:
                    row[cells + 1 + _PLACES[word]] = 1
        return row


def observing(name: str, space: Any, *, mission: bool) -> Observing:
    """How the observations of a world are laid out; a world whose observations are no views of a grid is refused."""
    parts = getattr(space, "spaces", {})
    image: tuple[int, ...] = getattr(parts.get("image"), "shape", None) or (0,)
    grid = len(image) == 3 and image[0] == image[1] and image[2] == 3
    if not grid or not {"direction", "mission"} <= set(parts):
        raise InputError(
            f"{name} is no grid world: an observation there is {_words(space)}; expected image, direction and mission, as "
            "MiniGrid gives them"
        )
    if image[0] < SMALLEST:
        raise InputError(
            f"{name} shows {image[0]} x {image[0]} cells; expected {SMALLEST} x {SMALLEST} or more, which the network's "
            "convolutions need; choose a world with such views"
        )
    return Observing(int(image[0]), mission)


def check_same(name: str, found: Observing, trained: Observing) -> None:
    """Refuses a world whose observations have another shape than those that a network was trained on."""
    if found.size != trained.size:
        raise InputError(
            f"{name} shows {found.size} x {found.size} cells; the network was trained on views of {trained.size} x "
            f"{trained.size}; choose a world with such views"
        )


def check_actions(name: str, found: Any, trained: Any) -> None:
    """Refuses a world with another number of actions than a network has odds for."""
    there, known = (getattr(space, "n", None) for space in (found, trained))
    if there != known:
        raise InputError(
            f"{name} has {there} actions; the network was trained with {known}; choose a world with as many"
        )


def _words(space: Any) -> str:
    parts = getattr(space, "spaces", None)
    return ", ".join(parts) if isinstance(parts, dict) else " ".join(str(space).split())

"""Grid worlds: an agent sees a few cells ahead and is rewarded at the end if it completed its mission.

MiniGrid's environments (Chevalier-Boisvert 2018, 2023): the small ones of Kerg 2020, Table 4, for training and the
large ones for testing transfer. The packages of the extra `rl` are imported only when an environment is created.

>>> from memspan.tasks.gridworld import WORLDS
>>> WORLDS["DoorKey-5x5"]
'MiniGrid-DoorKey-5x5-v0'
"""

from __future__ import annotations

from typing import Any

from memspan.errors import InputError, suggestion

# Names as printed in Kerg 2020, with the sizes in between, and MiniGrid's ids.
WORLDS = {
    "RedBlueDoors-6x6": "MiniGrid-RedBlueDoors-6x6-v0",
    "RedBlueDoors-8x8": "MiniGrid-RedBlueDoors-8x8-v0",
    "GoToObject-6x6": "MiniGrid-GoToObject-6x6-N2-v0",
    "GoToObject-8x8": "MiniGrid-GoToObject-8x8-N2-v0",
    "MemoryS7": "MiniGrid-MemoryS7-v0",
    "MemoryS9": "MiniGrid-MemoryS9-v0",
    "MemoryS11": "MiniGrid-MemoryS11-v0",
    "MemoryS13": "MiniGrid-MemoryS13-v0",
    "GoToDoor-5x5": "MiniGrid-GoToDoor-5x5-v0",
    "GoToDoor-6x6": "MiniGrid-GoToDoor-6x6-v0",
    "GoToDoor-8x8": "MiniGrid-GoToDoor-8x8-v0",
    "Fetch-5x5": "MiniGrid-Fetch-5x5-N2-v0",
    "Fetch-6x6": "MiniGrid-Fetch-6x6-N2-v0",
    "Fetch-8x8": "MiniGrid-Fetch-8x8-N3-v0",
    "DoorKey-5x5": "MiniGrid-DoorKey-5x5-v0",
    "DoorKey-6x6": "MiniGrid-DoorKey-6x6-v0",
    "DoorKey-8x8": "MiniGrid-DoorKey-8x8-v0",
    "DoorKey-16x16": "MiniGrid-DoorKey-16x16-v0",
}

# The world in which an agent trained in a small one is tested.  Kerg 2020, Table 4.
LARGER = {
    "RedBlueDoors-6x6": "RedBlueDoors-8x8",
    "GoToObject-6x6": "GoToObject-8x8",
    "MemoryS7": "MemoryS13",
    "GoToDoor-5x5": "GoToDoor-8x8",
    "Fetch-5x5": "Fetch-8x8",
    "DoorKey-5x5": "DoorKey-16x16",
}


def check_world(name: str) -> None:
    """Reject a name that is neither in `WORLDS` nor an id of gymnasium."""
    environment_id(name)


def environment_id(name: str) -> str:
    """Gymnasium's id of a world.

    >>> environment_id("MemoryS7")
    'MiniGrid-MemoryS7-v0'
    """
    if name in WORLDS:
        return WORLDS[name]
    if name in _registry():
        return name
    raise InputError(f"there is no world {name!r}; {suggestion(name, WORLDS)}; any id that gymnasium knows also works")


def _registry() -> dict[str, Any]:
    """Every environment known to gymnasium; importing MiniGrid registers its environments."""
    import gymnasium
    import minigrid  # noqa: F401

    return gymnasium.registry  # pyright: ignore[reportReturnType]

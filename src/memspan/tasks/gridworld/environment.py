"""A grid world as a gymnasium environment: reproducible episodes, and observations as flat rows of small integers.

The state of a world follows from the seed of the episode and the actions since; a checkpoint stores only these.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, final

import gymnasium
import minigrid  # noqa: F401 - registers its environments with gymnasium
import numba
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.tasks.gridworld import environment_id

Row = NDArray[np.uint8]
StepResult = tuple[Row, float, bool, bool, dict[str, Any]]

# Number of values of each code in `minigrid.core.constants`; state 3 is that of an agent facing up.
KINDS, COLORS, STATES, DIRECTIONS = 11, 6, 4, 4
# Minimum side of a view in cells: the encoder's convolutions reduce it to a single position.
SMALLEST = 7
# Words that distinguish the missions of the table; others (a, the, to, …) are ignored.
VOCABULARY = (
    *("red", "green", "blue", "purple", "yellow", "grey"),
    *("key", "ball", "box", "door", "goal", "object", "hallway", "matching"),
    *("open", "get", "go", "fetch", "use", "then", "end", "must", "you"),
)
_WORD_NUMBERS = {word: number for number, word in enumerate(VOCABULARY)}


@final
class Episodes(gymnasium.Env[Row, int]):
    """One world, episode after episode, with rows as observations; `number` counts the episodes started."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - as gymnasium declares it

    def __init__(self, name: str, *, seed: int, place: int, mission: bool = False) -> None:
        """`place` distinguishes environments that run in parallel."""
        self.env = open_world(name)
        self.name = name
        self.observing: RowLayout = row_layout(name, self.env.observation_space, mission=mission)
        self.observation_space = spaces.Box(0, 255, (self.observing.length,), np.uint8)
        self.action_space = self.env.action_space
        self._seed, self._place = seed, place
        self.number = 0
        self.actions: list[int] = []
        self.reward = 0.0
        """Return of the episode so far."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Row, dict[str, Any]]:
        """Start the next episode. `seed` and `options` are ignored: every episode has its own seed."""
        del seed, options
        self.number += 1
        return self._begin(), {}

    def step(self, action: int) -> StepResult:
        self.actions.append(int(action))
        observation, reward, terminated, truncated, info = self.env.step(int(action))
        self.reward += float(reward)
        return self.observing.row(observation), float(reward), terminated, truncated, info

    def relive(self, number: int, actions: Iterable[int]) -> Row:
        """Replay these actions in episode `number` and return the last observation."""
        self.number = number
        row = self._begin()
        for action in actions:
            row, *_ = self.step(action)
        return row

    def _begin(self) -> Row:
        self.actions, self.reward = [], 0.0
        with _missing_packages_reported(self.name):
            observation, _ = self.env.reset(seed=episode_seed(self._seed, self._place, self.number))
        return self.observing.row(observation)

    def close(self) -> None:
        self.env.close()


def open_world(name: str, *, pictures: bool = False) -> gymnasium.Env[Any, Any]:
    """The environment of a world; `pictures` makes it renderable."""
    mode = "rgb_array" if pictures else None
    with _missing_packages_reported(name):
        env = gymnasium.make(environment_id(name), disable_env_checker=True, render_mode=mode)
    if hasattr(env.unwrapped, "gen_obs_grid"):
        _use_fast_views(env.unwrapped)
    return env


@contextlib.contextmanager
def _missing_packages_reported(name: str) -> Iterator[None]:
    """Report a missing dependency of a world as an input error; some worlds need theirs only when they are reset."""
    try:
        yield
    except (gymnasium.error.Error, ImportError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{name} cannot be run here: {reason}; choose another world, such as DoorKey-5x5") from error


def episode_seed(seed: int, place: int, number: int) -> int:
    """The seed of one episode: a function of the run's seed, the environment's place and the episode's number.

    >>> episode_seed(0, 0, 1) == episode_seed(0, 0, 1), episode_seed(0, 0, 1) == episode_seed(0, 1, 0)
    (True, False)
    """
    return int(np.random.SeedSequence([seed, place, number]).generate_state(1)[0])


@final
@dataclass(frozen=True)
class RowLayout:
    """The layout of a row: size x size x (kind, color, state), the direction, then a flag for each known word.

    Known words are those of `VOCABULARY`. All values are categories: kind 4 is a door, which is not twice a wall.
    """

    size: int = 7
    mission: bool = False

    @property
    def length(self) -> int:
        """Numbers of a row."""
        return 3 * self.size**2 + 1 + (len(VOCABULARY) if self.mission else 0)

    def row(self, observation: dict[str, Any]) -> Row:
        """An observation of MiniGrid as a row.

        >>> image = np.ones((7, 7, 3), dtype=np.uint8)
        >>> RowLayout(mission=True).row({"image": image, "direction": 2, "mission": "get a red ball"}).sum()
        np.uint64(152)
        """
        row = np.zeros(self.length, dtype=np.uint8)
        cells = 3 * self.size**2
        row[:cells] = observation["image"].reshape(-1)
        row[cells] = observation["direction"]
        if self.mission:
            for word in observation["mission"].split():
                if word in _WORD_NUMBERS:
                    row[cells + 1 + _WORD_NUMBERS[word]] = 1
        return row


def row_layout(name: str, space: Any, *, mission: bool) -> RowLayout:
    """The layout of a world's observations; rejects worlds that do not show a grid."""
    parts = getattr(space, "spaces", {})
    image: tuple[int, ...] = getattr(parts.get("image"), "shape", None) or (0,)
    grid = len(image) == 3 and image[0] == image[1] and image[2] == 3
    if not grid or not {"direction", "mission"} <= set(parts):
        found = ", ".join(parts) if isinstance(parts, dict) and parts else " ".join(str(space).split())
        raise InputError(
            f"{name} is not a grid world: its observations are {found}; expected image, direction "
            "and mission, as in MiniGrid"
        )
    if image[0] < SMALLEST:
        raise InputError(
            f"{name} shows {image[0]} x {image[0]} cells; expected {SMALLEST} x {SMALLEST} or more, which the "
            "network's convolutions need; choose a world with such views"
        )
    return RowLayout(int(image[0]), mission)


def check_views(name: str, found: RowLayout, trained: RowLayout) -> None:
    """Reject a world whose views have another size than those the network was trained on."""
    if found.size != trained.size:
        raise InputError(
            f"{name} shows {found.size} x {found.size} cells; the network was trained on views of {trained.size} x "
            f"{trained.size}; choose a world with such views"
        )


def check_actions(name: str, found: Any, trained: Any) -> None:
    """Reject a world with another number of actions than the network has outputs."""
    actions, known = (getattr(space, "n", None) for space in (found, trained))
    if actions != known:
        raise InputError(
            f"{name} has {actions} actions; the network was trained with {known}; choose a world with {known}"
        )


# MiniGrid spends most of a step on computing the view. The code below computes the same view with a compiled kernel: a
# square in front of the agent, rotated so that it faces up. A cell is visible if light reaches it row by row from the
# agent; walls and doors that are not open block the light (`minigrid.core.grid.Grid.process_vis`, version 3).

# Kind, color and state of a free cell, and of everything outside the grid.
EMPTY, WALL = (1, 0, 0), (2, 5, 0)


def _use_fast_views(world: Any) -> None:
    """Replace the environment's own observations with equal ones that are computed faster."""

    def observe() -> dict[str, Any]:
        return {"image": _view(world), "direction": world.agent_dir, "mission": world.mission}

    world.gen_obs = observe


def _view(world: Any) -> Row:
    """The image (size, size, 3) of MiniGrid's `gen_obs`: kind, color and state of each visible cell."""
    size = world.agent_view_size
    left, top, _, _ = world.get_view_exts()
    held = EMPTY if world.carrying is None else world.carrying.encode()
    square = np.array(_square(world.grid, left, top, size), dtype=np.uint8).reshape(size, size, 3)
    return _visible(square, world.agent_dir, world.see_through_walls, held[0], held[1], held[2])


def _square(grid: Any, left: int, top: int, size: int) -> list[tuple[int, int, int]]:
    """The codes of the cells around the agent, row by row; cells outside the grid are walls."""
    width, height, cells = grid.width, grid.height, grid.grid
    begin, end = max(left, 0), min(left + size, width)
    before, after = [WALL] * (begin - left), [WALL] * (left + size - end)
    codes: list[tuple[int, int, int]] = []
    for y in range(top, top + size):
        if not 0 <= y < height:
            codes += [WALL] * size
            continue
        inside = cells[y * width + begin : y * width + end]
        codes += before
        codes += [EMPTY if cell is None else cell.encode() for cell in inside]
        codes += after
    return codes


@numba.njit(cache=True)
def _visible(square, direction, through, kind, color, state):  # type: ignore[no-untyped-def]
    """The square (row, column, code) rotated by the direction, hidden cells set to 0, with the held object."""
    size = len(square)
    image = np.zeros((size, size, 3), dtype=np.uint8)
    for i in range(size):
        for j in range(size):
            x, y = i, j
            for _ in range(direction + 1):  # a quarter turn each
                x, y = size - 1 - y, x
            image[i, j] = square[y, x]
    if not through:
        lit = _lit(image)
        for i in range(size):
            for j in range(size):
                if not lit[i, j]:
                    image[i, j] = 0
    # The agent stands in the middle of the last column and sees what it holds there.
    image[size // 2, size - 1, 0] = kind
    image[size // 2, size - 1, 1] = color
    image[size // 2, size - 1, 2] = state
    return image


@numba.njit(cache=True)
def _lit(image):  # type: ignore[no-untyped-def]
    """Which cells light reaches. Each row is swept once in either direction, from the agent's row outwards."""
    size = len(image)
    lit = np.zeros((size, size), dtype=np.bool_)
    lit[size // 2, size - 1] = True
    for j in range(size - 1, -1, -1):
        for turn in range(2):
            side = 1 if turn == 0 else -1
            for k in range(size - 1):
                i = k if turn == 0 else size - 1 - k
                kind, state = image[i, j, 0], image[i, j, 2]
                if not lit[i, j] or kind == 2 or (kind == 4 and state != 0):  # a wall, or a door that is not open
                    continue
                lit[i + side, j] = True
                if j > 0:
                    lit[i + side, j - 1] = True
                    lit[i, j - 1] = True
    return lit

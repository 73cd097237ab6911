"""A world lived in again and again: every episode begins from a seed of its own, so that it can be lived again exactly.

What the world is at any time follows from the seed of the episode and the actions since. That is all a checkpoint keeps.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any, final

import gymnasium
import minigrid  # noqa: F401 - makes its worlds known to gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.tasks.gridworld.observations import Observing, observing
from memspan.tasks.gridworld.views import quick_views
from memspan.tasks.gridworld.worlds import environment_id

Row = NDArray[np.uint8]
Stepped = tuple[Row, float, bool, bool, dict[str, Any]]


def open_world(name: str, *, pictures: bool = False) -> gymnasium.Env[Any, Any]:
    """The environment of a world's name; with `pictures`, one that can be rendered."""
    mode = "rgb_array" if pictures else None
    with _complete(name):
        env = gymnasium.make(environment_id(name), disable_env_checker=True, render_mode=mode)
    if hasattr(env.unwrapped, "gen_obs_grid"):
        quick_views(env.unwrapped)
    return env


@contextlib.contextmanager
def _complete(name: str) -> Iterator[None]:
    """Inside, a world that needs what is not installed is refused; some need it only when they begin."""
    try:
        yield
    except (gymnasium.error.Error, ImportError) as error:
        why = " ".join(str(error).split())
        raise InputError(
            f"{name} cannot be lived in here: {why}; choose another world, such as DoorKey-5x5"
        ) from error


@final
class Episodes(gymnasium.Env[Row, int]):
    """One world, episode after episode, with rows for observations; `number` counts the episodes that have begun."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - as gymnasium declares it

    def __init__(self, name: str, *, seed: int, place: int, mission: bool = False) -> None:
        """`place` tells it from others that are lived in at the same time."""
        self.env = open_world(name)
        self.name = name
        self.observing: Observing = observing(name, self.env.observation_space, mission=mission)
        self.observation_space = spaces.Box(0, 255, (self.observing.length,), np.uint8)
        self.action_space = self.env.action_space
        self._seed, self._place = seed, place
        self.number = 0
        self.actions: list[int] = []
        self.reward = 0.0
        """Of the episode so far."""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Row, dict[str, Any]]:
        """The next episode; gymnasium's `seed` and `options` change nothing, as every episode has its seed already."""
        del seed, options
        self.number += 1
        return self._begin(), {}

    def step(self, action: int) -> Stepped:
        self.actions.append(int(action))
        seen, reward, ended, cut, told = self.env.step(int(action))
        self.reward += float(reward)
        return self.observing.row(seen), float(reward), ended, cut, told

    def relive(self, number: int, actions: Iterable[int]) -> Row:
        """Be where these actions lead in episode `number`; what is seen there."""
        self.number = number
        row = self._begin()
        for action in actions:
            row, *_ = self.step(action)
        return row

    def _begin(self) -> Row:
        self.actions, self.reward = [], 0.0
        with _complete(self.name):
            seen, _ = self.env.reset(seed=episode_seed(self._seed, self._place, self.number))
        return self.observing.row(seen)

    def close(self) -> None:
        self.env.close()


def episode_seed(seed: int, place: int, number: int) -> int:
    """The seed of one episode: a function of the run's seed, the place and the episode's number.

    >>> episode_seed(0, 0, 1) == episode_seed(0, 0, 1), episode_seed(0, 0, 1) == episode_seed(0, 1, 0)
    (True, False)
    """
    return int(np.random.SeedSequence([seed, place, number]).generate_state(1)[0])

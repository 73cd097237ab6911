"""Worlds by name, views equal to MiniGrid's, and episodes that can be replayed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.error import DependencyNotInstalled
from minigrid.envs.empty import EmptyEnv

from memspan.errors import InputError
from memspan.tasks.gridworld import LARGER, WORLDS, check_world
from memspan.tasks.gridworld.environment import (
    VOCABULARY,
    Episodes,
    RowLayout,
    check_actions,
    check_views,
    episode_seed,
    open_world,
)

STEPS = 80


def wander(seed: int, steps: int = STEPS) -> list[int]:
    return np.random.default_rng(seed).integers(0, 7, steps).tolist()


@pytest.mark.parametrize("name", WORLDS)
def test_what_is_seen_is_what_minigrid_shows(name):
    env = open_world(name)
    world = env.unwrapped
    plain = type(world).gen_obs  # type: ignore[attr-defined]
    seen, _ = env.reset(seed=3)
    for number, action in enumerate(wander(0)):
        own = plain(world)
        assert np.array_equal(seen["image"], own["image"])
        assert (seen["direction"], seen["mission"]) == (own["direction"], own["mission"])
        seen, _, ended, cut, _ = env.step(action)
        if ended or cut:
            seen, _ = env.reset(seed=number)


def test_a_carried_key_is_seen_in_hand():
    env = open_world("DoorKey-5x5")
    world = env.unwrapped
    seen, _ = env.reset(seed=0)
    for action in wander(1, 2000):
        seen, _, ended, cut, _ = env.step(action)
        if getattr(world, "carrying", None) is not None:
            break
        if ended or cut:
            env.reset(seed=1)
    assert seen["image"][3, 6, 0] == 5  # a key, where the agent stands
    assert np.array_equal(seen["image"], type(world).gen_obs(world)["image"])  # type: ignore[attr-defined]


def test_a_replayed_episode_is_the_same():
    first = Episodes("Fetch-5x5", seed=4, place=2)
    row, _ = first.reset()
    for action in wander(5):
        row, _, ended, cut, _ = first.step(action)
        if ended or cut:
            row, _ = first.reset()
    again = Episodes("Fetch-5x5", seed=4, place=2)
    assert np.array_equal(again.relive(first.number, list(first.actions)), row)
    assert (again.number, again.actions, again.reward) == (first.number, first.actions, first.reward)
    for action in wander(6, 20):
        ours, theirs = again.step(action), first.step(action)
        assert np.array_equal(ours[0], theirs[0])
        assert ours[1:4] == theirs[1:4]
        if ours[2] or ours[3]:
            break


def test_episodes_differ_by_run_place_and_number():
    seeds = {episode_seed(run, place, number) for run in range(3) for place in range(3) for number in range(3)}
    assert len(seeds) == 27


def test_a_row_holds_the_view_the_direction_and_the_words_that_are_known():
    world = Episodes("GoToDoor-5x5", seed=0, place=0, mission=True)
    row, _ = world.reset()
    assert row.shape == (world.observing.length,) == (148 + len(VOCABULARY),)
    words = {word for word, known_word in zip(VOCABULARY, row[148:], strict=True) if known_word}
    assert {"go", "door"} < words
    assert len(words) == 3  # and its color
    without = Episodes("GoToDoor-5x5", seed=0, place=0)
    assert np.array_equal(without.reset()[0], row[:148])


def beginnings(name: str, place: int, episodes: int) -> list[bytes]:
    """How episodes begin: the grid, where the agent stands and where it looks."""
    world, found = Episodes(name, seed=0, place=place), []
    for _ in range(episodes):
        world.reset()
        now: Any = world.env.unwrapped
        found.append(now.grid.encode().tobytes() + bytes((*now.agent_pos, now.agent_dir)))
    return found


@pytest.mark.parametrize(("name", "layouts"), [("DoorKey-5x5", 48), ("MemoryS7", 16), ("MemoryS13", 40)])
def test_small_worlds_begin_in_few_ways_so_that_new_seeds_are_not_new_worlds(name, layouts):
    known = set(beginnings(name, 0, 640))
    assert len(known) == layouts
    assert set(beginnings(name, 2**20, 100)) <= known


def test_large_worlds_begin_as_they_never_did_before():
    known = set(beginnings("DoorKey-16x16", 0, 640))
    assert known.isdisjoint(beginnings("DoorKey-16x16", 2**20, 100))


def test_every_larger_world_is_one_of_the_table():
    assert set(LARGER) | set(LARGER.values()) <= set(WORLDS)


@pytest.mark.parametrize(
    ("name", "nearest"), [("DoorKey5x5", "DoorKey-5x5"), ("memorys7", "MemoryS7"), ("Fetch-5x", "Fetch-5x5")]
)
def test_a_wrong_name_of_a_world_is_answered_with_the_nearest(name, nearest):
    with pytest.raises(InputError, match=rf"there is no world '{name}'; did you mean {nearest}\?"):
        check_world(name)


def test_any_other_grid_world_may_be_named_by_its_id():
    world = Episodes("MiniGrid-LavaGapS5-v0", seed=0, place=0)
    assert world.reset()[0].shape == (148,)


def test_a_world_without_views_of_a_grid_is_rejected():
    with pytest.raises(InputError, match="CartPole-v1 is not a grid world: its observations are Box"):
        Episodes("CartPole-v1", seed=0, place=0)


def test_views_of_another_size_are_rejected():
    with pytest.raises(InputError, match="shows 9 x 9 cells; the network was trained on views of 7 x 7"):
        check_views("Wide", RowLayout(9), RowLayout(7))


def test_another_number_of_actions_is_rejected():
    few = Episodes("MiniGrid-Dynamic-Obstacles-5x5-v0", seed=0, place=0)
    many = Episodes("DoorKey-5x5", seed=0, place=0)
    check_actions("DoorKey-5x5", many.action_space, many.action_space)
    with pytest.raises(InputError, match="DoorKey-5x5 has 7 actions; the network was trained with 3; choose"):
        check_actions("DoorKey-5x5", many.action_space, few.action_space)


@pytest.mark.parametrize("size", [3, 5])
def test_views_that_are_too_small_for_the_network_are_rejected(size, monkeypatch):
    known(monkeypatch, "Narrow-v0", partial(EmptyEnv, agent_view_size=size))
    with pytest.raises(InputError, match=f"Narrow-v0 shows {size} x {size} cells; expected 7 x 7 or more"):
        Episodes("Narrow-v0", seed=0, place=0)


def test_a_world_that_needs_what_is_not_installed_is_rejected(monkeypatch):
    def lacking(*_: object, **__: object) -> None:
        raise DependencyNotInstalled("MuJoCo is not installed")

    known(monkeypatch, "Lacking-v0", lacking)
    message = "Lacking-v0 cannot be run here: MuJoCo is not installed; choose another world, such as DoorKey-5x5"
    with pytest.raises(InputError, match=message):
        Episodes("Lacking-v0", seed=0, place=0)

    class Late(EmptyEnv):
        def _gen_grid(self, width: int, height: int) -> None:
            raise ImportError("imageio is missing")

    known(monkeypatch, "Late-v0", Late)
    with pytest.raises(InputError, match="Late-v0 cannot be run here: imageio is missing"):
        Episodes("Late-v0", seed=0, place=0).reset()


def known(monkeypatch: pytest.MonkeyPatch, name: str, make: Callable[..., object]) -> None:
    """A world that gymnasium knows for the time of a test."""
    monkeypatch.setitem(gymnasium.registry, name, EnvSpec(name, entry_point=make))  # type: ignore[arg-type]

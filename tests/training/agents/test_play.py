"""Trials: memory is carried through every episode and cut between them, and all agents live the same episodes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, final

import numpy as np
import pytest
import torch

from memspan.tasks.gridworld import environment as lived
from memspan.training.agents import play as play_module
from memspan.training.agents.agent import Agent
from memspan.training.agents.config import NONE, memoryless
from memspan.training.agents.evaluation import evaluate_agents
from memspan.training.agents.play import TRIALS, PlayedEpisodes, film, play, reward_interval, summarize
from memspan.training.agents.policy import CellPolicy
from memspan.training.agents.training import agent_jobs, memoryless_jobs, train_agents

SAME = 1e-6
"""Single precision: step by step against all steps at once."""
WORLD = "GoToDoor-5x5"


@final
class Recorder:
    """Every call of a policy, which goes on as before."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seen: list[torch.Tensor] = []
        self.actions: list[torch.Tensor] = []
        self.log_probs: list[torch.Tensor] = []
        forward = CellPolicy.forward

        def noted(policy: CellPolicy, obs: Any, state: Any, starts: Any) -> Any:
            actions, values, log_probs, after = forward(policy, obs, state, starts)
            self.seen.append(obs)
            self.actions.append(actions)
            self.log_probs.append(log_probs)
            return actions, values, log_probs, after

        monkeypatch.setattr(CellPolicy, "forward", noted)

    def of_place(self, place: int, steps: slice) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """What was seen and done there, and with which odds."""
        return (
            torch.stack(self.seen)[steps, place : place + 1],
            torch.stack(self.actions)[steps, place],
            torch.stack(self.log_probs)[steps, place],
        )


def at_once(policy: CellPolicy, seen: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
    """The odds of one episode, memory carried from its first step."""
    starts = torch.zeros(len(seen), 1, dtype=torch.bool)
    with torch.no_grad():
        return policy.evaluate_actions(seen, actions, policy.cell.start(1), starts)[1]


def forgetful(policy: CellPolicy, seen: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
    """The same with a memory that is cleared at every step."""
    starts = torch.ones(len(seen), 1, dtype=torch.bool)
    with torch.no_grad():
        return policy.evaluate_actions(seen, actions, policy.cell.start(1), starts)[1]


@pytest.fixture(scope="module")
def policy(tiny_agent) -> CellPolicy:
    """A network that remembers strongly, whose odds differ."""
    found = Agent(tiny_agent("rel-lstm", seed=1)).policy
    with torch.no_grad():
        for name, parameter in found.named_parameters():
            parameter.mul_(100 if name.startswith("action_net") else 3)
    return found


def test_an_episode_is_tried_with_the_memory_of_all_its_steps_and_of_no_other(policy, monkeypatch):
    monkeypatch.setattr(play_module, "PARALLEL", 2)
    recorder = Recorder(monkeypatch)
    played = play(policy, WORLD, 5, seed=3)
    first, second = played.lengths[:3], played.lengths[3:]
    for place, lengths in enumerate((first, second)):
        ends = np.cumsum(lengths)
        for begin, end in zip(ends - lengths, ends, strict=True):
            seen, actions, log_probs = recorder.of_place(place, slice(begin, end))
            assert torch.allclose(log_probs, at_once(policy, seen, actions), atol=SAME)
    long = int(np.argmax(first))
    seen, actions, log_probs = recorder.of_place(0, slice(int(first[:long].sum()), int(first[: long + 1].sum())))
    assert not torch.allclose(log_probs, forgetful(policy, seen, actions), atol=1e-2)


def test_a_film_is_of_an_agent_that_remembers(policy, monkeypatch):
    recorder = Recorder(monkeypatch)
    episode = film(policy, WORLD, "rel-lstm", seed=3)
    seen, actions, log_probs = recorder.of_place(0, slice(None))
    assert len(seen) == episode.steps > 2
    assert torch.allclose(log_probs, at_once(policy, seen, actions), atol=SAME)
    assert not torch.allclose(log_probs, forgetful(policy, seen, actions), atol=1e-2)
    assert len(episode.actions) == episode.shown
    assert set(episode.actions) <= {"left", "right", "forward", "pickup", "drop", "toggle", "done"}


def test_rewards_and_lengths_are_those_of_the_episodes(policy, monkeypatch):
    monkeypatch.setattr(play_module, "PARALLEL", 1)
    recorder = Recorder(monkeypatch)
    played = play(policy, WORLD, 3, seed=3)
    actions = iter(torch.stack(recorder.actions)[:, 0].tolist())
    world = lived.Episodes(WORLD, seed=3, place=TRIALS)
    for reward, length in zip(played.rewards, played.lengths, strict=True):
        world.reset()
        gained, over = 0.0, False
        while not over:
            _, more, ended, cut, _ = world.step(next(actions))
            gained, over = gained + more, ended or cut
        assert (reward, length) == (gained, len(world.actions))


def episodes_lived(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int, int]]:
    """Filled with seed, place and number of every episode that begins."""
    found: list[tuple[int, int, int]] = []
    seed_of = lived.episode_seed

    def noted(seed: int, place: int, number: int) -> int:
        found.append((seed, place, number))
        return seed_of(seed, place, number)

    monkeypatch.setattr(lived, "episode_seed", noted)
    return found


def test_agents_with_and_without_memory_are_tried_on_the_same_episodes(tiny_agent, tmp_path, monkeypatch):
    monkeypatch.setattr(play_module, "PARALLEL", 3)
    begun = episodes_lived(monkeypatch)
    shares = ((0, 2), (1, 1), (2, 1))  # of four episodes; one more begins in each place when its share is over
    wanted = {(TRIALS + place, number) for place, many in shares for number in range(1, many + 2)}

    def check(seed: int) -> None:
        trials = [(place, number) for tried, place, number in begun if place >= TRIALS and tried == seed]
        assert len(trials) == sum(place >= TRIALS for _, place, _ in begun)
        assert set(trials) == wanted
        assert all(trials.count(one) == 2 for one in wanted)
        begun.clear()

    train_agents(tiny_agent(updates=1), tmp_path / "run", episodes=4, workers=1)
    check(seed=0)
    evaluate_agents(tmp_path / "run", [WORLD], episodes=4)
    check(seed=0)
    evaluate_agents(tmp_path / "run", [WORLD], episodes=4, seed=7)
    check(seed=7)


def test_an_agent_without_memory_differs_in_its_cell_alone(tiny_agent):
    config = tiny_agent("lstm", seed=4, learning_rate=3e-4, epochs=2, updates=7)
    without = memoryless(config)
    assert replace(without, cell=config.cell) == config
    assert (without.cell.name, without.cell.hidden, without.cell.layers) == (NONE, config.cell.hidden, 1)
    agents = agent_jobs(config, Path("run"), 2)
    beside = memoryless_jobs(agents)
    assert [job.config for job in beside] == [memoryless(job.config) for job in agents]
    assert [job.folder for job in beside] == [Path("run") / f"seed-{number}" / "memoryless" for number in range(2)]
    assert [job.config.seed for job in agents] == [4, 5]


ROUNDS = 1_000
COVERED = 0.93
"""Of 0.95, less three standard deviations of a share of so many rounds."""


def test_rewards_are_told_as_computed_by_hand():
    first = PlayedEpisodes(np.array([0.5, 0.0, 0.7, 0.0]), np.array([10, 40, 6, 40]))
    second = PlayedEpisodes(np.array([0.9, 0.9, 0.9, 0.0]), np.array([2, 2, 2, 38]))
    found = summarize("DoorKey-5x5", "lstm", [first, second])
    assert (found.world, found.cell, found.episodes) == ("DoorKey-5x5", "lstm", 8)
    assert found.reward == pytest.approx(3.9 / 8)
    assert found.seeds == pytest.approx((0.3, 0.675))
    assert found.solved == 5 / 8
    assert found.length == 140 / 8


def test_of_shares_it_is_the_interval_of_agresti_and_coull():
    """40 of 50: (40 + 1.92) / 53.84 = 0.7786, and 1.96 standard errors of that are 0.1109."""
    found = reward_interval(np.array([[1.0] * 40 + [0.0] * 10]))
    assert found == pytest.approx((0.6677, 0.8895), abs=1e-4)


def test_several_networks_are_counted_as_networks():
    """Of means 0.48 and 0.52 the standard error is 0.02, and Student's t of one degree of freedom 12.7062."""
    alike = np.array([[0.0, 1.0] * 50, [0.0, 1.0] * 50])
    assert reward_interval(alike) == pytest.approx(reward_interval(alike[:1]))  # type: ignore[arg-type]
    apart = np.array([[0.48] * 100, [0.52] * 100])
    low, high = reward_interval(apart) or (0.0, 0.0)
    of_episodes = reward_interval(apart.mean(axis=0, keepdims=True)) or (0.0, 0.0)
    half = 12.7062 * 0.02
    assert (0.5 - low, high - 0.5) == pytest.approx(
        (math.hypot(half, 0.5 - of_episodes[0]), math.hypot(half, of_episodes[1] - 0.5)), rel=1e-4
    )


def test_one_network_of_three_that_fails_leaves_the_mean_open():
    seeds = np.stack([np.full(100, 0.95), np.full(100, 0.95), np.zeros(100)])
    assert reward_interval(seeds) == (0.0, 1.0)


@pytest.mark.parametrize(("reward", "low", "high"), [(0.0, 0.0, 0.0444), (1.0, 0.9556, 1.0)])
def test_at_the_edges_it_neither_closes_nor_leaves_what_is_possible(reward, low, high):
    assert reward_interval(np.full((1, 100), reward)) == pytest.approx((low, high), abs=1e-4)
    assert reward_interval(np.full((3, 100), reward)) == pytest.approx((low, high), abs=1e-4)


def test_of_few_episodes_it_stays_between_0_and_1():
    low, high = reward_interval(np.array([[0.7, 0.0]])) or (math.nan, math.nan)
    assert 0 <= low < 0.35 < high <= 1


def test_where_rewards_below_zero_occur_it_may_reach_them():
    low, high = reward_interval(np.array([[-1.0, 0.0, -1.0, 0.5]])) or (math.nan, math.nan)
    assert -1 <= low < -0.375 < high <= 1


@pytest.mark.parametrize("networks", [1, 3])
def test_a_single_episode_has_none(networks):
    assert reward_interval(np.full((networks, 1), 0.5)) is None


def covered(draw: Callable[[np.random.Generator], np.ndarray], mean: float) -> float:
    """How often the mean is inside."""
    generator = np.random.default_rng(0)
    ends = [reward_interval(draw(generator)) or (math.nan, math.nan) for _ in range(ROUNDS)]
    return float(np.mean([low <= mean <= high for low, high in ends]))


@pytest.mark.parametrize("solved", [0.01, 0.05, 0.5, 0.98])
@pytest.mark.parametrize("episodes", [10, 100])
def test_of_one_network_the_mean_is_inside_as_often_as_it_says(solved, episodes):
    def draw(generator: np.random.Generator) -> np.ndarray:
        size = (1, episodes)
        return (generator.random(size) < solved) * generator.uniform(0.9, 0.98, size)

    assert covered(draw, 0.94 * solved) > COVERED


@pytest.mark.parametrize("networks", [2, 3])
def test_of_several_networks_that_differ_the_mean_of_all_is_inside(networks):
    """Networks and layouts are easy or hard: episodes alone would cover the mean six times of ten."""

    def draw(generator: np.random.Generator) -> np.ndarray:
        odds = generator.normal(0.6, 0.1, (networks, 1)) + generator.normal(0, 0.1, (1, 100))
        return (generator.random((networks, 100)) < odds).astype(float)

    assert covered(draw, 0.6) > COVERED

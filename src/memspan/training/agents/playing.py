"""Episodes of a trained agent, each from a seed that training never had: their rewards.

The seeds are new, the layouts need not be: of DoorKey-5x5 there are 48, of MemoryS7 16, all of which occur in training.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
import torch
from numpy.typing import NDArray

from memspan.progress import Stage
from memspan.results import Rewards
from memspan.tasks.gridworld.environment import Episodes, RowLayout, check_actions, check_views
from memspan.training.agents.intervals import interval_of
from memspan.training.agents.policy import CellPolicy
from memspan.training.building import seeded, stream

TRIALS = 2**20
"""Places from here on are for trials; those of training are fewer."""
TOGETHER = 20
"""Worlds that are played in at the same time."""


@final
@dataclass(frozen=True, eq=False)
class Played:
    """Every episode of one network in one world."""

    rewards: NDArray[np.float64]
    lengths: NDArray[np.int64]


@final
class _Trial:
    """One of several worlds that are played in side by side, until its share of the episodes is over."""

    def __init__(self, world: str, place: int, seed: int, episodes: int, policy: CellPolicy) -> None:
        trained = observing_of(policy)
        self.episodes = Episodes(world, seed=seed, place=TRIALS + place, mission=trained.mission)
        check_views(world, self.episodes.observing, trained)
        check_actions(world, self.episodes.action_space, policy.action_space)
        self.left, self.fresh = episodes, True
        self.seen, _ = self.episodes.reset()
        self.found: list[tuple[float, int]] = []

    def step(self, action: int) -> None:
        self.seen, _, ended, cut, _ = self.episodes.step(action)
        self.fresh = ended or cut
        if self.fresh:
            self.found.append((self.episodes.reward, len(self.episodes.actions)))
            self.left -= 1
            self.seen, _ = self.episodes.reset()


@torch.no_grad()
def play(policy: CellPolicy, world: str, episodes: int, *, seed: int, stage: Stage | None = None) -> Played:
    """So many episodes, actions drawn by the policy's odds, as the sources do it; the same seed gives the same episodes."""
    places = min(TOGETHER, episodes)
    trials = [
        _Trial(world, place, seed, len(range(place, episodes, places)), policy) for place in range(places)
    ]
    policy.set_training_mode(False)
    with seeded(stream(seed, TRIALS)):
        state = policy.cell.start(places)
        while any(trial.left for trial in trials):
            seen = torch.as_tensor(np.stack([trial.seen for trial in trials]), device=policy.device)
            starts = torch.tensor([trial.fresh for trial in trials], device=policy.device)
            actions, _, _, state = policy(seen, state, starts)
            for trial, action in zip(trials, actions.tolist(), strict=True):
                _stepped(trial, action, stage)
    rewards, lengths = zip(*(one for trial in trials for one in trial.found), strict=True)
    return Played(np.array(rewards), np.array(lengths))


def _stepped(trial: _Trial, action: int, stage: Stage | None) -> None:
    """One whose share is over waits at the beginning of an episode."""
    if not trial.left:
        return
    before = trial.left
    trial.step(action)
    if stage is not None and trial.left < before:
        stage.advance()


def rewards_of(world: str, cell: str, played: list[Played]) -> Rewards:
    """The same episodes of every network, with the interval of their mean."""
    rewards = np.stack([one.rewards for one in played])
    lengths = np.stack([one.lengths for one in played])
    return Rewards(
        world=world,
        cell=cell,
        reward=float(rewards.mean()),
        interval=interval_of(rewards),
        solved=float((rewards > 0).mean()),
        length=float(lengths.mean()),
        episodes=rewards.size,
        seeds=tuple(float(one.rewards.mean()) for one in played),
    )


def observing_of(policy: CellPolicy) -> RowLayout:
    """How what this policy sees is laid out."""
    found = policy.features_extractor_kwargs["observing"]
    assert isinstance(found, RowLayout)
    return found

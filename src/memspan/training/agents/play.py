"""A trained agent on episodes whose seeds did not occur in training: rewards with intervals, and a film of one.

The seeds are new, but the layouts need not be: DoorKey-5x5 has 48 and MemoryS7 has 16, all of which occur in training.
"""

from __future__ import annotations

import base64
import io
import math
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from memspan.cells.base.layer import Layer
from memspan.progress import Stage
from memspan.results import Episode, Rewards
from memspan.statistics import agresti_coull_interval, student_margin
from memspan.tasks.gridworld.environment import Episodes, check_actions, check_views, episode_seed, open_world
from memspan.training.agents.policy import CellPolicy
from memspan.training.run.machine import stream_seed, torch_seed

# First place number of evaluation; training uses smaller ones.
TRIALS = 2**20
# Worlds that are played in parallel.
PARALLEL = 20
# Pixels per grid cell.
TILE = 12
# Maximum number of steps with an image.
FRAMES = 120


@final
@dataclass(frozen=True, eq=False)
class PlayedEpisodes:
    """The episodes of one network in one world."""

    rewards: NDArray[np.float64]
    lengths: NDArray[np.int64]


@torch.no_grad()
def play(policy: CellPolicy, world: str, episodes: int, *, seed: int, stage: Stage | None = None) -> PlayedEpisodes:
    """Play a number of episodes with actions sampled from the policy, as the sources do; `seed` determines them."""
    places = min(PARALLEL, episodes)
    # Each world has a fixed share of the episodes: taking whichever ends first would favor short ones.
    trials = [_WorldTrial(world, place, seed, len(range(place, episodes, places)), policy) for place in range(places)]
    policy.set_training_mode(False)
    with torch_seed(stream_seed(seed, TRIALS)):
        state = policy.cell.start(places)
        while any(trial.remaining for trial in trials):
            observations = torch.as_tensor(np.stack([trial.observation for trial in trials]), device=policy.device)
            starts = torch.tensor([trial.start for trial in trials], device=policy.device)
            actions, _, _, state = policy(observations, state, starts)
            for trial, action in zip(trials, actions.tolist(), strict=True):
                # A world whose share is done waits at the start of an episode.
                if trial.remaining and trial.step(action) and stage is not None:
                    stage.advance()
    rewards, lengths = zip(*(one for trial in trials for one in trial.found), strict=True)
    return PlayedEpisodes(np.array(rewards), np.array(lengths))


@final
class _WorldTrial:
    """One of several parallel worlds, with its share of the episodes."""

    def __init__(self, world: str, place: int, seed: int, episodes: int, policy: CellPolicy) -> None:
        trained = policy.observing
        self.episodes = Episodes(world, seed=seed, place=TRIALS + place, mission=trained.mission)
        check_views(world, self.episodes.observing, trained)
        check_actions(world, self.episodes.action_space, policy.action_space)
        self.remaining, self.start = episodes, True
        self.observation, _ = self.episodes.reset()
        self.found: list[tuple[float, int]] = []

    def step(self, action: int) -> bool:
        """Whether the episode ended with this step."""
        self.observation, _, ended, truncated, _ = self.episodes.step(action)
        self.start = ended or truncated
        if self.start:
            self.found.append((self.episodes.reward, len(self.episodes.actions)))
            self.remaining -= 1
            self.observation, _ = self.episodes.reset()
        return self.start


def summarize(world: str, cell: str, played: list[PlayedEpisodes]) -> Rewards:
    """Mean reward of all networks on the same episodes, with its interval."""
    rewards = np.stack([one.rewards for one in played])
    lengths = np.stack([one.lengths for one in played])
    return Rewards(
        world=world,
        cell=cell,
        reward=float(rewards.mean()),
        interval=reward_interval(rewards),
        solved=float((rewards > 0).mean()),
        length=float(lengths.mean()),
        episodes=rewards.size,
        seeds=tuple(float(one.rewards.mean()) for one in played),
    )


def reward_interval(rewards: NDArray[np.float64]) -> tuple[float, float] | None:
    """95 % interval of the mean of rewards (networks, episodes), all networks on the same episodes; None for one episode.

    For one network it covers the variation over episodes, for several also that over networks: each end is at a distance
    sqrt(a^2 + b^2) from the mean, with a from the episodes (their means over networks) and b from the networks, Student's
    t times the standard error of their means. Variation that affects both is counted twice, so that the interval is
    conservative. Rewards lie between 0 and 1 unless one outside is observed, and so do the ends.

    >>> zeros, half = np.zeros((1, 100)), np.array([[0.0, 1.0] * 50])
    >>> [round(end, 3) for end in reward_interval(zeros)], [round(end, 3) for end in reward_interval(half)]
    ([0.0, 0.044], [0.404, 0.596])
    """
    networks, episodes = rewards.shape
    if episodes < 2:
        return None
    least, most = min(0.0, float(rewards.min())), max(1.0, float(rewards.max()))
    mean, between = float(rewards.mean()), 0.0
    low, high = agresti_coull_interval(rewards.mean(axis=0), least, most)
    if networks > 1:
        between = student_margin(rewards.mean(axis=1))
    low, high = mean - math.hypot(mean - low, between), mean + math.hypot(high - mean, between)
    return max(low, least), min(high, most)


@torch.no_grad()
def film(policy: CellPolicy, world: str, cell: str, *, seed: int) -> Episode:
    """Play one episode and record its images and attention weights."""
    env = open_world(world, pictures=True)
    number = episode_seed(seed, TRIALS, 0)
    policy.set_training_mode(False)
    with torch_seed(stream_seed(seed, TRIALS + 1)):
        recording = _record(policy, env, number)
    last = _film_strip([_image(env)])
    env.close()
    shown = len(recording.images)
    return Episode(
        world=world,
        cell=cell,
        seed=number,
        reward=recording.reward,
        steps=len(recording.rows),
        shown=shown,
        pictures=_film_strip(recording.images),
        attention=_attention(policy, np.stack(recording.rows[:shown])),
        actions=tuple(recording.actions[:shown]),
        last=last,
    )


@final
@dataclass
class _Recording:
    """Observations and actions of every step, images of the first ones, and the total reward."""

    rows: list[NDArray[np.uint8]] = field(default_factory=list)
    images: list[NDArray[np.uint8]] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    reward: float = 0.0


def _record(policy: CellPolicy, env: Any, seed: int) -> _Recording:
    recording, over = _Recording(), False
    observation, _ = env.reset(seed=seed)
    state, start = policy.cell.start(1), torch.ones(1, dtype=torch.bool, device=policy.device)
    while not over:
        recording.rows.append(policy.observing.row(observation))
        if len(recording.images) < FRAMES:
            recording.images.append(_image(env))
        row = torch.as_tensor(recording.rows[-1], device=policy.device).unsqueeze(0)
        action, _, _, state = policy(row, state, start)
        start = torch.zeros_like(start)
        recording.actions.append(str(env.unwrapped.actions(int(action)).name))
        observation, reward, ended, truncated, _ = env.step(int(action))
        recording.reward, over = recording.reward + float(reward), ended or truncated
    return recording


def _image(env: Any) -> NDArray[np.uint8]:
    """The whole world with the agent's view highlighted."""
    return env.unwrapped.get_frame(tile_size=TILE)


def _attention(policy: CellPolicy, rows: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Attention weights (step, step); empty if the cell has no attention."""
    layer = policy.cell.stack[-1]
    if type(layer).attention is Layer.attention:
        return np.zeros((0, 0))
    features = policy.features(torch.as_tensor(rows, device=policy.device).unsqueeze(1))
    return policy.cell.attention(features)[:, 0].double().cpu().numpy()


def _film_strip(images: list[NDArray[np.uint8]]) -> str:
    """All images next to each other as one PNG in base64; grid worlds have few colors, so 64 suffice."""
    whole = Image.fromarray(np.concatenate(images, axis=1))
    buffer = io.BytesIO()
    whole.quantize(64).save(buffer, "PNG", optimize=True)
    return base64.b64encode(buffer.getvalue()).decode()

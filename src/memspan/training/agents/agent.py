"""An agent that learns: its worlds, its policy and the library's PPO, put together from a configuration."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, cast, final

import numpy as np
import torch
from sb3_contrib.common.recurrent.policies import RecurrentActorCriticPolicy
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.vec_env import DummyVecEnv
from torch import Tensor

from memspan.cells.base.cell import Cell
from memspan.cells.plain.vanilla import Memoryless
from memspan.tasks.gridworld.environment import Episodes
from memspan.training.agents.config import NONE, AgentConfig
from memspan.training.agents.policy import CellPolicy
from memspan.training.agents.ppo import CellPPO
from memspan.training.building import build_cell, seeded
from memspan.training.config import CellConfig
from memspan.training.devices import device_of
from memspan.training.state_tensors import (
    Tensors,
    below,
    load_module,
    load_optimizer,
    module_tensors,
    optimizer_tensors,
)

_LOGGED = {
    "train/value_loss": "value_loss",
    "train/entropy_loss": "entropy",
    "train/approx_kl": "kl",
    "train/clip_fraction": "clipped",
}
"""What the library tells of an update, and what metrics.jsonl calls it; its entropy is a loss, with the sign turned."""


def agent_cell(config: CellConfig, features: int) -> Cell:
    """The cell of an agent that sees so many features."""
    if config.name == NONE:
        return Memoryless(features, config.hidden, config.layers)
    return build_cell(config, features)


@final
class Finished(BaseCallback):
    """Rewards and lengths of the episodes that came to an end."""

    def __init__(self, worlds: int) -> None:
        super().__init__()
        self.reward, self.length = np.zeros(worlds), np.zeros(worlds, dtype=np.int64)
        """Of the episodes that go on."""
        self.rewards: list[float] = []
        self.lengths: list[int] = []

    def _on_step(self) -> bool:
        self.reward += self.locals["rewards"]
        self.length += 1
        for place in np.flatnonzero(self.locals["dones"]):
            self.rewards.append(float(self.reward[place]))
            self.lengths.append(int(self.length[place]))
            self.reward[place], self.length[place] = 0.0, 0
        return True


@final
class Agent:
    """`step` is one update; `tensors` and `load` are all that a checkpoint needs. The caller seeds torch."""

    def __init__(self, config: AgentConfig) -> None:
        """Weights are a function of the configuration alone."""
        self.config, training = config, config.training
        task = config.task
        self.places = [
            Episodes(task.world, seed=config.seed, place=place, mission=task.mission)
            for place in range(training.worlds)
        ]
        self.worlds = DummyVecEnv([partial(_itself, place) for place in self.places])
        with seeded(config.seed):
            self.ppo = _ppo(config, self.worlds, self.places[0])
        self.finished = Finished(training.worlds)
        self.finished.init_callback(self.ppo)
        self.ppo._last_obs = np.asarray(self.worlds.reset())
        self.ppo._last_episode_starts = np.ones(training.worlds, dtype=bool)

    @property
    def policy(self) -> CellPolicy:
        return self.ppo.policy

    def parameter_count(self) -> int:
        """Numbers that are learnt."""
        return sum(parameter.numel() for parameter in self.policy.parameters() if parameter.requires_grad)

    def step(self) -> dict[str, Any]:
        """One round and what is learnt from it; `reward` is the mean of the episodes that ended in it, None if none did."""
        done, ppo = self.finished, self.ppo
        done.rewards, done.lengths = [], []
        ppo.collect_rollouts(self.worlds, done, ppo.rollout_buffer, ppo.n_steps)
        ppo.train()
        told = ppo.logger.name_to_value
        numbers = {word: float(told[name]) for name, word in _LOGGED.items()}
        numbers["entropy"] = -numbers["entropy"]
        return {
            "episodes": len(done.rewards),
            "reward": float(np.mean(done.rewards)) if done.rewards else None,
            "length": float(np.mean(done.lengths)) if done.lengths else None,
            **numbers,
        }

    def sound(self) -> bool:
        """Whether every weight is a finite number."""
        return all(bool(parameter.isfinite().all()) for parameter in self.policy.parameters())

    def tensors(self) -> Tensors:
        """Weights, optimizer, random numbers, the carried state, and the actions of every episode that goes on."""
        found = {
            **module_tensors("policy", self.policy),
            **optimizer_tensors("optimizer", self.policy.optimizer),
        }
        found |= {f"state.{number}": tensor for number, tensor in enumerate(self.ppo.state)}
        for place, episodes in enumerate(self.places):
            found[f"actions.{place}"] = torch.tensor(episodes.actions, dtype=torch.uint8)
        found["episodes"] = torch.tensor([episodes.number for episodes in self.places])
        found["starts"] = torch.as_tensor(np.asarray(self.ppo._last_episode_starts)).to(torch.uint8)
        found["random"] = torch.get_rng_state()
        return found

    def load(self, tensors: Tensors, path: Path) -> None:
        """Put back what `tensors` gave; the episodes that went on are lived again."""
        load_module("policy", self.policy, tensors, path)
        load_optimizer("optimizer", self.policy.optimizer, tensors)
        self._load_state(below("state", tensors))
        seen = [
            episodes.relive(int(number), tensors[f"actions.{place}"].tolist())
            for place, (episodes, number) in enumerate(zip(self.places, tensors["episodes"], strict=True))
        ]
        self.finished.reward = np.array([episodes.reward for episodes in self.places])
        self.finished.length = np.array([len(episodes.actions) for episodes in self.places])
        self.ppo._last_obs = np.stack(seen)
        self.ppo._last_episode_starts = tensors["starts"].numpy().astype(bool)
        torch.set_rng_state(tensors["random"])

    def _load_state(self, parts: dict[str, Tensor]) -> None:
        kind = self.policy.cell.first.State
        self.ppo.state = kind(*(parts[str(number)].to(self.ppo.device) for number in range(len(parts))))

    def close(self) -> None:
        self.worlds.close()


def _itself(episodes: Episodes) -> Episodes:
    return episodes


def _ppo(config: AgentConfig, worlds: DummyVecEnv, first: Episodes) -> CellPPO:
    training = config.training
    ppo = CellPPO(
        cast(type[RecurrentActorCriticPolicy], CellPolicy),  # what it asks of a policy is overridden with it
        worlds,
        learning_rate=training.learning_rate,
        n_steps=training.steps,
        batch_size=training.batch,
        n_epochs=training.epochs,
        gamma=training.discount,
        gae_lambda=training.smoothing,
        clip_range=training.clip,
        ent_coef=training.entropy,
        vf_coef=training.value,
        max_grad_norm=training.clip_norm,
        policy_kwargs={
            "make_cell": partial(agent_cell, config.cell),
            "observing": first.observing,
            "recurrence": training.recurrence,
        },
        device=device_of(training.device),
    )
    ppo.set_logger(Logger(folder=None, output_formats=[]))
    return ppo

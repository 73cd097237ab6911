"""An agent as a learner: its worlds, its policy and the library's PPO, built from a configuration."""

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

from memspan.cells.base.cell import Cell
from memspan.cells.plain.vanilla import Memoryless
from memspan.tasks.gridworld.environment import Episodes
from memspan.training.agents.config import NONE, AgentConfig
from memspan.training.agents.policy import CellPolicy
from memspan.training.agents.ppo import CellPPO
from memspan.training.run.checkpoint import (
    Position,
    Tensors,
    load_module,
    load_optimizer,
    module_tensors,
    optimizer_tensors,
    strip_prefix,
)
from memspan.training.run.config import CellConfig, build_cell
from memspan.training.run.folder import RunFolder
from memspan.training.run.loop import Learner, LoopSettings, NonFiniteError
from memspan.training.run.machine import resolve_device, torch_seed

# The library's metrics and their names in metrics.jsonl; its entropy is a loss, with the opposite sign.
_LOGGED = {
    "train/value_loss": "value_loss",
    "train/entropy_loss": "entropy",
    "train/approx_kl": "kl",
    "train/clip_fraction": "clipped",
}


@final
class Agent(Learner):
    """A policy that PPO trains in several worlds. The caller seeds torch."""

    def __init__(self, config: AgentConfig) -> None:
        """The initial weights depend on the configuration alone."""
        self.config, training = config, config.training
        task = config.task
        self.places = [
            Episodes(task.world, seed=config.seed, place=place, mission=task.mission)
            for place in range(training.worlds)
        ]
        self.worlds = DummyVecEnv([partial(_identity, place) for place in self.places])
        with torch_seed(config.seed):
            self.ppo = _make_ppo(config, self.worlds, self.places[0])
        self.finished = FinishedEpisodes(training.worlds)
        self.finished.init_callback(self.ppo)
        # The library sets these in `learn`, which is not used: rollouts and updates are called one by one.
        self.ppo._last_obs = np.asarray(self.worlds.reset())
        self.ppo._last_episode_starts = np.ones(training.worlds, dtype=bool)

    @property
    def policy(self) -> CellPolicy:
        return self.ppo.policy

    @property
    def name(self) -> str:
        return self.config.cell.name

    @property
    def title(self) -> str:
        return f"{self.config.task.world} by {self.config.cell.name}"

    @property
    def headline(self) -> str:
        return "reward"

    @property
    def settings(self) -> LoopSettings:
        return self.config.training.loop

    def parameter_count(self) -> int:
        """Number of trainable parameters."""
        return sum(parameter.numel() for parameter in self.policy.parameters() if parameter.requires_grad)

    def update(self, position: Position) -> dict[str, Any] | None:
        metrics = self.step()
        if not self.is_finite():
            raise NonFiniteError("a weight is NaN or infinite")
        position.update += 1
        frames = position.update * self.config.training.frames
        return {"update": position.update, "frames": frames, **metrics}

    def step(self) -> dict[str, Any]:
        """Collect frames and learn from them; `reward` is the mean of the episodes that ended, None if none did."""
        done, ppo = self.finished, self.ppo
        done.rewards, done.lengths = [], []
        ppo.collect_rollouts(self.worlds, done, ppo.rollout_buffer, ppo.n_steps)
        ppo.train()
        logged = ppo.logger.name_to_value
        metrics = {word: float(logged[name]) for name, word in _LOGGED.items()}
        metrics["entropy"] = -metrics["entropy"]
        return {
            "episodes": len(done.rewards),
            "reward": float(np.mean(done.rewards)) if done.rewards else None,
            "length": float(np.mean(done.lengths)) if done.lengths else None,
            **metrics,
        }

    def is_finite(self) -> bool:
        return all(bool(parameter.isfinite().all()) for parameter in self.policy.parameters())

    def advice(self, folder: RunFolder) -> str:
        del folder
        lower = self.config.training.learning_rate / 3
        return f"a smaller learning rate (--set training.learning_rate={lower:.1g})"

    def tensors(self) -> Tensors:
        """Weights, optimizer, random numbers, recurrent state, and the actions of every unfinished episode."""
        found = {**module_tensors("policy", self.policy), **optimizer_tensors("optimizer", self.policy.optimizer)}
        found |= {f"state.{number}": tensor for number, tensor in enumerate(self.ppo.state)}
        for place, episodes in enumerate(self.places):
            found[f"actions.{place}"] = torch.tensor(episodes.actions, dtype=torch.uint8)
        found["episodes"] = torch.tensor([episodes.number for episodes in self.places])
        found["starts"] = torch.as_tensor(np.asarray(self.ppo._last_episode_starts)).to(torch.uint8)
        found["random"] = torch.get_rng_state()
        return found

    def load(self, tensors: Tensors, path: Path) -> None:
        """Restore what `tensors` returned; unfinished episodes are replayed from their actions."""
        load_module("policy", self.policy, tensors, path)
        load_optimizer("optimizer", self.policy.optimizer, tensors)
        parts, kind = strip_prefix("state", tensors), self.policy.cell.first.State
        self.ppo.state = kind(*(parts[str(number)].to(self.ppo.device) for number in range(len(parts))))
        observations = [
            episodes.relive(int(number), tensors[f"actions.{place}"].tolist())
            for place, (episodes, number) in enumerate(zip(self.places, tensors["episodes"], strict=True))
        ]
        self.finished.reward = np.array([episodes.reward for episodes in self.places])
        self.finished.length = np.array([len(episodes.actions) for episodes in self.places])
        self.ppo._last_obs = np.stack(observations)
        self.ppo._last_episode_starts = tensors["starts"].numpy().astype(bool)
        torch.set_rng_state(tensors["random"])

    def close(self) -> None:
        self.worlds.close()


@final
class FinishedEpisodes(BaseCallback):
    """Collects rewards and lengths of finished episodes."""

    def __init__(self, worlds: int) -> None:
        super().__init__()
        self.reward, self.length = np.zeros(worlds), np.zeros(worlds, dtype=np.int64)
        """Of the current episode in each world."""
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


def agent_cell(config: CellConfig, features: int) -> Cell:
    """The cell of an agent."""
    if config.name == NONE:
        return Memoryless(features, config.hidden, config.layers)
    return build_cell(config, features)


def _identity(episodes: Episodes) -> Episodes:
    return episodes


def _make_ppo(config: AgentConfig, worlds: DummyVecEnv, first: Episodes) -> CellPPO:
    training = config.training
    ppo = CellPPO(
        cast(type[RecurrentActorCriticPolicy], CellPolicy),  # CellPPO overrides whatever reads an LSTM's state
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
        device=resolve_device(training.device),
    )
    ppo.set_logger(Logger(folder=None, output_formats=[]))
    return ppo

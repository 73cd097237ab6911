"""Recurrent PPO of sb3-contrib, with the state of any cell: its update, its advantages, another memory.

Schulman 2017, section 5. Advantages are normalized in every batch and the error of values is not clipped, unlike in the
published program. An episode that runs out of time ends as any other, as in the published program of Kerg 2020: the
worlds' rewards fall with time, so that time is part of the task.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np
import torch
from sb3_contrib import RecurrentPPO
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecEnv
from torch import Tensor
from torch.optim import Optimizer

from memspan.training.agents.policy import CellPolicy
from memspan.training.agents.windows import WindowBuffer

State = tuple[Tensor, ...]


@final
class CellPPO(RecurrentPPO):
    """The library's update on windows of what was lived; `state` is what the agent carries in each world."""

    policy: CellPolicy  # pyright: ignore[reportIncompatibleVariableOverride]
    rollout_buffer: WindowBuffer
    state: State
    recurrence: int

    def _setup_model(self) -> None:
        """As the library does it, with the cell's state in place of an LSTM's. The caller seeds."""
        self._setup_lr_schedule()
        settings: dict[str, Any] = dict(self.policy_kwargs)
        self.recurrence = settings.pop("recurrence")
        self.policy = CellPolicy(
            self.observation_space, self.action_space, self.lr_schedule, use_sde=False, **settings
        ).to(self.device)
        self.rollout_buffer = WindowBuffer(
            self.n_steps,
            self.observation_space,
            self.action_space,
            self.policy.cell,
            self.recurrence,
            self.device,
            gae_lambda=self.gae_lambda,
            gamma=self.gamma,
            n_envs=self.n_envs,
        )
        self.state = self.policy.cell.start(self.n_envs)
        clip = self.clip_range
        assert isinstance(clip, float)
        self.clip_range = lambda _: clip

    def collect_rollouts(
        self, env: VecEnv, callback: BaseCallback, rollout_buffer: RolloutBuffer, n_rollout_steps: int
    ) -> bool:
        """Live so many steps in every world and keep what was seen, done and thought of it."""
        assert isinstance(rollout_buffer, WindowBuffer)
        self.policy.set_training_mode(False)
        rollout_buffer.reset()
        with torch.no_grad():
            for step in range(n_rollout_steps):
                if step % self.recurrence == 0:
                    rollout_buffer.keep(self.state)
                self._live(env, callback, rollout_buffer)
            last = self.policy.predict_values(*self._now())
        rollout_buffer.compute_returns_and_advantage(last, np.asarray(self._last_episode_starts))
        self.num_timesteps += n_rollout_steps * env.num_envs
        return True

    def _live(self, env: VecEnv, callback: BaseCallback, buffer: WindowBuffer) -> None:
        actions, values, log_probs, self.state = self.policy(*self._now())
        taken = actions.cpu().numpy()
        seen, rewards, ended, told = env.step(taken)
        buffer.add(
            np.asarray(self._last_obs),
            taken.reshape(-1, 1),
            rewards,
            np.asarray(self._last_episode_starts),
            values,
            log_probs,
        )
        self._last_obs, self._last_episode_starts = seen, ended  # pyright: ignore[reportAttributeAccessIssue]
        callback.update_locals({"rewards": rewards, "dones": ended, "infos": told})
        callback.on_step()

    def _now(self) -> tuple[Tensor, State, Tensor]:
        """What is seen in every world, the state, and where an episode begins."""
        seen = torch.as_tensor(np.asarray(self._last_obs), device=self.device)
        starts = torch.as_tensor(np.asarray(self._last_episode_starts), device=self.device).bool()
        return seen, self.state, starts

    def _update_learning_rate(self, optimizers: list[Optimizer] | Optimizer) -> None:
        """Constant: weights that learn at another rate than the rest keep theirs."""

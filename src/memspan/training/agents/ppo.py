"""Recurrent PPO of sb3-contrib with the state of any cell: the library's update on windows of collected frames.

Schulman 2017, section 5. Unlike in the published program of Kerg 2020, advantages are normalized in every batch and the
value loss is not clipped. As there, an episode that reaches its time limit ends like any other: rewards decrease with
time, so that time is part of the task.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, final

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from sb3_contrib import RecurrentPPO
from sb3_contrib.common.recurrent.type_aliases import RecurrentRolloutBufferSamples
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecEnv
from torch import Tensor
from torch.optim import Optimizer

from memspan.cells.base.cell import Cell, join_states, select_sequences
from memspan.training.agents.policy import CellPolicy, State


@final
class CellPPO(RecurrentPPO):
    """PPO over a `CellPolicy`; `state` is the agent's recurrent state in every world."""

    policy: CellPolicy  # pyright: ignore[reportIncompatibleVariableOverride]
    rollout_buffer: WindowBuffer
    state: State
    recurrence: int

    def _setup_model(self) -> None:
        """As in the library, with the cell's state in place of an LSTM's. The caller seeds torch."""
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
        """Act for `n_rollout_steps` in every world and store observations, actions, values and states."""
        assert isinstance(rollout_buffer, WindowBuffer)
        self.policy.set_training_mode(False)
        rollout_buffer.reset()
        with torch.no_grad():
            for step in range(n_rollout_steps):
                if step % self.recurrence == 0:
                    rollout_buffer.add_state(self.state)
                self._act(env, callback, rollout_buffer)
            last = self.policy.predict_values(*self._inputs())
        rollout_buffer.compute_returns_and_advantage(last, np.asarray(self._last_episode_starts))
        self.num_timesteps += n_rollout_steps * env.num_envs
        return True

    def _act(self, env: VecEnv, callback: BaseCallback, buffer: WindowBuffer) -> None:
        actions, values, log_probs, self.state = self.policy(*self._inputs())
        taken = actions.cpu().numpy()
        observations, rewards, ended, infos = env.step(taken)
        buffer.add(
            np.asarray(self._last_obs),
            taken.reshape(-1, 1),
            rewards,
            np.asarray(self._last_episode_starts),
            values,
            log_probs,
        )
        self._last_obs, self._last_episode_starts = observations, ended  # pyright: ignore[reportAttributeAccessIssue]
        callback.update_locals({"rewards": rewards, "dones": ended, "infos": infos})
        callback.on_step()

    def _inputs(self) -> tuple[Tensor, State, Tensor]:
        """The current observation of every world, the state, and where an episode starts."""
        observations = torch.as_tensor(np.asarray(self._last_obs), device=self.device)
        starts = torch.as_tensor(np.asarray(self._last_episode_starts), device=self.device).bool()
        return observations, self.state, starts

    def _update_learning_rate(self, optimizers: list[Optimizer] | Optimizer) -> None:
        """Do nothing: the rate is constant, and the library would give all parameter groups the same one."""


@final
class WindowBuffer(RolloutBuffer):
    """sb3's rollout buffer, whose batches are windows of `recurrence` steps in random order with their initial states.

    A window may contain ends of episodes: `starts` clears the state there, as it did when the frames were collected.
    """

    def __init__(
        self,
        steps: int,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        cell: Cell,
        recurrence: int,
        device: torch.device | str,
        gae_lambda: float,
        gamma: float,
        n_envs: int,
    ) -> None:
        self.cell, self.recurrence = cell, recurrence
        self.states: list[State] = []
        super().__init__(steps, observation_space, action_space, device, gae_lambda, gamma, n_envs)

    def reset(self) -> None:
        self.states = []
        super().reset()

    def add_state(self, state: State) -> None:
        """Store the state of all worlds before the first step of a window."""
        self.states.append(tuple(tensor.detach().clone() for tensor in state))

    def get(  # pyright: ignore[reportIncompatibleMethodOverride] - windows have states
        self, batch_size: int | None = None
    ) -> Generator[RecurrentRolloutBufferSamples, None, None]:
        """Every window once, in batches of `batch_size` frames, in an order drawn by torch."""
        whole = self.whole()
        count = whole.observations.shape[1]
        windows = count if batch_size is None else max(1, batch_size // self.recurrence)
        for index in torch.randperm(count).to(self.device).split(windows):
            yield self._select(whole, index)

    def whole(self) -> RecurrentRolloutBufferSamples:
        """All windows in parallel: (recurrence, windows, …), and the state before each."""
        assert self.full, "the rollout must be complete"
        return RecurrentRolloutBufferSamples(
            observations=self._windows(self.observations),
            actions=self._windows(self.actions),
            old_values=self._windows(self.values),
            old_log_prob=self._windows(self.log_probs),
            advantages=self._windows(self.advantages),
            returns=self._windows(self.returns),
            lstm_states=join_states(self.cell, self.states),  # pyright: ignore[reportArgumentType]
            episode_starts=self._windows(self.episode_starts) > 0,
            mask=torch.ones(0),
        )

    def _windows(self, rows: NDArray[Any]) -> Tensor:
        """(steps, worlds, …) to (recurrence, windows of all worlds, …); windows of the same time are adjacent."""
        cut = rows.reshape(-1, self.recurrence, self.n_envs, *rows.shape[2:])
        return self.to_torch(np.swapaxes(cut, 0, 1).reshape(self.recurrence, -1, *rows.shape[2:]))

    def _select(self, whole: RecurrentRolloutBufferSamples, index: Tensor) -> RecurrentRolloutBufferSamples:
        def flat(tensor: Tensor) -> Tensor:
            return tensor[:, index].flatten(0, 1)

        state: Any = select_sequences(self.cell, whole.lstm_states, index)  # pyright: ignore[reportArgumentType]
        return RecurrentRolloutBufferSamples(
            observations=whole.observations[:, index],
            actions=flat(whole.actions),
            old_values=flat(whole.old_values),
            old_log_prob=flat(whole.old_log_prob),
            advantages=flat(whole.advantages),
            returns=flat(whole.returns),
            lstm_states=state,
            episode_starts=whole.episode_starts[:, index],
            mask=torch.ones(self.recurrence * len(index), device=index.device),
        )

"""A round of frames cut into windows, each with the state that it began from: what is learnt from is what was lived.

Windows may hold the ends of episodes: `starts` clears the state there, as it did when the frames were lived through.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, final

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from sb3_contrib.common.recurrent.type_aliases import RecurrentRolloutBufferSamples
from stable_baselines3.common.buffers import RolloutBuffer
from torch import Tensor

from memspan.cells.base.cell import Cell, join_states, select_sequences

State = tuple[Tensor, ...]


@final
class WindowBuffer(RolloutBuffer):
    """sb3's buffer of a round, whose batches are windows of `recurrence` steps in random order, states included."""

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
        self.kept: list[State] = []
        super().__init__(steps, observation_space, action_space, device, gae_lambda, gamma, n_envs)

    def reset(self) -> None:
        self.kept = []
        super().reset()

    def keep(self, state: State) -> None:
        """The state before the first step of a window, of all worlds."""
        self.kept.append(tuple(tensor.detach().clone() for tensor in state))

    def get(  # pyright: ignore[reportIncompatibleMethodOverride] - windows have states
        self, batch_size: int | None = None
    ) -> Generator[RecurrentRolloutBufferSamples, None, None]:
        """Every window once, in batches of `batch_size` frames; the order is drawn by torch."""
        whole = self.whole()
        count = whole.observations.shape[1]
        windows = count if batch_size is None else max(1, batch_size // self.recurrence)
        for index in torch.randperm(count).to(self.device).split(windows):
            yield self._some(whole, index)

    def whole(self) -> RecurrentRolloutBufferSamples:
        """All windows side by side: (recurrence, windows, …), and the state before each."""
        assert self.full, "a round is learnt from when it is whole"
        return RecurrentRolloutBufferSamples(
            observations=self._cut(self.observations),
            actions=self._cut(self.actions),
            old_values=self._cut(self.values),
            old_log_prob=self._cut(self.log_probs),
            advantages=self._cut(self.advantages),
            returns=self._cut(self.returns),
            lstm_states=join_states(self.cell, self.kept),  # pyright: ignore[reportArgumentType]
            episode_starts=self._cut(self.episode_starts) > 0,
            mask=torch.ones(0),
        )

    def _cut(self, rows: NDArray[Any]) -> Tensor:
        """(steps, worlds, …) to (recurrence, windows of all worlds, …), the windows of one time side by side."""
        cut = rows.reshape(-1, self.recurrence, self.n_envs, *rows.shape[2:])
        return self.to_torch(np.swapaxes(cut, 0, 1).reshape(self.recurrence, -1, *rows.shape[2:]))

    def _some(self, whole: RecurrentRolloutBufferSamples, index: Tensor) -> RecurrentRolloutBufferSamples:
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

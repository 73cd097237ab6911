"""pi(a | o_1 … o_t) and V(o_1 … o_t) from one recurrent layer: any memspan cell as a policy for stable-baselines3.

sb3-contrib's own policies carry the two tensors of an LSTM. Here the whole state of a cell is carried, memory and scores
included, and cleared by `resets` where an episode begins, in acting and in learning alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import torch
from gymnasium import spaces
from stable_baselines3.common.distributions import CategoricalDistribution, Distribution
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.torch_layers import MlpExtractor
from torch import Tensor, nn

from memspan.cells.base.cell import Cell
from memspan.tasks.gridworld.environment import RowLayout
from memspan.training.agents.encoder import GridEncoder
from memspan.training.loop import DivergenceError

State = tuple[Tensor, ...]
HEAD = 64
"""Units between the cell and the odds of actions, and between it and the value.  The published program of Kerg 2020."""
EPSILON = 1e-8
"""Of Adam."""


@final
class CellPolicy(ActorCriticPolicy):
    """Actor and critic over one cell, whose gradients both go through it."""

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        lr_schedule: Callable[[float], float],
        use_sde: bool = False,
        *,
        make_cell: Callable[[int], Cell],
        observing: RowLayout,
    ) -> None:
        """`make_cell` gives the cell for so many features."""
        features = GridEncoder(
            observation_space,  # pyright: ignore[reportArgumentType]
            observing,
        ).features_dim
        cell = make_cell(features)
        self.width = cell.hidden_size
        super().__init__(
            observation_space,
            action_space,
            lr_schedule,
            net_arch={"pi": [HEAD], "vf": [HEAD]},
            activation_fn=nn.Tanh,
            use_sde=use_sde,
            features_extractor_class=GridEncoder,
            features_extractor_kwargs={"observing": observing},
        )
        self.cell = cell
        rate = lr_schedule(1)
        rest = [p for name, p in self.named_parameters() if not name.startswith("cell.")]
        self.optimizer = torch.optim.Adam(
            [{"params": rest, "lr": rate}, *cell.parameter_groups(rate)], lr=rate, eps=EPSILON
        )

    def _build_mlp_extractor(self) -> None:
        self.mlp_extractor = MlpExtractor(
            self.width, net_arch=self.net_arch, activation_fn=self.activation_fn, device=self.device
        )

    def forward(  # pyright: ignore[reportIncompatibleMethodOverride] - a policy with a state
        self, obs: Tensor, state: State, starts: Tensor, deterministic: bool = False
    ) -> tuple[Tensor, Tensor, Tensor, State]:
        """One step in every world: actions, values and log-probabilities (worlds), and the state after it.

        `starts` (worlds) is true where an episode begins with this very observation.
        """
        latent, after = self.remembered(obs.unsqueeze(0), state, starts.unsqueeze(0))
        odds, values = self._heads(latent)
        actions = odds.get_actions(deterministic=deterministic)
        return actions, values, odds.log_prob(actions), after

    def evaluate_actions(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, obs: Tensor, actions: Tensor, state: State, starts: Tensor
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Values, log-probabilities and entropies (steps x sequences) of what was done from a state on.

        `obs` is (steps, sequences, length), `starts` (steps, sequences), `actions` flat.
        """
        odds, values = self._heads(self.remembered(obs, state, starts)[0])
        return values, odds.log_prob(actions), odds.entropy()

    def predict_values(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, obs: Tensor, state: State, starts: Tensor
    ) -> Tensor:
        """The value of one step in every world."""
        return self._heads(self.remembered(obs.unsqueeze(0), state, starts.unsqueeze(0))[0])[1]

    def remembered(self, obs: Tensor, state: State, starts: Tensor) -> tuple[Tensor, State]:
        """What the cell gives (steps x sequences, hidden), and its state after the last step."""
        output, after = self.cell(self.features(obs), state, resets=starts)
        return output.flatten(0, 1), after

    def features(self, obs: Tensor) -> Tensor:
        """What the cell reads, (steps, sequences, features)."""
        features = self.extract_features(obs.flatten(0, 1))
        assert isinstance(features, Tensor), "actor and critic share what they see"
        return features.unflatten(0, obs.shape[:2])

    def _heads(self, latent: Tensor) -> tuple[Distribution, Tensor]:
        logits = self.action_net(self.mlp_extractor.forward_actor(latent))
        if not bool(logits.isfinite().all()):
            raise DivergenceError("the odds of an action are no finite number")
        assert isinstance(self.action_dist, CategoricalDistribution), "actions of grid worlds are few"
        odds = self.action_dist.proba_distribution(logits)
        return odds, self.value_net(self.mlp_extractor.forward_critic(latent))

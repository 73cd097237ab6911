"""pi(a | o_1 … o_t) and V(o_1 … o_t) from one recurrent layer: any memspan cell as a policy for stable-baselines3.

The policies of sb3-contrib carry the two tensors of an LSTM. This one carries the whole state of a cell, stored states and
scores included, and clears it by `resets` at the start of an episode, both when acting and when learning.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import torch
from gymnasium import spaces
from stable_baselines3.common.distributions import CategoricalDistribution, Distribution
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor, MlpExtractor
from torch import Tensor, nn

from memspan.cells.base.cell import Cell
from memspan.tasks.gridworld.environment import COLORS, DIRECTIONS, KINDS, STATES, RowLayout
from memspan.training.run.loop import NonFiniteError

State = tuple[Tensor, ...]
CHANNELS = KINDS + COLORS + STATES
# Hidden size of the policy head and of the value head.  The published program of Kerg 2020.
HEAD = 64
# Epsilon of Adam.
EPSILON = 1e-8


@final
class CellPolicy(ActorCriticPolicy):
    """Actor and critic that share one cell; the gradients of both pass through it."""

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
        """`make_cell` builds the cell for a number of features."""
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

    @property
    def observing(self) -> RowLayout:
        """The layout of the observations that this policy reads."""
        found = self.features_extractor_kwargs["observing"]
        assert isinstance(found, RowLayout)
        return found

    def forward(  # pyright: ignore[reportIncompatibleMethodOverride] - a policy with a state
        self, obs: Tensor, state: State, starts: Tensor, deterministic: bool = False
    ) -> tuple[Tensor, Tensor, Tensor, State]:
        """One step in every world: actions, values and log-probabilities (worlds), and the next state.

        `starts` (worlds) is true where this observation is the first of an episode.
        """
        latent, after = self.recurrent_features(obs.unsqueeze(0), state, starts.unsqueeze(0))
        distribution, values = self._heads(latent)
        actions = distribution.get_actions(deterministic=deterministic)
        return actions, values, distribution.log_prob(actions), after

    def evaluate_actions(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, obs: Tensor, actions: Tensor, state: State, starts: Tensor
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Values, log-probabilities and entropies (steps x sequences) of recorded actions, starting from `state`.

        `obs` is (steps, sequences, length), `starts` (steps, sequences), `actions` flat.
        """
        distribution, values = self._heads(self.recurrent_features(obs, state, starts)[0])
        return values, distribution.log_prob(actions), distribution.entropy()

    def predict_values(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, obs: Tensor, state: State, starts: Tensor
    ) -> Tensor:
        """The value of one step in every world."""
        return self._heads(self.recurrent_features(obs.unsqueeze(0), state, starts.unsqueeze(0))[0])[1]

    def recurrent_features(self, obs: Tensor, state: State, starts: Tensor) -> tuple[Tensor, State]:
        """The outputs of the cell (steps x sequences, hidden), and its state after the last step."""
        output, after = self.cell(self.features(obs), state, resets=starts)
        return output.flatten(0, 1), after

    def features(self, obs: Tensor) -> Tensor:
        """The inputs of the cell (steps, sequences, features)."""
        features = self.extract_features(obs.flatten(0, 1))
        assert isinstance(features, Tensor), "actor and critic share their features"
        return features.unflatten(0, obs.shape[:2])

    def _heads(self, latent: Tensor) -> tuple[Distribution, Tensor]:
        logits = self.action_net(self.mlp_extractor.forward_actor(latent))
        if not bool(logits.isfinite().all()):
            raise NonFiniteError("an action probability is NaN or infinite")
        assert isinstance(self.action_dist, CategoricalDistribution), "grid worlds have discrete actions"
        distribution = self.action_dist.proba_distribution(logits)
        return distribution, self.value_net(self.mlp_extractor.forward_critic(latent))


@final
class GridEncoder(BaseFeaturesExtractor):
    """Observations (batch, length) to features: 64 per remaining position of the view, the direction, the mission words.

    The convolutions are those of the published program of Kerg 2020 (16, 32 and 64 channels of 2 x 2, max pooling over
    2 x 2 after the first). That program reads kind, color and state as magnitudes; here each value has its own channel.
    """

    def __init__(self, observation_space: spaces.Box, observing: RowLayout) -> None:
        positions = max(0, (observing.size - 1) // 2 - 2) ** 2
        words = observing.length - 3 * observing.size**2 - 1
        super().__init__(observation_space, 64 * positions + DIRECTIONS + words)
        self.observing = observing
        self.convolutions = nn.Sequential(
            *(nn.Conv2d(CHANNELS, 16, 2), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Conv2d(16, 32, 2), nn.ReLU()),
            *(nn.Conv2d(32, 64, 2), nn.ReLU(), nn.Flatten()),
        )
        # Buffers, so that they move with the module; not persistent, because they are constants.
        firsts = torch.tensor([0, KINDS, KINDS + COLORS])
        self.register_buffer("firsts", firsts, persistent=False)
        self.register_buffer("codes", torch.eye(CHANNELS), persistent=False)
        self.register_buffer("compass", torch.eye(DIRECTIONS), persistent=False)

    def forward(self, observations: Tensor) -> Tensor:
        size = self.observing.size
        cells = 3 * size**2
        names = observations[:, :cells].long().view(-1, size * size, 3) + self.get_buffer("firsts")
        channels = self.get_buffer("codes")[names].sum(dim=2)
        image = channels.transpose(1, 2).reshape(-1, CHANNELS, size, size)
        heading = self.get_buffer("compass")[observations[:, cells].long()]
        return torch.cat([self.convolutions(image), heading, observations[:, cells + 1 :]], dim=1)

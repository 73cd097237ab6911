"""What an agent sees as features: names of things as channels, then small convolutions.

The convolutions are those of the published program of Kerg 2020 (16, 32 and 64 channels of 2 x 2, a maximum over 2 x 2 after
the first). It reads kind, colour and state as sizes; here each is a name, with a channel of its own.
"""

from __future__ import annotations

from typing import final

import torch
from gymnasium import spaces
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import Tensor, nn

from memspan.tasks.gridworld.environment import COLORS, DIRECTIONS, KINDS, STATES, RowLayout

CHANNELS = KINDS + COLORS + STATES


@final
class GridEncoder(BaseFeaturesExtractor):
    """Rows (batch, length) of `RowLayout` to features: 64 for each place left of the view, the direction, the words."""

    def __init__(self, observation_space: spaces.Box, observing: RowLayout) -> None:
        places = max(0, (observing.size - 1) // 2 - 2) ** 2
        words = observing.length - 3 * observing.size**2 - 1
        super().__init__(observation_space, 64 * places + DIRECTIONS + words)
        self.observing = observing
        self.convolutions = nn.Sequential(
            *(nn.Conv2d(CHANNELS, 16, 2), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Conv2d(16, 32, 2), nn.ReLU()),
            *(nn.Conv2d(32, 64, 2), nn.ReLU(), nn.Flatten()),
        )
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

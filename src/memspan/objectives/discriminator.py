"""What tells pairs that belong together from pairs that do not."""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor, nn

from memspan.errors import InputError


@final
class Discriminator(nn.Module):
    """D(a, b) = w . relu(W [a, b, a - b, |a - b|, a * b] + c) + d, one number for every pair of vectors.

    Cao and Xu 2020, section 5: 500 hidden units. With `swapped`, a second network scores (b, a), and their mean counts,
    as in the authors' program.

    >>> Discriminator(4, 10)(torch.zeros(7, 4), torch.ones(7, 4)).shape
    torch.Size([7])
    """

    def __init__(
        self,
        width: int,
        hidden: int = 500,
        *,
        swapped: bool = False,
        input_dropout: float = 0.0,
        hidden_dropout: float = 0.0,
    ) -> None:
        """`width` numbers of a and of b; drops coordinates of what a network reads and of its hidden layer, in training."""
        super().__init__()
        for name, value in (("width", width), ("hidden", hidden)):
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise InputError(f"Discriminator: {name} is {value!r}; expected a whole number of 1 or more")
        self.width = width
        self.networks = nn.ModuleList(
            nn.Sequential(
                nn.Dropout(input_dropout),
                nn.Linear(5 * width, hidden),
                nn.ReLU(),
                nn.Dropout(hidden_dropout),
                nn.Linear(hidden, 1),
            )
            for _ in range(2 if swapped else 1)
        )
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_normal_(module.weight)
                nn.init.zeros_(module.bias)

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        """Scores (…) of vectors (…, width)."""
        if a.shape != b.shape or a.shape[-1] != self.width:
            raise InputError(
                f"pairs of shapes {tuple(a.shape)} and {tuple(b.shape)}; expected both (…, {self.width})"
            )
        pairs = ((a, b), (b, a))
        scores = [
            network(_compared(*pair)).squeeze(-1) for network, pair in zip(self.networks, pairs, strict=False)
        ]
        # Under autocast they come in half precision, in which weights would not add up to one.
        return torch.stack(scores).to(next(self.parameters()).dtype).mean(dim=0)


def _compared(a: Tensor, b: Tensor) -> Tensor:
    return torch.cat([a, b, a - b, (a - b).abs(), a * b], dim=-1)

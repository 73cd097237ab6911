"""One symbol out of what a model answers: by chance, at a temperature, among the likeliest only."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from memspan.errors import InputError

_FEW = 64
"""As many of the likeliest symbols are looked at first for a set of probability `top_p`; then eight times as many."""


@final
@dataclass(frozen=True, kw_only=True)
class Choice:
    """p_i = exp(z_i / temperature) / sum_j exp(z_j / temperature), over the symbols that are left.

    First the `top_k` largest logits are left; then, of these, the fewest whose probability together reaches `top_p`,
    the likeliest first. Temperature 0 is the limit: always the largest logit, the first of several.

    >>> Choice(temperature=0).draw(torch.tensor([[0.0, 2.0, 1.0]]), torch.Generator())
    tensor([1])
    """

    temperature: float = 1.0
    top_k: int | None = None
    """How many symbols are left; None: all."""
    top_p: float | None = None
    """How much probability is left; None: all."""

    def __post_init__(self) -> None:
        if not _is_number(self.temperature) or not 0 <= self.temperature < math.inf:
            raise InputError(
                f"temperature is {self.temperature!r}; expected a number above 0 (1 leaves the model's probabilities as "
                "they are), or 0 for the likeliest symbol"
            )
        if self.top_k is not None and (
            isinstance(self.top_k, bool) or not isinstance(self.top_k, int) or self.top_k < 1
        ):
            raise InputError(
                f"top_k is {self.top_k!r}; expected a whole number of 1 or more; leave it out for all"
            )
        if self.top_p is not None and (not _is_number(self.top_p) or not 0 < self.top_p <= 1):
            raise InputError(
                f"top_p is {self.top_p!r}; expected a probability above 0, at most 1; leave it out for all"
            )

    def draw(self, logits: Tensor, generator: torch.Generator) -> Tensor:
        """Symbols (batch) for logits (batch, classes)."""
        uniform = torch.rand(len(logits), dtype=torch.float64, device=generator.device, generator=generator)
        return self.at(logits, uniform)

    def at(self, logits: Tensor, uniform: Tensor) -> Tensor:
        """The symbols (batch) at `uniform`, numbers (batch) of [0, 1), which is cut into a stretch p_i long for each."""
        if logits.device.type == "mps":  # it has no double precision
            return self.at(logits.cpu(), uniform).to(logits.device)
        largest = logits.amax(dim=1, keepdim=True)
        if not largest.isfinite().all():
            raise InputError(
                "the model's answers are infinite or no numbers; expected finite logits; its training has diverged or its "
                "weights are damaged, take an earlier checkpoint"
            )
        if self.temperature == 0:
            return logits.argmax(dim=1)
        # The largest exponent is 0, so that no temperature is too low.
        precision = torch.promote_types(logits.dtype, torch.float32)
        exponents = (logits.to(precision) - largest) / self.temperature
        weights, places = exponents.exp().double(), []
        if self.top_k is not None:
            weights, largest_first = weights.topk(min(self.top_k, weights.shape[1]))
            places.append(largest_first)
        if self.top_p is not None and self.top_p < 1:
            weights, largest_first = _reaching(weights, self.top_p)
            places.append(largest_first)
        symbols = _inverse(weights, uniform.to(weights.device))
        for order in reversed(places):
            symbols = order.gather(1, symbols)
        return symbols.squeeze(1)


def _inverse(weights: Tensor, uniform: Tensor) -> Tensor:
    """(batch, 1): the first place up to which more than `uniform` of all weight is reached; none of weight 0."""
    reached = weights.cumsum(dim=1)
    return torch.searchsorted(reached, uniform.unsqueeze(1) * reached[:, -1:], right=True)


def _reaching(weights: Tensor, share: float) -> tuple[Tensor, Tensor]:
    """The fewest weights of each row that make up `share` of its sum, largest first, then zeros; and their places."""
    wanted, classes, size = share * weights.sum(dim=1, keepdim=True), weights.shape[1], _FEW
    while True:
        largest, places = weights.topk(min(size, classes))
        reached = largest.cumsum(dim=1)
        if size >= classes or (reached[:, -1:] >= wanted).all():
            return largest.masked_fill(reached - largest >= wanted, 0), places
        size *= 8


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)

"""`Choice`: how a symbol is drawn from logits, by temperature, top-k and top-p (nucleus) sampling."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from memspan.errors import InputError

# Number of likeliest symbols searched first for `top_p`; eight times as many in each further attempt.
_TOP_P_START = 64


@final
@dataclass(frozen=True, kw_only=True)
class Choice:
    """p_i = exp(z_i / temperature) / sum_j exp(z_j / temperature), over the symbols that are not filtered out.

    The filters apply in order: the `top_k` largest logits, then among these the smallest set of likeliest symbols
    whose total probability reaches `top_p`. Temperature 0 is greedy decoding: the largest logit, the first of several.

    >>> Choice(temperature=0).draw(torch.tensor([[0.0, 2.0, 1.0]]), torch.Generator())
    tensor([1])
    """

    temperature: float = 1.0
    top_k: int | None = None
    """Number of symbols to keep; None: all."""
    top_p: float | None = None
    """Probability to keep; None: all."""

    def __post_init__(self) -> None:
        if not _is_number(self.temperature) or not 0 <= self.temperature < math.inf:
            raise InputError(
                f"temperature is {self.temperature!r}; expected a number above 0 (1 keeps the model's "
                "probabilities), or 0 for the likeliest symbol"
            )
        if self.top_k is not None and (
            isinstance(self.top_k, bool) or not isinstance(self.top_k, int) or self.top_k < 1
        ):
            raise InputError(f"top_k is {self.top_k!r}; expected a whole number of 1 or more; omit it for all")
        if self.top_p is not None and (not _is_number(self.top_p) or not 0 < self.top_p <= 1):
            raise InputError(f"top_p is {self.top_p!r}; expected a probability above 0, at most 1; omit it for all")

    def draw(self, logits: Tensor, generator: torch.Generator) -> Tensor:
        """Symbols (batch) for logits (batch, classes)."""
        uniform = torch.rand(len(logits), dtype=torch.float64, device=generator.device, generator=generator)
        return self.at(logits, uniform)

    def at(self, logits: Tensor, uniform: Tensor) -> Tensor:
        """Symbols (batch) by the inverse of the cumulative distribution at `uniform`, numbers (batch) in [0, 1)."""
        if logits.device.type == "mps":  # no double precision there
            return self.at(logits.cpu(), uniform).to(logits.device)
        largest = logits.amax(dim=1, keepdim=True)
        if not largest.isfinite().all():
            raise InputError(
                "the model's logits are infinite or NaN; expected finite logits; its training has diverged or its "
                "weights are damaged, use an earlier checkpoint"
            )
        if self.temperature == 0:
            return logits.argmax(dim=1)
        # Subtracting the maximum keeps the exponential finite at any temperature.
        precision = torch.promote_types(logits.dtype, torch.float32)
        exponents = (logits.to(precision) - largest) / self.temperature
        # Cumulative sums over a large vocabulary lose small probabilities in single precision.
        weights, orders = exponents.exp().double(), []
        if self.top_k is not None:
            weights, order = weights.topk(min(self.top_k, weights.shape[1]))
            orders.append(order)
        if self.top_p is not None and self.top_p < 1:
            weights, order = _nucleus(weights, self.top_p)
            orders.append(order)
        cumulative = weights.cumsum(dim=1)
        uniform = uniform.to(weights.device).unsqueeze(1)
        # right=True: a symbol of weight 0 is never drawn, not even at uniform = 0.
        symbols = torch.searchsorted(cumulative, uniform * cumulative[:, -1:], right=True)
        # Indices refer to the filtered weights; undo the filters in reverse order.
        for order in reversed(orders):
            symbols = order.gather(1, symbols)
        return symbols.squeeze(1)


def _nucleus(weights: Tensor, share: float) -> tuple[Tensor, Tensor]:
    """The fewest weights of each row that sum to `share` of its total, in descending order; and their indices.

    Further weights are 0. Sorting a large vocabulary is slow, so the search grows from the likeliest symbols.
    """
    target, classes, size = share * weights.sum(dim=1, keepdim=True), weights.shape[1], _TOP_P_START
    while True:
        largest, order = weights.topk(min(size, classes))
        cumulative = largest.cumsum(dim=1)
        if size >= classes or (cumulative[:, -1:] >= target).all():
            return largest.masked_fill(cumulative - largest >= target, 0), order
        size *= 8


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)

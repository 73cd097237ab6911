"""The model's own continuations, rewarded for what they have to do with what came before.  Cao and Xu 2020, Eq. 9."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from memspan.models.model import Model
from memspan.objectives.discriminator import Discriminator
from memspan.objectives.reading import log_likelihoods, pooled
from memspan.objectives.segments import Padded
from memspan.sampling import Choice
from memspan.sampling.writing import at_rest

GREEDY = Choice(temperature=0)
PLAIN = Choice()


def policy_loss(
    model: Model,
    discriminator: Discriminator,
    first: Padded,
    length: int,
    random: np.random.Generator,
    *,
    padding: bool = False,
) -> tuple[Tensor, float]:
    """-mean of (r - r_greedy) log Q(Y | X) / |Y| over continuations Y that are drawn from Q; also the mean r.

    r = -softplus(-D(X, Y)) - softplus(D(X', Y)), with X' another segment: high where Y goes with X and with no other.
    What the likeliest continuation earns is the baseline (self-critical, Rennie 2017). Gradients reach the model through
    log Q only, and the discriminator not at all.
    """
    drawn = continued(model, first, length, PLAIN, random)
    likeliest = continued(model, first, length, GREEDY, random)
    with at_rest(model), at_rest(discriminator):
        reward, baseline = (
            rewards(model, discriminator, first, each, padding=padding) for each in (drawn, likeliest)
        )
    likelihood = log_likelihoods(model, first, drawn)
    return -((reward - baseline) * likelihood).mean(), float(reward.mean())


def rewards(
    model: Model, discriminator: Discriminator, first: Padded, second: Padded, *, padding: bool = False
) -> Tensor:
    """R+(X, Y) - R-(X', Y) of every pair, X' being the X of the next pair."""
    x, y = (pooled(model, each, padding=padding) for each in (first, second))
    return -functional.softplus(-discriminator(x, y)) - functional.softplus(discriminator(x.roll(1, 0), y))


def continued(
    model: Model, first: Padded, length: int, choice: Choice, random: np.random.Generator
) -> Padded:
    """What the model writes after each segment, `length` symbols; sequences of unequal length begin at their own steps."""
    device, columns = first.symbols.device, torch.arange(len(first.lengths), device=first.symbols.device)
    steps = len(first.symbols) + length - 1
    text = first.symbols.new_zeros(steps + 1, len(columns))
    text[: len(first.symbols)] = first.symbols
    state = None
    with at_rest(model):
        for step in range(steps):
            output = model(text[step : step + 1], state)
            state = output.state
            uniform = torch.from_numpy(random.random(len(columns))).to(device)
            symbols = choice.at(output.logits[0], uniform)
            text[step + 1] = torch.where(step + 1 < first.lengths, text[step + 1], symbols)
    written = text[first.lengths + torch.arange(length, device=device).unsqueeze(1), columns]
    return Padded(written, torch.full_like(first.lengths, length))

"""Policy gradients on the mutual information of generated segments.  Cao and Xu 2020, Eq. 7 to 9.

The model generates a segment X after a start symbol and a segment Y after X. The discriminator rewards pairs that belong
together and penalizes pairs that do not:

    I~ = E_{Q_XY} R+ - E_{Q_X Q_Y} R-,    R+ = -softplus(-D(X, Y)),    R- = softplus(D(X, Y))

`policy_loss` is the part of its gradient that passes through the distribution Q; the other part is that of the first phase.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from memspan.models.model import Model
from memspan.objectives.bounds import Discriminator
from memspan.objectives.segments import Padded, log_likelihoods, pooled
from memspan.sampling.decoding import Choice
from memspan.sampling.streams import evaluation_mode

# Symbols that the authors' program generates for each segment.
PROGRAM_LENGTH = 15


def policy_loss(
    model: Model, discriminator: Discriminator, start: Tensor, length: int, random: np.random.Generator
) -> tuple[Tensor, float]:
    """A loss whose gradient is an unbiased estimate of -g_2 (Eq. 9); also the mean of R+ - R-.

        g_2 = E_{Q_XY} R+ grad log Q_XY - E_{Q_X Q_Y} R- (grad log Q_X + grad log Q_Y)

    X and Y have `length` symbols each and follow `start` (batch,), which is read from an empty state. Samples are drawn and
    scored without dropout. With dropout in the log-likelihoods the estimate is biased.
    """
    x = continuation(model, _segment(start), length, Choice(), random)
    y = continuation(model, _segment(start).followed_by(x), length, Choice(), random)
    return sampled_policy_loss(model, discriminator, start, x, y)


def sampled_policy_loss(
    model: Model, discriminator: Discriminator, start: Tensor, x: Padded, y: Padded
) -> tuple[Tensor, float]:
    """`policy_loss` for given samples X_i ~ Q_X and Y_i ~ Q(Y | X_i).

    Pairs (X_{i-1}, Y_i) are samples of Q_X Q_Y. The marginal Q_Y has no closed form, but the mean of
    grad log Q(X_i, Y_i) over X_i given Y_i is grad log Q_Y(Y_i). So each log-likelihood has these rewards:

        log Q(X_i)          R+(X_i, Y_i) - R-(X_{i-1}, Y_i) - R-(X_i, Y_{i+1})
        log Q(Y_i | X_i)    R+(X_i, Y_i) - R-(X_{i-1}, Y_i)

    Baselines are self-critical (Rennie 2017): the same rewards for the greedy pair after `start`, and for the greedy Y after
    X_i. Neither depends on the sample whose log-likelihood it multiplies, so the mean of the gradient does not change.
    """
    length, first = len(y.symbols), _segment(start)
    both = first.followed_by(x)
    with evaluation_mode(model), evaluation_mode(discriminator):
        greedy_x = _greedy(model, first, length)
        greedy_y, greedy_answer = (_greedy(model, each, length) for each in (first.followed_by(greedy_x), both))
        phi_x, phi_y, phi_answer = (pooled(model, each) for each in (x, y, greedy_answer))
        gain, penalty = _rewards(discriminator, phi_x, phi_y)
        answer_gain, answer_penalty = _rewards(discriminator, phi_x, phi_answer)
        greedy_gain, greedy_penalty = _rewards(discriminator, pooled(model, greedy_x), pooled(model, greedy_y))
    excess = penalty - greedy_penalty
    reward_of_x = gain - greedy_gain - excess - excess.roll(-1, 0)
    reward_of_y = gain - penalty - (answer_gain - answer_penalty)
    # log_likelihoods are means per symbol; Eq. 9 has sums.
    log_x, log_y = length * log_likelihoods(model, first, x), length * log_likelihoods(model, both, y)
    return -(reward_of_x * log_x + reward_of_y * log_y).mean(), float((gain - penalty).mean())


def _rewards(discriminator: Discriminator, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """R+(X_i, Y_i) and R-(X_{i-1}, Y_i)."""
    return -functional.softplus(-discriminator(x, y)), functional.softplus(discriminator(x.roll(1, 0), y))


def program_policy_loss(
    model: Model, discriminator: Discriminator, start: Tensor, length: int, random: np.random.Generator
) -> tuple[Tensor, float]:
    """The same as in the authors' program: means per symbol, and other samples of Q_Y.

    Y of a product pair is generated from the empty state, like X; log Q(Y | X) sends no gradient into the reading of X; the
    greedy segments are the only baseline. The program adds the rewards with the wrong sign, samples with dropout and starts
    from random words; here the sign is that of Eq. 9, and samples are drawn as for `policy_loss`.
    """
    first = _segment(start)
    x, other = (continuation(model, first, length, Choice(), random) for _ in range(2))
    both = first.followed_by(x)
    y = continuation(model, both, length, Choice(), random)
    with evaluation_mode(model), evaluation_mode(discriminator):
        greedy_x = _greedy(model, first, length)
        greedy_y = _greedy(model, first.followed_by(greedy_x), length)
        phi_x, phi_y, phi_other, greedy, answer = (pooled(model, each) for each in (x, y, other, greedy_x, greedy_y))
        gain = -functional.softplus(-discriminator(phi_x, phi_y))
        penalty = functional.softplus(discriminator(phi_x, phi_other))
        gain_excess = gain + functional.softplus(-discriminator(greedy, answer))
        penalty_excess = penalty - functional.softplus(discriminator(greedy, greedy))
    with torch.no_grad():
        state = model(both.symbols[:-1]).state
    logits = model(torch.cat([x.symbols[-1:], y.symbols[:-1]]), state).logits
    log_y = -functional.cross_entropy(logits.float().flatten(0, 1), y.symbols.flatten(), reduction="none")
    log_x, log_other = (log_likelihoods(model, first, each) for each in (x, other))
    mean_y = log_y.unflatten(0, (length, -1)).mean(0)
    loss = -(gain_excess * (log_x + mean_y) - penalty_excess * (log_x + log_other)).mean()
    return loss, float((gain - penalty).mean())


def _segment(symbols: Tensor) -> Padded:
    """Sequences of one symbol each."""
    return Padded(symbols.unsqueeze(0), torch.ones_like(symbols))


def _greedy(model: Model, first: Padded, length: int) -> Padded:
    """The most likely symbol at every step."""
    return continuation(model, first, length, Choice(temperature=0), np.random.default_rng(0))


def continuation(model: Model, first: Padded, length: int, choice: Choice, random: np.random.Generator) -> Padded:
    """`length` symbols that the model generates after each segment; segments may have different lengths."""
    device, columns = first.symbols.device, torch.arange(len(first.lengths), device=first.symbols.device)
    steps = len(first.symbols) + length - 1
    text = first.symbols.new_zeros(steps + 1, len(columns))
    text[: len(first.symbols)] = first.symbols
    state = None
    with evaluation_mode(model):
        for step in range(steps):
            output = model(text[step : step + 1], state)
            state = output.state
            uniform = torch.from_numpy(random.random(len(columns))).to(device)
            symbols = choice.at(output.logits[0], uniform)
            # Within a segment its own symbol is read; the sampled one is used only after its end.
            text[step + 1] = torch.where(step + 1 < first.lengths, text[step + 1], symbols)
    generated = text[first.lengths + torch.arange(length, device=device).unsqueeze(1), columns]
    return Padded(generated, torch.full_like(first.lengths, length))

"""Optimizers, the learning rate of every update, and the updates with full gradients."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.optim import ASGD, SGD, Adam, Optimizer, RMSprop

from memspan.training.supervised.config import TrainingConfig


def rate_factor(config: TrainingConfig, update: int, losses: list[float]) -> float:
    """The factor on the learning rate at an update, counted from 0; `losses` are the validation losses so far.

    cosine: from 1 to `lowest_rate` along half a period. anneal: times `anneal` for every validation that was not the best
    so far. stairs: 1 for `hold` updates, then times `anneal` for every `stair` updates begun (Zaremba 2014).
    """
    match config.schedule:
        case "cosine":
            wave = (1 + math.cos(math.pi * min(update / config.updates, 1.0))) / 2
            return config.lowest_rate + (1 - config.lowest_rate) * wave
        case "anneal":
            return config.anneal ** missed_improvements(losses)
        case "stairs":
            return config.anneal ** max(0, 1 + (update - config.hold) // config.stair)
        case "constant":
            return 1.0


def full_gradient_start(config: TrainingConfig) -> int:
    """The first update, counted from 0, of the last phase, in which a cell that detaches states no longer does."""
    return config.updates - round(config.full_gradient * config.updates)


def missed_improvements(losses: list[float]) -> int:
    """How many losses were not below all earlier ones.

    >>> missed_improvements([3.0, 2.0, 2.5, 1.0, 1.0])
    2
    """
    best, missed = math.inf, 0
    for loss in losses:
        missed += not loss < best
        best = min(best, loss)
    return missed


def averaging_triggered(losses: list[float], nonmonotone: int) -> bool:
    """Whether some loss was above the best of those at least `nonmonotone` + 1 validations before it.

    Merity 2018, Algorithm 1, as in the authors' program.

    >>> averaging_triggered([3.0, 2.0, 2.5, 2.4, 2.1], 2), averaging_triggered([3.0, 2.0, 2.1, 1.9, 1.8], 2)
    (True, False)
    """
    return any(losses[at] > min(losses[: at - nonmonotone]) for at in range(nonmonotone + 1, len(losses)))


def make_optimizer(config: TrainingConfig, groups: list[dict[str, Any]], *, averaging: bool) -> Optimizer:
    """The optimizer over parameter groups with their own learning rates; `averaging`: nt-asgd has been triggered."""
    rate, decay = config.learning_rate, config.weight_decay
    groups = [{**group, "full_rate": group["lr"]} for group in groups]
    match config.optimizer:
        case "rmsprop":
            return RMSprop(groups, lr=rate, alpha=config.smoothing, momentum=config.momentum, weight_decay=decay)
        case "adam":
            return Adam(groups, lr=rate, weight_decay=decay)
        case "sgd" | "nt-asgd" if not averaging:
            return SGD(groups, lr=rate, momentum=config.momentum, weight_decay=decay)
        case _:
            # t0 = 0 averages from the start and lambd = 0 turns off ASGD's own decay of the rate.
            return ASGD(groups, lr=rate, t0=0, lambd=0.0, weight_decay=decay)


def set_rate(optimizer: Optimizer, factor: float) -> None:
    """Set the rate of the next update to `factor` times the learning rate of each group."""
    for group in optimizer.param_groups:
        group["lr"] = factor * group["full_rate"]
        if isinstance(optimizer, ASGD):
            # ASGD reads its rate from the state that its last step left, so that a change would come one step late.
            for parameter in group["params"]:
                if parameter in optimizer.state:
                    optimizer.state[parameter]["eta"].fill_(group["lr"])


def weight_averages(optimizer: Optimizer) -> dict[torch.Tensor, torch.Tensor]:
    """The averages that ASGD maintains, by parameter; empty for other optimizers."""
    return {parameter: state["ax"] for parameter, state in optimizer.state.items() if "ax" in state}

"""The optimizers of the sources, by their words."""

from __future__ import annotations

from typing import Any

import torch
from torch.optim import ASGD, SGD, Adam, Optimizer, RMSprop

from memspan.training.config import TrainingConfig


def make_optimizer(config: TrainingConfig, groups: list[dict[str, Any]], *, averaging: bool) -> Optimizer:
    """Over groups that have their own rate; `averaging`: nt-asgd has been triggered."""
    rate, decay = config.learning_rate, config.weight_decay
    groups = [{**group, "full_rate": group["lr"]} for group in groups]
    match config.optimizer:
        case "rmsprop":
            return RMSprop(
                groups, lr=rate, alpha=config.smoothing, momentum=config.momentum, weight_decay=decay
            )
        case "adam":
            return Adam(groups, lr=rate, weight_decay=decay)
        case "sgd" | "nt-asgd" if not averaging:
            return SGD(groups, lr=rate, momentum=config.momentum, weight_decay=decay)
        case _:
            return ASGD(groups, lr=rate, t0=0, lambd=0.0, weight_decay=decay)


def set_rate(optimizer: Optimizer, factor: float) -> None:
    """The next update has `factor` times the learning rate of every group."""
    for group in optimizer.param_groups:
        group["lr"] = factor * group["full_rate"]
        if isinstance(optimizer, ASGD):
            # ASGD takes its rate from what the step before left there, so that a change would come one step late.
            for parameter in group["params"]:
                if parameter in optimizer.state:
                    optimizer.state[parameter]["eta"].fill_(group["lr"])


def averages(optimizer: Optimizer) -> dict[torch.Tensor, torch.Tensor]:
    """Parameter by parameter, the average that ASGD keeps; empty for others."""
    return {parameter: state["ax"] for parameter, state in optimizer.state.items() if "ax" in state}

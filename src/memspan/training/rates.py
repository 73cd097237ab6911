"""The learning rate of every update, as a function of the update and the validation losses so far."""

from __future__ import annotations

import math

from memspan.training.config import TrainingConfig


def rate_factor(config: TrainingConfig, update: int, losses: list[float]) -> float:
    """What the learning rate is multiplied by at an update, counted from 0.

    cosine: from 1 to `lowest_rate` along half a wave. anneal: times `anneal` for every validation that was not the best yet.
    stairs: 1 for `hold` updates, then times `anneal` for every `stair` of them that has begun (Zaremba 2014).
    """
    match config.schedule:
        case "cosine":
            wave = (1 + math.cos(math.pi * min(update / config.updates, 1.0))) / 2
            return config.lowest_rate + (1 - config.lowest_rate) * wave
        case "anneal":
            return config.anneal ** not_improved(losses)
        case "stairs":
            return config.anneal ** max(0, 1 + (update - config.hold) // config.stair)
        case "constant":
            return 1.0


def not_improved(losses: list[float]) -> int:
    """How many losses were not below all before them.

    >>> not_improved([3.0, 2.0, 2.5, 1.0, 1.0])
    2
    """
    best, missed = math.inf, 0
    for loss in losses:
        missed += not loss < best
        best = min(best, loss)
    return missed


def since_best(losses: list[float]) -> int:
    """How many losses came after the best one.

    >>> since_best([3.0, 1.0, 2.0, 2.0])
    2
    """
    return len(losses) - 1 - losses.index(min(losses)) if losses else 0


def triggered(losses: list[float], nonmonotone: int) -> bool:
    """Whether some loss was above the best of those before it, its `nonmonotone` predecessors not counted.

    Merity 2018, Algorithm 1, as the authors' program has it.

    >>> triggered([3.0, 2.0, 2.5, 2.4, 2.1], 2), triggered([3.0, 2.0, 2.1, 1.9, 1.8], 2)
    (True, False)
    """
    return any(losses[at] > min(losses[: at - nonmonotone]) for at in range(nonmonotone + 1, len(losses)))

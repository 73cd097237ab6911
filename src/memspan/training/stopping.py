"""When a training is over."""

from __future__ import annotations

from memspan.training.config import TrainingConfig
from memspan.training.position import Position
from memspan.training.rates import since_best


def why_over(config: TrainingConfig, position: Position, seconds: float) -> str | None:
    """The reason, in words, or None; `seconds` were spent in all sessions.

    It follows from where the training stands, so that a run whose limits are raised goes on as if they had been higher; a
    rate that falls along a cosine to the last update is then another one.
    """
    accuracy = position.accuracies[-1] if position.accuracies else None
    if config.stop_accuracy is not None and accuracy is not None and accuracy >= config.stop_accuracy:
        return f"validation accuracy {accuracy:.2%} reached"
    if config.patience is not None and since_best(position.losses) >= config.patience:
        return f"no better validation in {config.patience}"
    if position.update >= config.updates:
        return "all updates done"
    if config.max_minutes is not None and seconds >= 60 * config.max_minutes:
        return f"{config.max_minutes:g} minutes spent"
    return None

"""The result of a run: its best weights on the test split, and the curves of its training."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memspan.models.model import Model
from memspan.progress import SILENT, Progress
from memspan.results import SecondGoal, TrainingRun
from memspan.training.run.checkpoint import Position
from memspan.training.run.folder import RunFolder
from memspan.training.supervised.config import Config, to_json
from memspan.training.supervised.evaluation import score
from memspan.training.supervised.trained_model import load_best_weights

TEST_BATCHES = 100
"""Test batches of validation_size sequences if the split is endless; a finite split is used once, completely."""

Lines = Sequence[dict[str, Any]]


def run_result(
    config: Config,
    folder: RunFolder,
    network: Model,
    position: Position,
    notes: tuple[str, ...] = (),
    progress: Progress = SILENT,
) -> TrainingRun:
    """The result of a finished run. Only the weights of the best validation see the test split."""
    best, skipped = load_best_weights(network, config, folder, position)
    size = config.training.validation_size
    batches = config.task.batches("test", size) or TEST_BATCHES
    with progress.stage("evaluating on the test split", batches) as stage:
        found = score(
            network,
            config.task,
            split="test",
            batches=batches,
            size=size,
            seed=config.seed,
            done=stage.advance,
        )
    lines = folder.metrics()
    trained = [line for line in lines if "loss" in line]
    validated = [line for line in lines if "validation" in line]
    measures = [line["validation"] for line in validated]
    return TrainingRun(
        task=config.word,
        cell=config.network,
        parameter_count=network.parameter_count(),
        updates=position.update,
        seconds=folder.seconds(),
        loss=found["loss"],
        accuracy=found.get("accuracy"),
        run=str(folder.path),
        best_update=best,
        stopped=position.stopped or "not over",
        chance=config.task.chance,
        baseline=config.task.baseline,
        logged=_updates(trained),
        training_loss=_column(trained, "loss"),
        validated=_updates(validated),
        validation_loss=_column(measures, "loss"),
        validation_accuracy=_column(measures, "accuracy"),
        config=to_json(config),
        notes=(*position.notes, *skipped, *notes, *config.task.notes, *_validation_notes(config)),
        second_goal=_auxiliary_result(config, lines),
    )


def _updates(lines: Lines) -> NDArray[np.int64]:
    return np.array([line["update"] for line in lines], dtype=np.int64)


def _column(lines: Lines, name: str) -> NDArray[np.float64]:
    values = [line.get(name) for line in lines]
    return np.array([math.nan if value is None else value for value in values])


def _validation_notes(config: Config) -> list[str]:
    """A note if validations do not cover the whole split."""
    size, used = config.training.validation_size, config.training.validation_batches
    whole = config.task.batches("valid", size) or used
    if used >= whole:
        return []
    return [
        f"validations used the first {used / whole:.0%} of the validation split; "
        f"--set training.validation_batches={whole} uses all of it"
    ]


def _auxiliary_result(config: Config, lines: Lines) -> SecondGoal | None:
    """The curves of the BMI regularizer; None for a run without it."""
    logged = [line for line in lines if "bmi.bound" in line]
    if config.bmi.name == "none" or not logged:
        return None
    return SecondGoal(
        name=config.bmi.name,
        pairs=config.bmi.pairs,
        logged=_updates(logged),
        bound=_column(logged, "bmi.bound"),
        accuracy=_column(logged, "bmi.accuracy"),
        effective=_column(logged, "bmi.effective"),
        switched=_switch_update(config, logged, lines),
    )


def _switch_update(config: Config, logged: Lines, lines: Lines) -> int | None:
    """The update of the switch: the configured one, or that of the last validation before the first line after it."""
    after = ("bmi.nearby", "bmi.reward")  # metrics of the second phase only
    first = next((line["update"] for line in logged if any(name in line for name in after)), None)
    if first is None:
        return None
    configured = config.bmi.switch_at
    validations = [line["update"] for line in lines if "validation" in line and line["update"] < first]
    candidates = validations if configured is None else [configured] if configured < first else []
    # A run that starts from another one may have switched before its own first update.
    earlier = config.init.name == "run" and first == logged[0]["update"]
    return max(candidates) if candidates and not earlier else 0

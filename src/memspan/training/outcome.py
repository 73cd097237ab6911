"""What a run came to: the best weights on the test split, and the curves of its training."""

from __future__ import annotations

import numpy as np

from memspan.models.model import Model
from memspan.progress import SILENT, Progress
from memspan.results import TrainingRun
from memspan.training.config import Config
from memspan.training.config_json import to_json
from memspan.training.position import Position
from memspan.training.restoring import load_best_weights
from memspan.training.run_folder import RunFolder
from memspan.training.scoring import score
from memspan.training.second_goal import second_goal

TEST_BATCHES = 100
"""Of validation_size sequences each, where a split has no end; one that ends is used once, all of it."""


def outcome(
    config: Config,
    folder: RunFolder,
    network: Model,
    position: Position,
    notes: tuple[str, ...] = (),
    progress: Progress = SILENT,
) -> TrainingRun:
    """The result of a run that is over. Only the weights of the best validation are judged."""
    best, lost = load_best_weights(network, config, folder, position)
    size = config.training.validation_size
    batches = config.task.batches("test", size) or TEST_BATCHES
    with progress.stage("judging on the test split", batches) as stage:
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
        logged=np.array([line["update"] for line in trained], dtype=np.int64),
        training_loss=np.array([_number(line["loss"]) for line in trained]),
        validated=np.array([line["update"] for line in validated], dtype=np.int64),
        validation_loss=np.array([_number(line["validation"]["loss"]) for line in validated]),
        validation_accuracy=np.array([_number(line["validation"].get("accuracy")) for line in validated]),
        config=to_json(config),
        notes=(*position.notes, *lost, *notes, *config.task.notes, *_looked_at(config)),
        second_goal=second_goal(config, lines),
    )


def _looked_at(config: Config) -> list[str]:
    """Where validations do not look at all there is."""
    size, looked = config.training.validation_size, config.training.validation_batches
    whole = config.task.batches("valid", size) or looked
    if looked >= whole:
        return []
    return [
        f"validations looked at the first {looked / whole:.0%} of the validation split; "
        f"--set training.validation_batches={whole} looks at all of it"
    ]


def _number(value: float | None) -> float:
    return float("nan") if value is None else value

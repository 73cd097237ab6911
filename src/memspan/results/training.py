"""What `train` returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from memspan.results.display import Notebook, in_brief
from memspan.results.encoding import from_plain, to_plain
from memspan.results.second_goal import SecondGoal
from memspan.results.text_measures import text_measures


@final
@dataclass(frozen=True, eq=False, repr=False)
class TrainingRun(Notebook):
    """A training that is over: what the weights of the best validation give on the test split, and how it went."""

    task: str
    cell: str
    parameter_count: int
    updates: int
    seconds: float
    loss: float
    """Nats (or the squared error of a regression), test split."""
    accuracy: float | None
    """Share of right answers, test split; None where the task has no such measure."""
    run: str
    """The folder."""
    best_update: int
    """Whose weights these are."""
    stopped: str
    """Why it is over."""
    chance: float
    """Accuracy of guessing."""
    baseline: float
    """Loss of the best answers without memory."""
    logged: NDArray[np.int64]
    """Updates at which `training_loss`, a mean since the one before, was written down."""
    training_loss: NDArray[np.float64]
    validated: NDArray[np.int64]
    """Updates of the validations."""
    validation_loss: NDArray[np.float64]
    validation_accuracy: NDArray[np.float64]
    config: dict[str, Any]
    """The whole configuration, as config.json holds it."""
    notes: tuple[str, ...] = ()
    """What a reader should know."""
    second_goal: SecondGoal | None = None
    """None where the training had none."""

    def _summary(self) -> str:
        right = "" if self.accuracy is None else f", accuracy {self.accuracy:.4g}"
        return f"{self.cell} on {self.task}, loss {self.loss:.4g}{right}, {self.updates:,} updates, run {in_brief(self.run)}"

    def to_json(self) -> dict[str, Any]:
        """The object that `train --json` prints, without `schema`, `command` and `version`.

        Of texts the loss is told in their own measures, too.
        """
        return {**to_plain(self), **text_measures(self.task, self.loss)}

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> TrainingRun:
        """The inverse of `to_json`."""
        return from_plain(cls, plain)

"""What `evaluate` finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from memspan.results.display import Notebook, in_brief
from memspan.results.encoding import from_plain, to_plain
from memspan.results.text_measures import text_measures
from memspan.results.written_text import ReversePerplexity, WrittenSegments


@final
@dataclass(frozen=True)
class Transfer:
    """How well a trained network does at one delay, which may be another than it was trained at."""

    delay: int | None
    """Steps; None where the task has nothing to be made longer."""
    loss: float
    """Nats (or the squared error of a regression)."""
    accuracy: float | None
    """Share of right answers; None where the task has no such measure."""
    interval: tuple[float, float] | None
    """95 % interval of the accuracy."""
    sequences: int
    """How many were answered."""
    baseline: float
    """Loss of the best answers without memory."""


@final
@dataclass(frozen=True, repr=False)
class Evaluation(Notebook):
    """A trained network on sequences that it never saw: one entry of `transfer` for each delay."""

    task: str
    cell: str
    parameter_count: int
    updates: int
    """That the run has done so far."""
    best_update: int
    """Whose weights these are."""
    split: str
    loss: float
    """Of the last entry of `transfer`."""
    accuracy: float | None
    """Of the last entry of `transfer`."""
    chance: float
    """Accuracy of guessing."""
    distance: str | None
    """Which option of the task the delays are: delay or length; None where it has neither."""
    trained_delay: int | None
    transfer: tuple[Transfer, ...]
    run: str
    """The folder whose weights these are."""
    seconds: float
    config: dict[str, Any]
    """The configuration of the run."""
    notes: tuple[str, ...] = ()
    segment_information: WrittenSegments | None = None
    """Of what the network writes; None where it was not asked for."""
    reverse_perplexity: ReversePerplexity | None = None
    """None where it was not asked for."""

    def _summary(self) -> str:
        right = "" if self.accuracy is None else f", accuracy {self.accuracy:.4g}"
        delays = ", ".join(str(one.delay) for one in self.transfer[:8] if one.delay is not None)
        at = f", {self.distance or 'delay'} {delays}" if delays else ""
        return f"{self.cell} on {self.task}, loss {self.loss:.4g}{right}{at}, run {in_brief(self.run)}"

    def to_json(self) -> dict[str, Any]:
        """The object that `evaluate --json` prints, without `schema`, `command` and `version`.

        Of texts the loss is told in their own measures, too.
        """
        return {**to_plain(self), **text_measures(self.task, self.loss)}

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Evaluation:
        """The inverse of `to_json`."""
        return from_plain(cls, plain)

"""What `train`, `evaluate` and `sample` return: a training run, a trained network on new sequences, generated text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from memspan.results.display import Displayed, Notebook, amount, in_brief
from memspan.results.encoding import JsonResult, check_lengths
from memspan.results.text import text_measures


@final
@dataclass(frozen=True, eq=False, repr=False)
class TrainingRun(JsonResult, Notebook):
    """A finished training run: test results of the weights with the best validation, and the training history."""

    task: str
    cell: str
    parameter_count: int
    updates: int
    seconds: float
    loss: float
    """Test loss in nats (squared error for a regression)."""
    accuracy: float | None
    """Test accuracy; None for tasks without one."""
    run: str
    """The run folder."""
    best_update: int
    """Update of the evaluated weights."""
    stopped: str
    """Why training ended."""
    chance: float
    """Accuracy of guessing."""
    baseline: float
    """Loss of the best memoryless answers."""
    logged: NDArray[np.int64]
    """Updates at which `training_loss`, the mean since the previous entry, was logged."""
    training_loss: NDArray[np.float64]
    validated: NDArray[np.int64]
    """Updates of the validations."""
    validation_loss: NDArray[np.float64]
    validation_accuracy: NDArray[np.float64]
    config: dict[str, Any]
    """The whole configuration, as in config.json."""
    notes: tuple[str, ...] = ()
    """Remarks for the reader."""
    # The field keeps its first name, because result files hold it.
    second_goal: AuxiliaryObjective | None = None
    """The auxiliary objective; None for a training run without one."""

    def __post_init__(self) -> None:
        check_lengths(self, "logged", "training_loss")
        check_lengths(self, "validated", "validation_loss", "validation_accuracy")

    def _summary(self) -> str:
        right = "" if self.accuracy is None else f", accuracy {self.accuracy:.4g}"
        return f"{self.cell} on {self.task}, loss {self.loss:.4g}{right}, {self.updates:,} updates, run {in_brief(self.run)}"

    def to_json(self) -> dict[str, Any]:
        """All fields, and `bits_per_character` or `perplexity` for text tasks."""
        return {**super().to_json(), **text_measures(self.task, self.loss)}


@final
@dataclass(frozen=True, eq=False, repr=False)
class AuxiliaryObjective(Displayed):
    """History of the BMI regularizer's discriminator; each entry is a mean since the previous one."""

    name: str
    """base or full."""
    pairs: int
    """Pairs of each kind per update."""
    logged: NDArray[np.int64]
    """Updates of the entries."""
    bound: NDArray[np.float64]
    """Lower bound on the mutual information of adjacent segments, nats, on the discriminator's training pairs."""
    accuracy: NDArray[np.float64]
    """Share of pairs that the discriminator classifies correctly; 0.5 is chance."""
    effective: NDArray[np.float64]
    """Effective number of importance weights of nearby segments; NaN where there are none."""
    switched: int | None
    """The update at which the objective was switched on; 0: before the first; None: never."""

    def __post_init__(self) -> None:
        check_lengths(self, "logged", "bound", "accuracy", "effective")


@final
@dataclass(frozen=True)
class Transfer:
    """Performance of a trained network at one delay, which may differ from the delay it was trained at."""

    delay: int | None
    """Steps; None for tasks without a delay or length."""
    loss: float
    """Nats (squared error for a regression)."""
    accuracy: float | None
    """None for tasks without one."""
    interval: tuple[float, float] | None
    """95 % confidence interval of the accuracy."""
    sequences: int
    """Number of sequences."""
    baseline: float
    """Loss of the best memoryless answers."""


@final
@dataclass(frozen=True, repr=False)
class Evaluation(JsonResult, Notebook):
    """A trained network on unseen sequences: one entry of `transfer` for each delay."""

    task: str
    cell: str
    parameter_count: int
    updates: int
    """Updates of the run so far."""
    best_update: int
    """Update of the evaluated weights."""
    split: str
    loss: float
    """Of the last entry of `transfer`."""
    accuracy: float | None
    """Of the last entry of `transfer`."""
    chance: float
    """Accuracy of guessing."""
    distance: str | None
    """The option of the task that the delays set: delay or length; None for tasks with neither."""
    trained_delay: int | None
    transfer: tuple[Transfer, ...]
    run: str
    """The run folder."""
    seconds: float
    config: dict[str, Any]
    """The configuration of the run."""
    notes: tuple[str, ...] = ()
    segment_information: GeneratedSegments | None = None
    """Of generated text; None unless requested."""
    reverse_perplexity: ReversePerplexity | None = None
    """None unless requested."""

    def _summary(self) -> str:
        right = "" if self.accuracy is None else f", accuracy {self.accuracy:.4g}"
        delays = ", ".join(str(one.delay) for one in self.transfer[:8] if one.delay is not None)
        at = f", {self.distance or 'delay'} {delays}" if delays else ""
        return f"{self.cell} on {self.task}, loss {self.loss:.4g}{right}{at}, run {in_brief(self.run)}"

    def to_json(self) -> dict[str, Any]:
        """All fields, and `bits_per_character` or `perplexity` for text tasks."""
        return {**super().to_json(), **text_measures(self.task, self.loss)}


@final
@dataclass(frozen=True)
class SegmentInformation:
    """Lower bound on the mutual information of two segments of a text, nats."""

    nats: float
    """Mean over the folds."""
    interval: tuple[float, float]
    """95 % Student interval over the folds."""
    folds: tuple[float, ...]


@final
@dataclass(frozen=True)
class GeneratedSegments:
    """Segment information of generated text next to that of an equal amount of the training text."""

    written: SegmentInformation
    """Of the generated text."""
    real: SegmentInformation
    symbols: int
    """Length of each of the two texts."""
    streams: int
    """Pieces of each text; no pair of segments crosses from one piece to the next."""
    length: int
    """Symbols of a segment."""
    gap: int
    """Symbols between the two segments of a pair."""
    seed: int


@final
@dataclass(frozen=True)
class ReversePerplexity:
    """How well a fresh language model trained only on generated text predicts the real text."""

    valid_loss: float
    """Nats per symbol of the real validation text."""
    test_loss: float
    """Nats per symbol of the real test text."""
    written_loss: float
    """Nats per symbol of a held-out part of the generated text."""
    valid_perplexity: float
    """e to the power of `valid_loss`."""
    test_perplexity: float
    symbols: int
    """Generated symbols."""
    updates: int
    """Updates of the fresh model."""
    best_update: int
    """Update with the lowest loss on the held-out part; its weights are evaluated."""
    parameter_count: int
    seed: int


@final
@dataclass(frozen=True, repr=False)
class Sample(JsonResult, Notebook):
    """Text generated by a model."""

    source: str
    """The model: a run folder or the folder of a Hugging Face model."""
    model: str
    """Description: its cell or kind, and its training data where known."""
    length: int
    """Symbols of all texts together."""
    streams: int
    """Number of texts."""
    each: int
    """Symbols of one text."""
    characters: int
    """Characters of all texts together."""
    temperature: float
    top_k: int | None
    top_p: float | None
    context: int | None
    """Context length of the model in symbols; None: unlimited, through its state."""
    seed: int
    path: str | None
    """The file; None if the texts were only printed."""
    documents: str | None
    """Value of `--documents` that reads the file back with each text as one document."""
    excerpt: str
    """The beginning of the first text."""
    seconds: float
    notes: tuple[str, ...] = ()

    def _summary(self) -> str:
        texts = f"{self.streams:,} texts, {amount(self.length)} symbols, from {in_brief(self.source)}"
        return f"{texts}, begins {self.excerpt[:40]!r}"

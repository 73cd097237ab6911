"""What `train` returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from memspan.results.display import Displayed, Notebook, amount, in_brief
from memspan.results.encoding import from_plain, to_plain
from memspan.results.text import text_measures


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
    second_goal: AuxiliaryObjective | None = None
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


@final
@dataclass(frozen=True, eq=False, repr=False)
class AuxiliaryObjective(Displayed):
    """What the discriminator of neighbours told, along the updates; every number is a mean since the one before."""

    name: str
    """base or full"""
    pairs: int
    """Of each kind at every update"""
    logged: NDArray[np.int64]
    """Updates"""
    bound: NDArray[np.float64]
    """Nats that neighbours tell of each other, by the pairs that it learns from"""
    accuracy: NDArray[np.float64]
    """Share of pairs that it tells right; 0.5 is chance"""
    effective: NDArray[np.float64]
    """How many of the weights of segments nearby count; NaN where there are none"""
    switched: int | None
    """The update of the switch; 0: before the first one; None: there was none"""


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
    segment_information: GeneratedSegments | None = None
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


@final
@dataclass(frozen=True)
class SegmentInformation:
    """How much two segments of a text tell of each other: a lower bound, in nats."""

    nats: float
    """The mean over the folds"""
    interval: tuple[float, float]
    """Its 95 % interval, by Student's t over the folds"""
    folds: tuple[float, ...]


@final
@dataclass(frozen=True)
class GeneratedSegments:
    """Segments of what a network writes, beside those of as much of the text that it learnt from."""

    written: SegmentInformation
    real: SegmentInformation
    symbols: int
    """Of each of the two texts"""
    streams: int
    """Pieces that each is made of; no pair of segments crosses from one to the next"""
    length: int
    """Symbols of a segment"""
    gap: int
    """Symbols between the two of a pair"""
    seed: int


@final
@dataclass(frozen=True)
class ReversePerplexity:
    """How well a fresh language model that has read only what a network writes foretells the real text."""

    valid_loss: float
    """Nats per symbol of the real validation text"""
    test_loss: float
    """Nats per symbol of the real test text"""
    written_loss: float
    """Nats per symbol of a part of the written text that was kept from it"""
    valid_perplexity: float
    """e to the power of `valid_loss`"""
    test_perplexity: float
    symbols: int
    """That were written"""
    updates: int
    """Of the fresh model"""
    best_update: int
    """After which it foretold the part that was kept from it best; its weights of then are judged"""
    parameter_count: int
    seed: int


@final
@dataclass(frozen=True, repr=False)
class Sample(Notebook):
    """Texts that a model wrote."""

    source: str
    """The model: a folder of a run or of a Hugging Face model"""
    model: str
    """In words: its cell or kind, and what it was trained on where that is known"""
    length: int
    """Symbols of all texts"""
    streams: int
    """Texts"""
    each: int
    """Symbols of one"""
    characters: int
    """Of all texts"""
    temperature: float
    top_k: int | None
    top_p: float | None
    context: int | None
    """How far back the model could look; None: as far as its state reaches"""
    seed: int
    path: str | None
    """The file; None where they were only shown"""
    documents: str | None
    """What `--documents` has to be to read the file again, each text as a document"""
    excerpt: str
    """How the first text begins"""
    seconds: float
    notes: tuple[str, ...] = ()

    def _summary(self) -> str:
        texts = f"{self.streams:,} texts, {amount(self.length)} symbols, from {in_brief(self.source)}"
        return f"{texts}, begins {self.excerpt[:40]!r}"

    def to_json(self) -> dict[str, Any]:
        """The object that `sample --json` prints, without `schema`, `command` and `version`."""
        return to_plain(self)

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Sample:
        """The inverse of `to_json`."""
        return from_plain(cls, plain)

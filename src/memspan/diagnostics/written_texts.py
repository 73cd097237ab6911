"""What a run's network writes, judged: how much its segments tell of each other, and what can be learnt from it."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self, final

import numpy as np
from numpy.typing import NDArray

from memspan.diagnostics.reverse_perplexity import PlainModel, reverse_perplexity
from memspan.errors import InputError
from memspan.objectives import Critic, segment_information
from memspan.objectives.segment_information import FOLDS, GAP
from memspan.objectives.segments import LENGTH
from memspan.progress import SILENT, Progress
from memspan.results import Evaluation, ReversePerplexity, WrittenSegments
from memspan.sampling.author import divided
from memspan.sampling.blocks import joined
from memspan.tasks.text import TextTask, encoded
from memspan.training.run.machine import Device, resolve_device, thread_count, torch_threads
from memspan.training.supervised.config import Config
from memspan.training.supervised.generation import load_generator
from memspan.training.supervised.trained_model import TrainedModel, load_best

WRITTEN = 200_000
"""Symbols that are written unless told; Cao and Xu 2020 have 6 million for the reverse perplexity."""


@final
@dataclass(frozen=True, eq=False)
class WrittenTexts:
    """Texts that a network wrote, in numbers of its vocabulary, and the task that it learnt."""

    symbols: NDArray[np.integer]
    """(streams, length)"""
    task: TextTask
    config: Config
    seed: int

    @classmethod
    def of(
        cls, run: Path, length: int, *, seed: int, device: Device = "auto", progress: Progress = SILENT
    ) -> Self:
        """`length` symbols of the best network of a run, in as many texts as `sample` makes of them."""
        best = load_best(run)
        config, task = best.config, _text_of(run, best)
        author, (streams, each) = load_generator(str(run), device=device), divided(length, None)
        with torch_threads(thread_count(config.training)):
            blocks = author.write(streams=streams, length=each, seed=seed, progress=progress)
            return cls(joined(blocks), task, config, seed)

    def beside_real(self) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
        """What was written and as much of the training text, both (streams, length): as much as there is of both."""
        real = training_pieces(self.task, *self.symbols.shape)
        streams, each = real.shape
        return self.symbols[:streams, :each], real

    def segments(
        self,
        *,
        length: int = LENGTH,
        gap: int = GAP,
        folds: int = FOLDS,
        critic: Critic = Critic(),  # noqa: B008 - frozen
        progress: Progress = SILENT,
    ) -> WrittenSegments:
        """What segments tell of each other, beside those of as much of the training text, in pieces of the same length."""
        texts = self.beside_real()
        with torch_threads(thread_count(self.config.training)):
            written, real = (
                segment_information(
                    list(text),
                    self.task.symbols,
                    seed=self.seed,
                    length=length,
                    gap=gap,
                    folds=folds,
                    critic=critic,
                    name=f"learning what segments of {whose} tell of each other",
                    progress=progress,
                )
                for whose, text in zip(("what it wrote", "the text"), texts, strict=True)
            )
        return WrittenSegments(
            written=written,
            real=real,
            symbols=texts[0].size,
            streams=len(texts[0]),
            length=length,
            gap=gap,
            seed=self.seed,
        )

    def reverse(
        self,
        *,
        plain: PlainModel = PlainModel(),  # noqa: B008 - frozen
        device: Device = "auto",
        progress: Progress = SILENT,
    ) -> ReversePerplexity:
        """What a fresh model that has read them foretells of the real text."""
        with torch_threads(thread_count(self.config.training)):
            return reverse_perplexity(
                self.symbols,
                self.task,
                seed=self.seed,
                plain=plain,
                device=resolve_device(device),
                progress=progress,
            )


def training_pieces(task: TextTask, streams: int, length: int) -> NDArray[np.int64]:
    """The beginning of the training text in `streams` pieces of `length` symbols, fewer where it is shorter."""
    read = encoded(task.identity).symbols["train"]
    each = min(length, len(read))
    count = min(streams, len(read) // each)
    return read[: count * each].reshape(count, each)


def check_text(run: Path) -> None:
    """Refuse a run that has learnt no text, before anything is judged."""
    _text_of(run, load_best(run))


def _text_of(run: Path, best: TrainedModel) -> TextTask:
    task = best.task
    if not isinstance(task, TextTask):
        raise InputError(
            f"{run} was trained on {best.config.word}, which is no text; --segment-information and --reverse-perplexity are "
            "for runs of characters and words; leave them out"
        )
    return task


def with_written(
    evaluation: Evaluation,
    run: Path,
    *,
    segments: bool,
    reverse: bool,
    length: int = WRITTEN,
    seed: int = 0,
    device: Device = "auto",
    progress: Progress = SILENT,
) -> Evaluation:
    """The same evaluation with what was asked for besides; both read the same texts."""
    begun = time.monotonic()
    texts = WrittenTexts.of(run, length, seed=seed, device=device, progress=progress)
    told = texts.segments(progress=progress) if segments else None
    learnt = texts.reverse(device=device, progress=progress) if reverse else None
    return replace(
        evaluation,
        segment_information=told,
        reverse_perplexity=learnt,
        seconds=evaluation.seconds + time.monotonic() - begun,
        notes=(*evaluation.notes, *_notes(told, texts.symbols.size)),
    )


def _notes(told: WrittenSegments | None, written: int) -> tuple[str, ...]:
    if told is None or told.symbols == written:
        return ()
    return (f"segments of {told.symbols:,} symbols are compared, which is as long as the training text is",)

"""What a model writes: kept in a file or shown (`sample_model`), or as a sequence to measure (`sequence_of`)."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from memspan.progress import SILENT, Progress
from memspan.results import Sample
from memspan.sampling import Choice, as_sequence, texts, write
from memspan.sampling.generator import stream_sizes
from memspan.sequences import Sequence
from memspan.training.authors import author_of
from memspan.training.devices import Device

EXCERPT = 2_000
"""Characters of the first text that a result holds."""


def sample_model(
    source: str,
    length: int,
    *,
    streams: int | None = None,
    choice: Choice | None = None,
    context: int | None = None,
    seed: int = 0,
    save: Path | None = None,
    device: Device = "auto",
    progress: Progress = SILENT,
) -> Sample:
    """`length` symbols of a run (its folder, or `run:DIR`) or a Hugging Face model (`hf:PATH`), in `streams` texts.

    With `save` they go to that file as they are written; what is held in memory does not grow with their length.
    """
    begun = time.monotonic()
    rule = choice or Choice()
    author = author_of(source, device=device)
    number, each = stream_sizes(length, streams)
    blocks = author.generate(
        streams=number, length=each, seed=seed, choice=rule, context=context, progress=progress
    )
    documents = None
    if save is None:
        counted = [(text[:EXCERPT], len(text)) for text in texts(blocks, author.spelling)]
        excerpt, characters = counted[0][0], sum(count for _, count in counted)
    else:
        written = write(save, blocks, author.spelling)
        documents, characters = written.documents, written.characters
        with save.open(encoding="utf-8", newline="") as file:
            excerpt = file.read(EXCERPT)
        if documents != "file":  # a short first text, and the mark behind it
            excerpt = excerpt.partition(documents)[0]
    return Sample(
        source=author.name,
        model=author.about,
        length=number * each,
        streams=number,
        each=each,
        characters=characters,
        temperature=rule.temperature,
        top_k=rule.top_k,
        top_p=rule.top_p,
        context=author.context if context is None else context,
        seed=seed,
        path=None if save is None else str(save),
        documents=documents,
        excerpt=excerpt,
        seconds=time.monotonic() - begun,
        notes=author.notes,
    )


def sequence_of(
    source: str,
    length: int,
    *,
    streams: int | None = None,
    choice: Choice | None = None,
    seed: int = 0,
    device: Device = "auto",
    progress: Progress = SILENT,
) -> Sequence:
    """The same texts as one sequence of characters, a document for each; its notes say what wrote them."""
    rule = choice or Choice()
    author = author_of(source, device=device)
    number, each = stream_sizes(length, streams)
    blocks = author.generate(streams=number, length=each, seed=seed, choice=rule, progress=progress)
    sequence = as_sequence(blocks, author.spelling, name=source)
    told = (
        f"sampled from {author.about}: {number:,} texts of {each:,} symbols, temperature {rule.temperature:g}"
    )
    return replace(sequence, notes=(*sequence.notes, told, *author.notes))

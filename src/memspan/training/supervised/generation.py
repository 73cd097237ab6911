"""Text that models generate: saved or shown (`sample_model`), or as a sequence to measure (`sampled_sequence`)."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from memspan.errors import CorruptError, InputError
from memspan.progress import SILENT, Progress
from memspan.results import Sample
from memspan.sampling import Choice, as_sequence, texts, write
from memspan.sampling.generator import TextGenerator, stream_sizes
from memspan.sequences import Sequence
from memspan.tasks.catalog import CATALOG, facts_of
from memspan.training.run.machine import Device, resolve_device
from memspan.training.supervised.trained_model import TrainedModel, load_best

RUN, HUGGING_FACE = "run:", "hf:"
# Characters of the first text that a result holds.
EXCERPT = 2_000
# Steps after which any growing state has grown, also one that stores a state only once in a while.
_LONG = 10**6


def load_generator(source: str, *, device: Device = "auto") -> TextGenerator:
    """The generator that `run:DIR` or `hf:PATH` names; without a prefix, the folder of a run."""
    if source.startswith(HUGGING_FACE):
        return _hugging_face_generator(source.removeprefix(HUGGING_FACE), device)
    return _run_generator(Path(source.removeprefix(RUN)), device)


def _run_generator(run: Path, device: Device) -> TextGenerator:
    """A generator with the best weights of a run. The data of the run are not needed."""
    best = load_best(run, device=resolve_device(device))
    word, vocabulary, path = best.config.word, best.folder.vocabulary(), best.folder.path
    if not facts_of(word).generates:
        tasks = ", ".join(name for name, facts in CATALOG.items() if facts.generates)
        raise InputError(f"{run} was trained on {word}, which is not a text to continue; give a run of {tasks}")
    if vocabulary is None:
        raise CorruptError(
            f"{path} has no vocabulary.json, so that its symbols cannot be decoded; restore the file, or train again"
        )
    return TextGenerator(
        best.network,
        vocabulary,
        name=f"{RUN}{run}",
        about=f"{best.config.network}, trained on {word} for {best.update:,} updates",
        first=vocabulary.end,
        context=_context(best),
        notes=best.notes,
    )


def _context(best: TrainedModel) -> int | None:
    """The context length: that of training for a network whose state grows with its input, otherwise unlimited."""
    if best.network.state_size(_LONG) == best.network.state_size(1):
        return None
    return best.config.task.window


def _hugging_face_generator(path: str, device: Device) -> TextGenerator:
    from memspan.models.hugging_face import load_hugging_face

    model = load_hugging_face(path, device=resolve_device(device))
    return TextGenerator(
        model,
        model.spelling,
        name=f"{HUGGING_FACE}{path}",
        about=f"{model.kind} of {model.parameter_count():,} parameters",
        first=model.first,
        context=model.context,
    )


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
    """Generate `length` symbols in `streams` texts with a run (its folder, or `run:DIR`) or a model `hf:PATH`.

    With `save` the texts are written to that file as they are generated, and memory does not grow with their length.
    """
    begun = time.monotonic()
    rule = choice or Choice()
    generator = load_generator(source, device=device)
    number, each = stream_sizes(length, streams)
    blocks = generator.write(streams=number, length=each, seed=seed, choice=rule, context=context, progress=progress)
    documents = None
    if save is None:
        counted = [(text[:EXCERPT], len(text)) for text in texts(blocks, generator.spelling)]
        excerpt, characters = counted[0][0], sum(count for _, count in counted)
    else:
        written = write(save, blocks, generator.spelling)
        documents, characters = written.documents, written.characters
        with save.open(encoding="utf-8", newline="") as file:
            excerpt = file.read(EXCERPT)
        if documents != "file":  # a short first text and the separator after it
            excerpt = excerpt.partition(documents)[0]
    return Sample(
        source=generator.name,
        model=generator.about,
        length=number * each,
        streams=number,
        each=each,
        characters=characters,
        temperature=rule.temperature,
        top_k=rule.top_k,
        top_p=rule.top_p,
        context=generator.context if context is None else context,
        seed=seed,
        path=None if save is None else str(save),
        documents=documents,
        excerpt=excerpt,
        seconds=time.monotonic() - begun,
        notes=generator.notes,
    )


def sampled_sequence(
    source: str,
    length: int,
    *,
    streams: int | None = None,
    choice: Choice | None = None,
    seed: int = 0,
    device: Device = "auto",
    progress: Progress = SILENT,
) -> Sequence:
    """The same texts as one sequence of characters with a document for each; its notes name the model."""
    rule = choice or Choice()
    generator = load_generator(source, device=device)
    number, each = stream_sizes(length, streams)
    blocks = generator.write(streams=number, length=each, seed=seed, choice=rule, progress=progress)
    sequence = as_sequence(blocks, generator.spelling, name=source)
    origin = f"sampled from {generator.about}: {number:,} texts of {each:,} symbols, temperature {rule.temperature:g}"
    return replace(sequence, notes=(*sequence.notes, origin, *generator.notes))

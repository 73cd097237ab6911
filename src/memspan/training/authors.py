"""Models that write, by name: the best network of a run, or a Hugging Face model."""

from __future__ import annotations

from pathlib import Path

from memspan.errors import CorruptError, InputError
from memspan.sampling.generator import TextGenerator
from memspan.training.best import Best, load_best
from memspan.training.devices import Device, device_of

RUN, HUGGING_FACE = "run:", "hf:"
_WRITING = ("characters", "words", "binary")
"""Tasks whose networks have learnt which symbol comes next."""
_LONG = 10**6
"""Steps after which every state that grows has grown, one that stores a state once in a while, too."""


def author_of(source: str, *, device: Device = "auto") -> TextGenerator:
    """What `run:DIR` or `hf:PATH` names; without either, the folder of a run."""
    if source.startswith(HUGGING_FACE):
        return _hugging_face_author(source.removeprefix(HUGGING_FACE), device)
    return _run_author(Path(source.removeprefix(RUN)), device)


def _run_author(run: Path, device: Device) -> TextGenerator:
    """What writes as the run has learnt to; its data are not needed."""
    best = load_best(run, device=device_of(device))
    word, vocabulary, path = best.config.word, best.folder.vocabulary(), best.folder.path
    if word not in _WRITING:
        raise InputError(
            f"{run} was trained on {word}, which is no text to go on with; give a run of {', '.join(_WRITING)}"
        )
    if vocabulary is None:
        raise CorruptError(
            f"{path} has no vocabulary.json, so what its symbols stand for is not known; put the file back, "
            "or train again"
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


def _context(best: Best) -> int | None:
    """Of a network whose state grows with all it reads, as far as it was trained to look back."""
    if best.network.state_size(_LONG) == best.network.state_size(1):
        return None
    task = best.config.task
    return getattr(task, "steps", None) or getattr(task, "length", None)


def _hugging_face_author(path: str, device: Device) -> TextGenerator:
    from memspan.models.hugging_face import load_hugging_face

    model = load_hugging_face(path, device=device_of(device))
    return TextGenerator(
        model,
        model.spelling,
        name=f"{HUGGING_FACE}{path}",
        about=f"{model.kind} of {model.parameter_count():,} parameters",
        first=model.first,
        context=model.context,
    )

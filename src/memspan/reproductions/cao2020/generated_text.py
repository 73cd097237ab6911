"""Evaluations of what the networks of `language_models` generate: reverse perplexity, and information between segments.

Every result is stored in the folder of its run and reused as long as the settings stay the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from memspan.engines import Processes, available_cores
from memspan.progress import Progress
from memspan.reproductions.cao2020.language_models import LanguageModelSize, ModelKey
from memspan.reproductions.cao2020.published import REAL
from memspan.results import ReversePerplexity, SegmentInformation
from memspan.results.encoding import from_plain, to_plain
from memspan.results.files import write_text

Result = TypeVar("Result", ReversePerplexity, SegmentInformation)
# Increment whenever the evaluation itself changes, so that stored results are computed again.
EVALUATION_VERSION = 2


def reverse_perplexities(
    size: LanguageModelSize, keys: Iterable[ModelKey], runs: Path, seed: int, progress: Progress
) -> dict[ModelKey, ReversePerplexity]:
    """Compute the reverse perplexity of every network."""
    jobs = {
        key: GeneratedTextJob(runs / key.folder, runs / key.folder / "reverse-perplexity.json", size, key.data, seed)
        for key in keys
    }
    return _in_parallel(reverse_perplexity_of, jobs, size, "models trained on generated text", progress)


def segment_informations(
    size: LanguageModelSize, keys: Iterable[ModelKey], runs: Path, seed: int, progress: Progress
) -> dict[ModelKey, SegmentInformation]:
    """Estimate the information between segments of every network's generated text, and of each training text."""
    file = "segment-information.json"
    jobs = {key: GeneratedTextJob(runs / key.folder, runs / key.folder / file, size, key.data, seed) for key in keys}
    for data in size.corpora:
        jobs[ModelKey(data, REAL, seed)] = GeneratedTextJob(None, runs / data / file, size, data, seed)
    return _in_parallel(segment_information_of, jobs, size, "critics of segments", progress)


class GeneratedTextJob(NamedTuple):
    """The evaluation of one network, or of the training text where `run` is None."""

    run: Path | None
    file: Path
    """File that stores the result."""
    size: LanguageModelSize
    data: str
    seed: int

    def settings(self) -> dict[str, Any]:
        """Everything other than the run that the result depends on."""
        from memspan.diagnostics.generated_text import PlainModel
        from memspan.objectives import Critic

        size = self.size
        # The keys are those of files stored by earlier versions.
        return {
            "judged": EVALUATION_VERSION,
            "written": size.generated,
            "seed": self.seed,
            "plain": asdict(PlainModel(**size.fresh_model)),
            "critic": asdict(Critic(**size.critic)),
            "segments": size.segments,
        }


def _in_parallel(
    work: Callable[[GeneratedTextJob], Result],
    jobs: dict[ModelKey, GeneratedTextJob],
    size: LanguageModelSize,
    stage_name: str,
    progress: Progress,
) -> dict[ModelKey, Result]:
    engine = Processes(min(size.workers or available_cores(), len(jobs)))
    with progress.stage(stage_name, len(jobs)) as stage:
        results = engine.map(work, jobs.values(), done=stage.advance)
    return dict(zip(jobs, results, strict=True))


def reverse_perplexity_of(job: GeneratedTextJob) -> ReversePerplexity:
    """Load the stored reverse perplexity, or compute and store it."""
    return _load_or_compute(job, ReversePerplexity, _reverse_perplexity)


def segment_information_of(job: GeneratedTextJob) -> SegmentInformation:
    """Load the stored segment information, or compute and store it."""
    return _load_or_compute(job, SegmentInformation, _segment_information)


def _load_or_compute(
    job: GeneratedTextJob, kind: type[Result], compute: Callable[[GeneratedTextJob], Result]
) -> Result:
    if job.file.is_file():
        plain = json.loads(job.file.read_text(encoding="utf-8"))
        if plain["settings"] == job.settings():
            return from_plain(kind, plain["found"])
    result = compute(job)
    write_text(job.file, json.dumps({"settings": job.settings(), "found": to_plain(result)}) + "\n")
    return result


def _reverse_perplexity(job: GeneratedTextJob) -> ReversePerplexity:
    from memspan.diagnostics.generated_text import GeneratedText, PlainModel

    assert job.run is not None, "the reverse perplexity needs generated text"
    texts = GeneratedText.of(job.run, job.size.generated, seed=job.seed, device="cpu")
    return texts.reverse(plain=PlainModel(**job.size.fresh_model), device="cpu")


def _segment_information(job: GeneratedTextJob) -> SegmentInformation:
    from memspan.diagnostics.generated_text import GeneratedText, training_pieces
    from memspan.objectives import Critic, segment_information
    from memspan.sampling.generator import stream_sizes
    from memspan.tasks.text import TextTask
    from memspan.training.run.machine import torch_threads

    segments = job.size.segments
    task = job.size.config(ModelKey(job.data, "none", job.seed), job.file.parent).task
    assert isinstance(task, TextTask)
    with torch_threads(1):
        if job.run is None:
            texts = training_pieces(task, *stream_sizes(job.size.generated, None))
        else:
            texts, _ = GeneratedText.of(job.run, job.size.generated, seed=job.seed, device="cpu").matched_texts()
        return segment_information(
            list(texts),
            task.classes,
            seed=job.seed,
            length=segments["length"],
            gap=segments["gap"],
            folds=segments["folds"],
            critic=Critic(**job.size.critic),
        )

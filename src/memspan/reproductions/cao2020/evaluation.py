"""What the networks of `bmi_trainings` write, judged side by side; what is found is kept in each one's folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from memspan.engines import Processes, available_cores
from memspan.progress import Progress
from memspan.reproductions.cao2020.trainings import Key, Size
from memspan.results import ReversePerplexity, SegmentInformation
from memspan.results.atomic import write_text
from memspan.results.encoding import from_plain, to_plain

Found = TypeVar("Found")
REAL = "real"
"""The text itself, among those whose segments are judged."""
JUDGED = 2
"""Raised whenever judging itself changes, so that what was kept before is found anew."""


class Job(NamedTuple):
    """One network, or none: the real text in its place."""

    run: Path | None
    kept: Path
    """Where it is written down"""
    size: Size
    data: str
    seed: int

    def settings(self) -> dict[str, Any]:
        """What the numbers depend on besides the run."""
        from memspan.diagnostics.reverse_perplexity import PlainModel
        from memspan.objectives import Critic

        size = self.size
        return {
            "judged": JUDGED,
            "written": size.written,
            "seed": self.seed,
            "plain": asdict(PlainModel(**size.plain)),
            "critic": asdict(Critic(**size.critic)),
            "segments": size.segments,
        }


def reverse_all(
    size: Size, keys: Iterable[Key], runs: Path, seed: int, progress: Progress
) -> dict[Key, ReversePerplexity]:
    """The reverse perplexity of every network."""
    jobs = {
        key: Job(runs / key.folder, runs / key.folder / "reverse-perplexity.json", size, key.data, seed)
        for key in keys
    }
    return _side_by_side(reversed_of, jobs, size, "fresh models that read what was written", progress)


def segments_all(
    size: Size, keys: Iterable[Key], runs: Path, seed: int, progress: Progress
) -> dict[Key, SegmentInformation]:
    """What segments tell of each other in what every network writes, and in the text that it learnt."""
    jobs = {
        key: Job(runs / key.folder, runs / key.folder / "segment-information.json", size, key.data, seed)
        for key in keys
    }
    for data in size.corpora:
        real = Key(data, REAL, seed)
        jobs[real] = Job(None, runs / data / "segment-information.json", size, data, seed)
    return _side_by_side(segments_of, jobs, size, "critics of segments", progress)


def reversed_of(job: Job) -> ReversePerplexity:
    """Read where it was found before, else found now."""
    return _kept(job, ReversePerplexity, _reversed)


def segments_of(job: Job) -> SegmentInformation:
    """The same of segments."""
    return _kept(job, SegmentInformation, _segments)


def _reversed(job: Job) -> ReversePerplexity:
    from memspan.diagnostics.reverse_perplexity import PlainModel
    from memspan.diagnostics.written_texts import WrittenTexts

    assert job.run is not None, "the real text is no author"
    texts = WrittenTexts.of(job.run, job.size.written, seed=job.seed, device="cpu")
    return texts.reverse(plain=PlainModel(**job.size.plain), device="cpu")


def _segments(job: Job) -> SegmentInformation:
    from memspan.diagnostics.written_texts import WrittenTexts, training_pieces
    from memspan.objectives import Critic, segment_information
    from memspan.sampling.author import divided
    from memspan.tasks.text import TextTask
    from memspan.training.machine import with_threads

    segments = job.size.segments
    task = job.size.config(Key(job.data, "none", job.seed), job.kept.parent).task
    assert isinstance(task, TextTask)
    with with_threads(1):
        if job.run is None:
            texts = training_pieces(task, *divided(job.size.written, None))
        else:
            texts, _ = WrittenTexts.of(job.run, job.size.written, seed=job.seed, device="cpu").beside_real()
        return segment_information(
            list(texts),
            task.classes,
            seed=job.seed,
            length=segments["length"],
            gap=segments["gap"],
            folds=segments["folds"],
            critic=Critic(**job.size.critic),
        )


def _side_by_side(
    work: Callable[[Job], Found], jobs: dict[Key, Job], size: Size, name: str, progress: Progress
) -> dict[Key, Found]:
    engine = Processes(min(size.workers or available_cores(), len(jobs)))
    with progress.stage(name, len(jobs)) as stage:
        found = engine.map(work, jobs.values(), done=stage.advance)
    return dict(zip(jobs, found, strict=True))


def _kept(job: Job, kind: type[Found], find: Callable[[Job], Found]) -> Found:
    """What was found with the same settings, or what is found now."""
    if job.kept.is_file():
        plain = json.loads(job.kept.read_text(encoding="utf-8"))
        if plain["settings"] == job.settings():
            return from_plain(kind, plain["found"])
    found = find(job)
    plain = {"settings": job.settings(), "found": to_plain(found)}
    write_text(job.kept, json.dumps(plain) + "\n")
    return found

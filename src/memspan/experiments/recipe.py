"""What a recipe is, and what running one gives."""

from __future__ import annotations

import json
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

from memspan.progress import Progress
from memspan.results import Chart, Claim, HeatMap, MeasuredTable, Orbit


@final
@dataclass(frozen=True, eq=False)
class Outcome:
    """What one run found: claims, drawings, tables, and what a reader should know besides."""

    claims: tuple[Claim, ...]
    figures: tuple[Chart, ...]
    notes: tuple[str, ...] = ()
    orbits: tuple[Orbit, ...] = ()
    maps: tuple[HeatMap, ...] = ()
    tables: tuple[MeasuredTable, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Recipe(ABC):
    """One figure, table, theorem or erratum of a source, as an experiment."""

    id: str
    title: str
    source: str
    """The document and the place in it."""
    scales: dict[str, str]
    """smoke, laptop, paper: what is run, and the time it takes on two cores, in words."""

    @abstractmethod
    def outcome(self, scale: str, seed: int, progress: Progress, runs: Path | None) -> Outcome:
        """Run it at one scale. `runs` is a folder in which trainings are kept; None: they are not."""


@final
@dataclass(frozen=True, kw_only=True)
class Computed(Recipe):
    """A recipe that computes, draws and measures."""

    run: Callable[[str, int, Progress], Outcome]
    """run(scale, seed, progress)"""

    def outcome(self, scale: str, seed: int, progress: Progress, runs: Path | None) -> Outcome:  # noqa: ARG002
        return self.run(scale, seed, progress)


@final
@dataclass(frozen=True, kw_only=True)
class Trained(Recipe):
    """A recipe that trains networks, each in a folder of its own, so that what was finished is not done again."""

    train: Callable[[str, int, Progress, Path], Outcome]
    """train(scale, seed, progress, runs)"""

    def outcome(self, scale: str, seed: int, progress: Progress, runs: Path | None) -> Outcome:
        if runs is not None:
            return self._trained(scale, seed, progress, runs)
        with tempfile.TemporaryDirectory(prefix="memspan-") as folder:
            return self._trained(scale, seed, progress, Path(folder))

    def _trained(self, scale: str, seed: int, progress: Progress, runs: Path) -> Outcome:
        """With the time of all trainings, those of earlier sessions included."""
        found = self.train(scale, seed, progress, runs)
        results = [json.loads(path.read_text()) for path in sorted(runs.rglob("result.json"))]
        minutes = sum(result["seconds"] for result in results) / 60
        trainings = sum(len(result.get("networks", ())) or 1 for result in results)
        note = f"{trainings} trainings of {minutes:.1f} minutes in all, in one thread each."
        return replace(found, notes=(*found.notes, note))


@final
@dataclass(frozen=True)
class SampleSize:
    """How much of a known source is drawn at one scale."""

    documents: int
    length: int

"""What a recipe is, and what running one gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from memspan.progress import Progress
from memspan.results import Chart, Claim, Orbit


@final
@dataclass(frozen=True, eq=False)
class Outcome:
    """What one run found: claims, drawings, and what a reader should know besides."""

    claims: tuple[Claim, ...]
    figures: tuple[Chart, ...]
    notes: tuple[str, ...] = ()
    orbits: tuple[Orbit, ...] = ()


@final
@dataclass(frozen=True, kw_only=True)
class Recipe:
    """One figure, table, theorem or erratum of a source, as an experiment."""

    id: str
    title: str
    source: str
    """The document and the place in it."""
    scales: dict[str, str]
    """smoke, laptop, paper: what is run, and the time it takes on two cores, in words."""
    run: Callable[[str, int, Progress], Outcome]
    """run(scale, seed, progress)"""


@final
@dataclass(frozen=True)
class SampleSize:
    """How much of a known source is drawn at one scale."""

    documents: int
    length: int

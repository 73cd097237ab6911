"""What a recipe is, and what running one returns."""

from __future__ import annotations

import json
import string
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, cast, final

from memspan.errors import InputError, suggestion
from memspan.progress import SILENT, Progress
from memspan.results import Chart, Claim, HeatMap, MeasuredTable, Orbit

T = TypeVar("T")


@final
@dataclass(frozen=True, eq=False)
class Outcome:
    """What one run found: claims, figures, tables and notes."""

    claims: tuple[Claim, ...]
    figures: tuple[Chart, ...]
    notes: tuple[str, ...] = ()
    orbits: tuple[Orbit, ...] = ()
    maps: tuple[HeatMap, ...] = ()
    tables: tuple[MeasuredTable, ...] = ()


@final
@dataclass(frozen=True)
class Scale:
    """One scale of a recipe: `size` holds the keyword arguments of its function, `time` what they take on two cores."""

    time: str
    size: Mapping[str, Any]
    work: str = ""
    """What is run, where it differs from the `work` of the recipe."""
    untestable: str = ""
    """Why the published claims cannot be tested at this scale, if they cannot."""


@dataclass(frozen=True, kw_only=True)
class Recipe(ABC):
    """One figure, table, theorem or erratum of a source, as an experiment.

    A recipe is data. The function that runs it is named, not imported, so that listing recipes loads none of them.
    Sizes are stated once, in `sizes`: they are passed to the function as keyword arguments and fill the fields of `work`.
    """

    id: str
    title: str
    source: str
    """The document and the place in it."""
    run: str | Callable[..., Outcome]
    """`paper.module:function` below `memspan.reproductions`. Called as function(seed=, progress=, **size)."""
    work: str = ""
    """What is run, with the sizes as format fields: `{networks} networks, {chains} chains each`."""
    sizes: Mapping[str, Scale]
    """By name: smoke, laptop, paper."""
    ours: bool = False
    """Whether all claims are our own: corrections of the source, or experiments beyond it."""

    @property
    def scales(self) -> dict[str, str]:
        """What each scale runs and how long it takes on two cores, in words."""
        return {
            name: f"{_words.format(scale.work or self.work, **scale.size)}: {scale.time}"
            for name, scale in self.sizes.items()
        }

    def function(self) -> Callable[..., Outcome]:
        """Import what runs the recipe."""
        if callable(self.run):
            return self.run
        module, _, name = self.run.partition(":")
        return getattr(import_module(f"memspan.reproductions.{module}"), name)

    def with_sizes(self, scale: str, sizes: Mapping[str, Any]) -> Recipe:
        """The same recipe with other sizes at one scale; lists, as JSON has them, become tuples."""
        own = self.sizes[scale]
        changed = {name: _like(self.id, name, own.size, value) for name, value in sizes.items()}
        return replace(self, sizes={**self.sizes, scale: replace(own, size={**own.size, **changed})})

    @abstractmethod
    def outcome(self, scale: str, seed: int = 0, progress: Progress = SILENT, runs: Path | None = None) -> Outcome:
        """Run the recipe at one scale. `runs` is the folder that trainings are saved in; None: they are not saved."""


# What a size may be set to, by the type of its default; a default of None accepts all of them.
_KINDS: dict[type, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a word",
    tuple: "a list such as [1, 2]",
    dict: "an object such as {}",
}


def _like(id: str, name: str, size: Mapping[str, Any], value: Any) -> Any:
    """A value for one size, of the type of its default."""
    settable = [each for each, default in size.items() if default is None or type(default) in _KINDS]
    if name not in settable:
        raise InputError(f"{id} has no size {name!r} that can be set; {suggestion(name, settable)}")
    default, value = size[name], tuple(value) if isinstance(value, list) else value
    number = isinstance(default, float) and type(value) is int
    if default is not None and type(value) is not type(default) and not number:
        raise InputError(f"{id}: {name} is {value!r}; expected {_KINDS[type(default)]}, such as {default!r}")
    return value


@final
@dataclass(frozen=True, kw_only=True)
class Computed(Recipe):
    """A recipe that computes, simulates and measures, without training."""

    def outcome(
        self,
        scale: str,
        seed: int = 0,
        progress: Progress = SILENT,
        runs: Path | None = None,  # noqa: ARG002
    ) -> Outcome:
        return self.function()(seed=seed, progress=progress, **self.sizes[scale].size)


@final
@dataclass(frozen=True, kw_only=True)
class Trained(Recipe):
    """A recipe that trains networks. Its function also takes `runs`, the folder of the training runs.

    Runs that are finished there are read, runs that were interrupted are resumed.
    """

    def outcome(self, scale: str, seed: int = 0, progress: Progress = SILENT, runs: Path | None = None) -> Outcome:
        if runs is None:
            with tempfile.TemporaryDirectory(prefix="memspan-") as folder:
                return self.outcome(scale, seed, progress, Path(folder))
        found = self.function()(seed=seed, progress=progress, runs=runs, **self.sizes[scale].size)
        return replace(found, notes=(*found.notes, _training_time(runs)))


def _training_time(runs: Path) -> str:
    """The time of all trainings, those of earlier sessions included."""
    results = [json.loads(path.read_text()) for path in sorted(runs.rglob("result.json"))]
    minutes = sum(result["seconds"] for result in results) / 60
    trainings = sum(len(result.get("networks", ())) or 1 for result in results)
    return f"{trainings} trainings of {minutes:.1f} minutes in all, in one thread each."


class _Words(string.Formatter):
    """Formats sizes for reading: 200,000 and 8 million; lists as 4, 8, 16; `{widths!n}` is the length of a list."""

    def convert_field(self, value: Any, conversion: str | None) -> Any:
        return len(value) if conversion == "n" else super().convert_field(value, conversion)

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, tuple):
            return ", ".join(self.format_field(each, format_spec) for each in cast("tuple[Any, ...]", value))
        if isinstance(value, int) and not format_spec:
            # Only round numbers become millions: 1.5 million, but 1,234,567.
            return f"{value / 1e6:g} million" if value >= 1e6 and value % 1e5 == 0 else f"{value:,}"
        return super().format_field(value, format_spec)


_words = _Words()


def tracked(items: Sequence[T], progress: Progress, stage: str) -> Iterator[T]:
    """Iterate over the items of one stage and report each as it is finished."""
    with progress.stage(stage, len(items)) as running:
        for item in items:
            yield item
            running.advance()

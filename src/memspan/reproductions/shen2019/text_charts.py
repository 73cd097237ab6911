"""What networks of one cell wrote that learnt WikiText-2, beside the text as they read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import final

from memspan.errors import check_models
from memspan.progress import Progress
from memspan.reproductions.shen2019.decay import Laws
from memspan.reproductions.shen2019.generated import Generated, Network
from memspan.reproductions.shen2019.generated_charts import (
    curve_lines,
    curves_chart,
    data_line,
    length_line,
    lengths_chart,
)
from memspan.reproductions.shen2019.ratios import (
    Distances,
    Times,
    times_claim,
    times_information,
    times_length,
)
from memspan.reproductions.shen2019.text import KINDS, Kind, Plan, TextSize
from memspan.reproductions.shen2019.text_sizes import SIZES
from memspan.results import Chart, Claim, Curve

ALIKE = 1.5
"""Informations that differ by less than this factor, in the geometric mean, are the same."""
SMOKE = "The text is the source of Python's own library, and validation is by two batches of it."
NAMES = {"lstm": "LSTM", "transformer": "Transformer"}


@final
@dataclass(frozen=True, eq=False)
class Side:
    """Networks of one cell that learnt one kind of symbols, beside the text as they read it."""

    plan: Plan
    found: Mapping[Network, Generated]
    text: Curve
    laws: Laws


@final
@dataclass(frozen=True, eq=False)
class Learnt:
    """What the networks of one cell wrote, by kind of symbols."""

    cell: str
    sides: Mapping[Kind, Side]

    @classmethod
    def of(cls, cell: str, scale: str, seed: int, progress: Progress, runs: Path) -> Learnt:
        check_models("what networks write")
        size = SIZES[scale]
        return cls(cell, {kind: _side(size, cell, kind, seed, progress, runs) for kind in KINDS})

    @property
    def notes(self) -> tuple[str, ...]:
        """What each network came to, and how what it wrote begins."""
        texts = [f"the text of {kind}: {side.laws}." for kind, side in self.sides.items()]
        written = [
            f"{kind}, {each}. It begins: {' '.join(each.excerpt.split())!r}."
            for kind, side in self.sides.items()
            for each in side.found.values()
        ]
        return (*texts, *written)

    def curve(self, kind: Kind, width: int, depth: int = 1) -> Curve:
        return self.sides[kind].found[Network(self.cell, width, depth)].curve

    def share(self, kind: Kind, width: int, distances: Distances, depth: int = 1) -> Times:
        """Of the text's information at some distances."""
        return times_information(self.curve(kind, width, depth), self.sides[kind].text, distances)

    def captures(self, who: str, kind: Kind, width: int, distances: Distances) -> Claim:
        """Whether a network of one layer has the information of the text at some distances, within a factor."""
        said = f"{who} has the information of the text at distances {at(distances)}, within {ALIKE:g} times."
        return times_claim(said, self.share(kind, width, distances), least=1 / ALIKE, most=ALIKE)

    def length(self, kind: Kind, width: int) -> Times:
        """The correlation length of one layer as a share of that of the text."""
        return times_length(self.by_width(kind)[width], self.sides[kind].laws)

    def by_width(self, kind: Kind) -> dict[int, Laws]:
        side = self.sides[kind]
        return {width: side.found[Network(self.cell, width)].laws for width in side.plan.widths}

    def by_depth(self, kind: Kind) -> dict[int, Laws]:
        side = self.sides[kind]
        return {
            depth: side.found[Network(self.cell, side.plan.deep, depth)].laws for depth in side.plan.depths
        }

    def deep(self) -> list[Kind]:
        """Where there are networks of more than one layer."""
        return [kind for kind in KINDS if len(self.sides[kind].plan.depths) > 1]


def _side(size: TextSize, cell: str, kind: Kind, seed: int, progress: Progress, runs: Path) -> Side:
    text, laws = size.measured(cell, kind, seed, progress)
    return Side(size.plans[cell, kind], size.generate(cell, kind, seed, runs, progress), text, laws)


def at(distances: Distances) -> str:
    """In words.

    >>> at((100, 1_000))
    '100 to 1,000'
    """
    return f"{distances[0]:,} to {distances[1]:,}"


def instead_of(here: object, published: str) -> str:
    """What a claim adds that is about the nearest network there is, not about the paper's.

    >>> instead_of(128, "512"), instead_of(512, "512")
    (' (the paper: 512)', '')
    """
    return "" if str(here) == published else f" (the paper: {published})"


def drawn_curves(learnt: Learnt, kind: Kind) -> Chart:
    name, side = NAMES[learnt.cell], learnt.sides[kind]
    return curves_chart(
        f"{kind}-curves",
        f"What {name}s write that learnt {kind}",
        curve_lines(side.found.values(), side.text, f"the text, {side.text.length:,} characters"),
        f"Each line is one {name}, by its width (x depth): the information between characters of what it wrote, with the "
        "floor taken off, where it is significant. Networks that learnt words write words, and are measured as characters, "
        "too. Markers are the text as they read it, as much of it as they wrote.",
        unit="characters",
    )


def drawn_lengths(learnt: Learnt, by: str) -> Chart:
    lines = []
    for kind in KINDS:
        laws = learnt.by_width(kind) if by == "width" else learnt.by_depth(kind)
        label = f"learnt {kind}"
        lines += [length_line(label, laws), data_line(learnt.sides[kind].laws, laws, f"the text of {kind}")]
    return lengths_chart(by, f"How far back {NAMES[learnt.cell]}s remember a text, by {by}", tuple(lines))


def trainings(cell: str, scale: str) -> str:
    """How many networks of a cell learn at one scale, and for how long, in words."""
    plans = [SIZES[scale].plans[cell, kind] for kind in KINDS]
    (characters, words), (first, second) = (len(plan.networks(cell)) for plan in plans), plans
    updates = f"{first.training['updates']:,} and {second.training['updates']:,} updates each"
    seeds = "" if first.seeds == second.seeds == 1 else f" from {first.seeds} and {second.seeds} seeds"
    return f"{characters} {NAMES[cell]}s of characters and {words} of words{seeds}, {updates}"

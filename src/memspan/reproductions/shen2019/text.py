"""Networks trained on WikiText-2 as characters or words, and what they generate, measured as characters.

Shen 2019, sections 4.2.2 and 5.2. `text_lstm` and `text_transformer` make the claims.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast, final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import check_models
from memspan.information import log_lags, mutual_information
from memspan.progress import Progress
from memspan.reproductions.corpora import evenly, pieces_of
from memspan.reproductions.shen2019.decay import CurveDecay, Lags, Ratio, information_ratio, length_ratio, ratio_claim
from memspan.reproductions.shen2019.generated import (
    Generated,
    Generation,
    curves_chart,
    data_line,
    generate_all,
    length_line,
    lengths_chart,
)
from memspan.reproductions.shen2019.sizes import CELL_NAMES, KINDS, Architecture, Kind, TextPlan, TextSize
from memspan.results import Chart, Claim, Curve
from memspan.sequences import Sequence

if TYPE_CHECKING:
    from memspan.tasks.text import TextTask
    from memspan.training import Config

# Values above this level, in nats, count for the correlation length.  Shen 2019, Fig. 8.
ABOVE = 2e-3
# Lags within words, within sentences and within paragraphs, in characters.
NEAR, MIDDLE, FAR = (1, 10), (10, 50), (100, 1_000)
# Lag beyond which few values are above that level.
NEARLY_ALL = 60
# In WikiText-2 a word has 4.9 to 5.1 characters including the blank, depending on how many rare words are `<unk>`.
CHARACTERS_PER_WORD = 5.0
# Informations that differ by less than this factor, in the geometric mean, count as equal.
ALIKE = 1.5


@final
@dataclass(frozen=True, eq=False)
class KindResults:
    """Networks of one cell that were trained on one kind of symbols, and the text as they read it."""

    plan: TextPlan
    found: Mapping[Architecture, Generated]
    text: Curve
    decay: CurveDecay
    """Of the text."""


@final
@dataclass(frozen=True, eq=False)
class TextResults:
    """What the networks of one cell generated, by kind of symbols."""

    cell: str
    kinds: Mapping[Kind, KindResults]

    @classmethod
    def of(cls, size: TextSize, seed: int, progress: Progress, runs: Path) -> TextResults:
        """Measure the text, then train and measure every network."""
        check_models("generating text")
        return cls(size.cell, {kind: _results(size, kind, seed, progress, runs) for kind in KINDS})

    def notes(self, size: TextSize) -> tuple[str, ...]:
        """The result of each network with the beginning of what it generated, and how trainings differ from the paper's."""
        texts = [f"the text of {kind}: {results.decay}." for kind, results in self.kinds.items()]
        generated = [
            f"{kind}, {each}. It begins: {' '.join(each.excerpt.split())!r}."
            for kind, results in self.kinds.items()
            for each in results.found.values()
        ]
        return (*texts, *generated, size.differences)

    def curve(self, kind: Kind, width: int, depth: int = 1) -> Curve:
        return self.kinds[kind].found[Architecture(self.cell, width, depth)].curve

    def ratio(self, kind: Kind, width: int, lags: Lags, depth: int = 1) -> Ratio:
        """Information of a network's text / information of the real text, between two lags."""
        return information_ratio(self.curve(kind, width, depth), self.kinds[kind].text, lags)

    def captures(self, who: str, kind: Kind, width: int, lags: Lags) -> Claim:
        """Whether a network of one layer has the information of the text between two lags, within a factor."""
        claim = f"{who} has the information of the text at lags {in_words(lags)}, within a factor of {ALIKE:g}."
        return ratio_claim(claim, self.ratio(kind, width, lags), least=1 / ALIKE, most=ALIKE)

    def length(self, kind: Kind, width: int) -> Ratio:
        """Correlation length of a network of one layer / correlation length of the text."""
        return length_ratio(self.by_width(kind)[width], self.kinds[kind].decay)

    def by_width(self, kind: Kind) -> dict[int, CurveDecay]:
        results = self.kinds[kind]
        return {width: results.found[Architecture(self.cell, width)].decay for width in results.plan.grid.widths}

    def by_depth(self, kind: Kind) -> dict[int, CurveDecay]:
        results, grid = self.kinds[kind], self.kinds[kind].plan.grid
        return {depth: results.found[Architecture(self.cell, grid.deep, depth)].decay for depth in grid.depths}

    def curve_charts(self) -> tuple[Chart, ...]:
        """One chart of curves for each kind of symbols."""
        name = CELL_NAMES[self.cell]
        return tuple(
            curves_chart(
                f"{kind}-curves",
                f"What {name}s trained on {kind} generate",
                results.found.values(),
                results.text,
                f"the text, {results.text.length:,} characters",
                f"Each line is one {name}, by its width (x depth): the information between characters of what it generated, "
                "with the noise floor subtracted, where it is significant. Networks trained on words generate words, and "
                "are measured as characters, too. Markers are the text as they read it, as much of it as they generated.",
                unit="characters",
            )
            for kind, results in self.kinds.items()
        )

    def length_charts(self) -> tuple[Chart, Chart]:
        """Correlation lengths by width and by depth."""

        def drawn(by: Literal["width", "depth"]) -> Chart:
            lines = []
            for kind in KINDS:
                decays = self.by_width(kind) if by == "width" else self.by_depth(kind)
                text = data_line(self.kinds[kind].decay, decays, f"the text of {kind}")
                lines += [length_line(f"trained on {kind}", decays), text]
            title = f"Correlation length of text that {CELL_NAMES[self.cell]}s generate, by {by}"
            return lengths_chart(by, title, lines)

        return drawn("width"), drawn("depth")


def text_config(plan: TextPlan, kind: Kind, data: str, network: Architecture, seed: int) -> Config:
    """The training of one network."""
    from memspan.reproductions.trainings import WHOLE, training_config

    settings = {
        "task": {"data": data, **plan.task},
        "cell": {"hidden": network.width, "layers": network.depth, **plan.options},
        "model": {"embedding": network.width, **plan.model},
        "init": {"name": plan.init},
        "training": {**WHOLE, **plan.training},
    }
    return training_config(kind, network.cell, seed, settings)


def _results(size: TextSize, kind: Kind, seed: int, progress: Progress, runs: Path) -> KindResults:
    plan = size.plans[kind]
    text = measured_text(size, kind, seed, progress)
    found = generate_all(
        plan.grid.architectures,
        range(seed, seed + plan.seeds),
        lambda network, seed: text_config(plan, kind, size.data, network, seed),
        text_generation(plan, kind),
        runs / kind,
        progress,
        workers=size.workers,
    )
    return KindResults(plan, found, text, CurveDecay.of(text, ABOVE))


def text_generation(plan: TextPlan, kind: Kind) -> Generation:
    symbols = plan.generated if kind == "characters" else round(plan.generated / CHARACTERS_PER_WORD)
    return Generation(streams=plan.streams, length=symbols // plan.streams, lags=_lags(plan), above=ABOVE)


def _lags(plan: TextPlan) -> NDArray[np.int64]:
    """Up to 1,000 characters, or a quarter of a stream; every lag within a sentence, for the correlation length."""
    last = min(FAR[1], plan.generated // plan.streams // 4)
    return np.union1d(np.arange(1, min(last, NEARLY_ALL) + 1), log_lags(1, last))


def measured_text(size: TextSize, kind: Kind, seed: int, progress: Progress) -> Curve:
    """The text that networks read, rare words as they see them: as many pieces as they generate, of the same length.

    The pieces are spread evenly over the training text, because its articles differ.
    """
    plan = size.plans[kind]
    task = cast("TextTask", text_config(plan, kind, size.data, plan.grid.architectures[0], seed).task)
    read, length = task.text("train"), text_generation(plan, kind).length
    length = length if kind == "characters" else round(length * CHARACTERS_PER_WORD)
    text = Sequence.from_documents(evenly(pieces_of(read, length), plan.streams), symbols="chars")
    return mutual_information(text, _lags(plan), seed=seed, progress=progress)


def in_words(lags: Lags) -> str:
    """Two lags in words.

    >>> in_words((100, 1_000))
    '100 to 1,000'
    """
    return f"{lags[0]:,} to {lags[1]:,}"


def instead_of(here: object, published: str) -> str:
    """What a claim adds if it is about the most similar network available, not about the paper's.

    >>> instead_of(128, "512"), instead_of(512, "512")
    (' (the paper: 512)', '')
    """
    return "" if str(here) == published else f" (the paper: {published})"


def if_published(claim: Claim, here: object, published: str) -> Claim:
    """A claim about a network that can only be tested if it has the published size."""
    return (
        claim
        if str(here) == published
        else replace(claim, untestable=f"the networks of the paper have {published} units")
    )

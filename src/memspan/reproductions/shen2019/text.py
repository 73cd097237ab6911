"""Shen 2019, sections 4.2.2 and 5.2: networks that learn WikiText-2, and what they write, measured as characters."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, final

import numpy as np
from numpy.typing import NDArray

from memspan.information import log_lags, mutual_information
from memspan.progress import Progress
from memspan.reproductions.corpora import evenly, pieces_of
from memspan.reproductions.shen2019.decay import Laws
from memspan.reproductions.shen2019.generated import Generated, Network, Writing, generate_all
from memspan.results import Curve
from memspan.sequences import Sequence

if TYPE_CHECKING:
    from memspan.tasks.text import TextTask
    from memspan.training import Config

Kind = Literal["characters", "words"]
KINDS: tuple[Kind, ...] = ("characters", "words")
ABOVE = 2e-3
"""Only values above count for the correlation length.  Shen 2019, Fig. 8."""
NEAR, MIDDLE, FAR = (1, 10), (10, 50), (100, 1_000)
"""Distances within words, within sentences, within paragraphs, in characters."""
NEARLY_ALL = 60
"""Characters beyond which little is above that level."""
CHARACTERS_OF_A_WORD = 5.0
"""Of WikiText-2, about, with the blank after it; 4.9 to 5.1 by how many rare ones are `<unk>`."""


@final
@dataclass(frozen=True, kw_only=True)
class Plan:
    """Which networks of one cell learn one kind of symbols, and how."""

    widths: tuple[int, ...]
    depths: tuple[int, ...]
    deep: int
    """Width of those with several layers"""
    task: dict[str, Any]
    training: dict[str, Any]
    model: dict[str, Any]
    options: dict[str, Any]
    """Of the cell"""
    seeds: int = 1
    written: int = 2_000_000
    """Characters, about; of the text as many are measured"""
    streams: int = 256
    """Texts that these are divided into"""

    def networks(self, cell: str) -> list[Network]:
        """Every width of one layer, and every depth."""
        wide = [Network(cell, width) for width in self.widths]
        return list(dict.fromkeys([*wide, *(Network(cell, self.deep, depth) for depth in self.depths)]))

    def config(self, kind: Kind, data: str, network: Network, seed: int) -> Config:
        """The training of one network."""
        from memspan.reproductions.trainings import WHOLE, configured

        settings = {
            "task": {"data": data, **self.task},
            "cell": {"hidden": network.width, "layers": network.depth, **self.options},
            "model": {"embedding": network.width, **self.model},
            "training": {**WHOLE, **self.training},
        }
        return configured(kind, network.cell, seed, settings)

    def writing(self, kind: Kind) -> Writing:
        """What each network writes, and how it is measured."""
        symbols = self.written if kind == "characters" else round(self.written / CHARACTERS_OF_A_WORD)
        return Writing(streams=self.streams, length=symbols // self.streams, lags=self.lags(), above=ABOVE)

    def lags(self) -> NDArray[np.int64]:
        """Up to 1,000 characters, or a quarter of a text; every one within a sentence, for the correlation length."""
        last = min(FAR[1], self.written // self.streams // 4)
        return np.union1d(np.arange(1, min(last, NEARLY_ALL) + 1), log_lags(1, last))


@final
@dataclass(frozen=True, kw_only=True)
class TextSize:
    """What is learnt and written at one scale."""

    data: str
    plans: dict[tuple[str, Kind], Plan]
    """By cell and kind"""
    workers: int | None = None
    """Trainings at once; None: one for each core"""

    def generate(
        self, cell: str, kind: Kind, seed: int, runs: Path, progress: Progress
    ) -> dict[Network, Generated]:
        """Every network of a plan, best of its seeds."""
        plan = self.plans[cell, kind]
        return generate_all(
            plan.networks(cell),
            range(seed, seed + plan.seeds),
            lambda network, seed: plan.config(kind, self.data, network, seed),
            plan.writing(kind),
            runs / kind,
            progress,
            workers=self.workers,
        )

    def measured(self, cell: str, kind: Kind, seed: int, progress: Progress) -> tuple[Curve, Laws]:
        """What the networks read, rare words as they see them: as many pieces as they write texts, of the same length.

        They lie evenly over the training text, since its articles differ.
        """
        plan = self.plans[cell, kind]
        task = cast("TextTask", plan.config(kind, self.data, plan.networks(cell)[0], seed).task)
        read, writing = task.text("train"), plan.writing(kind)
        length = writing.length if kind == "characters" else round(writing.length * CHARACTERS_OF_A_WORD)
        text = Sequence.from_documents(evenly(pieces_of(read, length), plan.streams), symbols="chars")
        curve = mutual_information(text, plan.lags(), seed=seed, progress=progress)
        return curve, Laws.of(curve, ABOVE)

"""Shen 2019, sections 4.2.2 and 5.2: networks that learn WikiText-2, and what they write, measured as characters."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, final

import numpy as np
from numpy.typing import NDArray

from memspan.experiments.corpora import pieces_of
from memspan.experiments.forgetting import Laws, settled
from memspan.experiments.generated import Generated, Network, Writing, generate_all, share
from memspan.information import log_lags, mutual_information
from memspan.progress import Progress
from memspan.results import Claim, Curve
from memspan.sequences import Sequence

if TYPE_CHECKING:
    from memspan.tasks.text import TextTask
    from memspan.training import Config

Kind = Literal["characters", "words"]
KINDS: tuple[Kind, ...] = ("characters", "words")
ABOVE = 2e-3
"""Only values above count for the correlation length.  Shen 2019, Fig. 8."""
NEAR, MIDDLE, FAR = (1, 10), (10, 50), (100, 1_000)
"""Distances in characters: within words, within sentences, within paragraphs."""
NEARLY_ALL = 60
"""Characters beyond which little is above that level."""
CHARACTERS_OF_A_WORD = 5.5
"""Of WikiText-2, with the blank after it."""


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

    def networks(self, cell: str) -> list[Network]:
        wide = [Network(cell, width) for width in self.widths]
        return list(dict.fromkeys([*wide, *(Network(cell, self.deep, depth) for depth in self.depths)]))

    def config(self, kind: Kind, data: str, network: Network, seed: int) -> Config:
        """The training of one network."""
        from memspan.experiments.trainings import configured

        settings = {
            "task": {"data": data, **self.task},
            "cell": {"hidden": network.width, "layers": network.depth, **self.options},
            "model": {"embedding": network.width, **self.model},
            "training": self.training,
        }
        return configured(kind, network.cell, seed, settings)


@final
@dataclass(frozen=True, kw_only=True)
class TextSize:
    """What is learnt and written at one scale."""

    data: str
    plans: dict[tuple[str, Kind], Plan]
    """By cell and kind"""
    written: int
    """Characters, about; of the text as many are measured"""
    streams: int = 256
    """Texts that these are divided into"""
    workers: int | None = None
    """Trainings at once; None: one for each core"""

    def generate(
        self, cell: str, kind: Kind, seed: int, runs: Path, progress: Progress
    ) -> dict[Network, Generated]:
        """Every network of a plan, best of its seeds."""
        plan = self.plans[cell, kind]
        writing = Writing(
            streams=self.streams, length=self._symbols(kind) // self.streams, lags=self.lags(), above=ABOVE
        )
        return generate_all(
            plan.networks(cell),
            range(seed, seed + plan.seeds),
            lambda network, seed: plan.config(kind, self.data, network, seed),
            writing,
            runs / kind,
            progress,
            workers=self.workers,
        )

    def lags(self) -> NDArray[np.int64]:
        """Up to 1,000 characters, or a quarter of a text; every one within a sentence, for the correlation length."""
        last = min(FAR[1], self.written // self.streams // 4)
        return np.union1d(np.arange(1, min(last, NEARLY_ALL) + 1), log_lags(1, last))

    def measured(self, cell: str, kind: Kind, seed: int, progress: Progress) -> tuple[Curve, Laws]:
        """What the networks read, rare words as they see them, in as many texts of the same length as they write."""
        plan = self.plans[cell, kind]
        task = cast("TextTask", plan.config(kind, self.data, plan.networks(cell)[0], seed).task)
        read = task.text("train", self._symbols(kind))
        pieces = pieces_of(read, len(read) // self.streams)[: self.streams]
        text = Sequence.from_documents(pieces, symbols="chars")
        curve = mutual_information(text, self.lags(), seed=seed, progress=progress)
        return curve, Laws.of(curve, ABOVE)

    def _symbols(self, kind: Kind) -> int:
        return self.written if kind == "characters" else round(self.written / CHARACTERS_OF_A_WORD)


def ratio(written: Curve, text: Curve, distances: tuple[int, int]) -> float:
    """How many times the information of the text a network has, in the geometric mean over some distances.

    Only those where that of the text is significant.
    """
    first, last = distances
    use = (text.lags >= first) & (text.lags <= last) & text.significant & (text.corrected > 0)
    return share(written, text.corrected, use)


def captured(claim: str, measured: float, most: float = 1.5) -> Claim:
    """Whether the information at some distances is that of the text, within a factor."""
    said = (
        f"{claim}, within {most:g} times. (Measured: its share of that of the text, in the geometric mean.)"
    )
    return settled(Claim(said, None, None, measured, None, 1 / most <= measured <= most))


_LSTM_CHARACTERS = Plan(
    widths=(8, 32, 128),
    depths=(1, 2),
    deep=32,
    task={"steps": 100},
    training={"updates": 1_500, "batch": 64, "validate_every": 500},
    model={"embedding": 64},
    options={},
)
_LSTM_WORDS = Plan(
    widths=(16, 64),
    depths=(1,),
    deep=64,
    task={"steps": 35, "most": 10_000},
    training={"updates": 2_000, "batch": 20, "validate_every": 500},
    model={"tied": True, "dropout": 0.0},
    options={},
)
_TRANSFORMER_CHARACTERS = Plan(
    widths=(32, 128),
    depths=(1, 2),
    deep=32,
    task={"steps": 256},
    training={"updates": 800, "batch": 16, "validate_every": 400, "learning_rate": 1e-3},
    model={},
    options={"heads": 8},
)
_TRANSFORMER_WORDS = Plan(
    widths=(32, 64),
    depths=(1,),
    deep=64,
    task={"steps": 64, "most": 10_000},
    training={"updates": 2_000, "batch": 12, "validate_every": 500, "learning_rate": 1e-3},
    model={"tied": True, "dropout": 0.0},
    options={"heads": 8, "attention_dropout": 0.1},
)
_PAPER_LSTM: dict[Kind, Plan] = {
    "characters": Plan(
        widths=(8, 16, 32, 64, 128, 256, 512, 1_024, 2_048),
        depths=(1, 2, 3, 4, 5),
        deep=128,
        task={"steps": 100},
        training={
            **{
                "updates": 200_000,
                "batch": 128,
                "optimizer": "rmsprop",
                "smoothing": 0.9,
                "learning_rate": 0.005,
            },
            **{"schedule": "constant", "clip_norm": 0.25, "validate_every": 842, "patience": 5},
        },
        model={"embedding": 200},
        options={},
        seeds=5,
    ),
    "words": Plan(
        widths=(16, 32, 64, 128, 256, 512, 1_024, 2_048),
        depths=(1, 2, 3, 4, 5),
        deep=512,
        task={"steps": 50, "restart": 0.0},
        training={
            **{
                "updates": 60 * 2_088,
                "batch": 20,
                "optimizer": "sgd",
                "learning_rate": 20.0,
                "schedule": "anneal",
            },
            **{"clip_norm": 0.25, "validate_every": 2_088},
        },
        model={"tied": True, "dropout": 0.4},
        options={"dropout": 0.4},
        seeds=3,
    ),
}
_PAPER_TRANSFORMER: dict[Kind, Plan] = {
    "characters": Plan(
        widths=(8, 16, 32, 64, 128, 256, 512),
        depths=(1, 2, 3, 4, 5),
        deep=128,
        task={"steps": 512},
        training={
            **{
                "updates": 200 * 328,
                "batch": 64,
                "optimizer": "adam",
                "learning_rate": 2e-4,
                "schedule": "cosine",
            },
            **{"clip_norm": None, "clip_value": 5.0, "validate_every": 328, "patience": 5},
        },
        model={},
        options={"heads": 8},
        seeds=3,
    ),
    "words": Plan(
        widths=(16, 32, 64, 128, 256, 512),
        depths=(1, 2, 3, 4, 5),
        deep=512,
        task={"steps": 128},
        training={
            **{
                "updates": 200 * 815,
                "batch": 20,
                "optimizer": "adam",
                "learning_rate": 2.5e-4,
                "schedule": "cosine",
            },
            **{"clip_norm": None, "clip_value": 5.0, "validate_every": 815, "patience": 10},
        },
        model={"tied": True, "dropout": 0.0},
        options={"heads": 8, "attention_dropout": 0.1},
        seeds=3,
    ),
}


def _tiny(cell: str, kind: Kind) -> Plan:
    return Plan(
        widths=(8,),
        depths=(1, 2),
        deep=8,
        task={"steps": 16, **({"most": 200} if kind == "words" else {})},
        training={
            "updates": 20,
            "batch": 16,
            "validate_every": 20,
            "validation_batches": 2,
            "learning_rate": 0.01,
        },
        model={},
        options={"heads": 4} if cell == "transformer" else {},
    )


SIZES = {
    "smoke": TextSize(
        data="python",
        plans={(cell, kind): _tiny(cell, kind) for cell in ("lstm", "transformer") for kind in KINDS},
        written=20_000,
        streams=50,
        workers=1,
    ),
    "laptop": TextSize(
        data="wikitext-2",
        plans={
            ("lstm", "characters"): _LSTM_CHARACTERS,
            ("lstm", "words"): _LSTM_WORDS,
            ("transformer", "characters"): _TRANSFORMER_CHARACTERS,
            ("transformer", "words"): _TRANSFORMER_WORDS,
        },
        written=2_000_000,
    ),
    "paper": TextSize(
        data="wikitext-2",
        plans={
            **{("lstm", kind): plan for kind, plan in _PAPER_LSTM.items()},
            **{("transformer", kind): plan for kind, plan in _PAPER_TRANSFORMER.items()},
        },
        written=2_000_000,
    ),
}

"""The networks of Cao and Xu 2020, section 5: language models without and with a second goal, each also fine-tuned.

Table 1, Table 2 and Fig. 2 are about the same networks; one folder of runs serves all three, and Fig. 3.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, final

from memspan.progress import Progress
from memspan.reproductions.cao2020.published import GOALS
from memspan.results import TrainingRun

if TYPE_CHECKING:
    from memspan.training import Config


class Key(NamedTuple):
    """One training."""

    data: str
    goal: str
    """A word of `bmi.name`"""
    seed: int
    tuned: bool = False
    """Whether it goes on from the one without, by averaged SGD"""

    @property
    def folder(self) -> str:
        """Below the folder of all runs."""
        return f"{self.data}/{self.goal}-seed-{self.seed}{'-tuned' if self.tuned else ''}"

    @property
    def label(self) -> str:
        """As the source has it."""
        return f"{GOALS[self.goal]}{' (ft.)' if self.tuned else ''}"


@final
@dataclass(frozen=True, kw_only=True)
class Corpus:
    """One text, and what is set for it alone."""

    task: dict[str, Any]
    seeds: int
    settings: dict[str, Any] = field(default_factory=dict)
    tuning: dict[str, Any] = field(default_factory=dict)
    """In place of those of the size"""


@final
@dataclass(frozen=True, kw_only=True)
class Size:
    """What is trained, written and judged at one scale."""

    corpora: dict[str, Corpus]
    settings: dict[str, Any]
    """Of every training"""
    tuning: dict[str, Any]
    """Of fine-tuning, in place of those"""
    written: int
    """Symbols that each network writes"""
    plain: dict[str, Any]
    """Settings of the fresh model of the reverse perplexity"""
    critic: dict[str, Any]
    """Settings of the critic of segments"""
    segments: dict[str, int]
    """`length`, `gap` and `folds` of these"""
    workers: int | None = None
    """Trainings at once; None: one for each core"""

    def keys(self, seed: int, *, tuned: bool = False) -> list[Key]:
        """Every network, of one stage."""
        return [
            Key(data, goal, number, tuned)
            for data, corpus in self.corpora.items()
            for number, goal in itertools.product(range(seed, seed + corpus.seeds), GOALS)
        ]

    def config(self, key: Key, runs: Path) -> Config:
        """The training of one network."""
        from memspan.reproductions.trainings import training_config
        from memspan.training.config_json import merged

        corpus = self.corpora[key.data]
        second = {"task": corpus.task, "bmi": {"name": key.goal}}
        settings = merged(merged(self.settings, corpus.settings), second)
        if not key.tuned:
            return training_config("words", "lstm", key.seed, settings)
        first = {"init": {"name": "run", "run": str(runs / key._replace(tuned=False).folder)}}
        tuning = merged(self.tuning, corpus.tuning)
        config = training_config("words", "lstm", key.seed, merged(merged(settings, tuning), first))
        switched = dataclasses.replace(config.bmi, switch_at=1)  # as it had before
        return dataclasses.replace(config, bmi=switched) if key.goal == "full" else config

    def train(self, keys: Iterable[Key], runs: Path, progress: Progress) -> dict[Key, TrainingRun]:
        """All of one stage, side by side."""
        from memspan.reproductions.trainings import train_all

        wanted = list(keys)
        configs = {key.folder: self.config(key, runs) for key in wanted}
        trained = train_all(configs, runs, progress, workers=self.workers)
        return {key: trained[key.folder] for key in wanted}


_SMOKE_TASK = {"data": "python", "steps": 8, "most": 50}
_LAPTOP = {
    "cell": {"hidden": 100},
    "model": {"embedding": 100, "tied": True, "dropout": 0.2},
    "bmi": {"switch_at": 1_000, "learning_rate": 1e-3},
    "training": {"updates": 2_000, "validate_every": 200, "learning_rate": 4e-3},
}
_PAPER = {
    "cell": {"hidden": 960, "layers": 3},
    "model": {"name": "awd-lstm", "embedding": 280, "last": 620, "tied": True, "dropout": 0.0},
    "bmi": {"second_weight": 1 / 12},
    "training": {
        "optimizer": "nt-asgd",
        "learning_rate": 20.0,
        "schedule": "constant",
        "clip_norm": 0.25,
        "batch": 12,
        "weight_decay": 1.2e-6,
        "nonmonotone": 10,
        "updates": 1_000 * 1_106,
        "validate_every": 1_106,
    },
}
"""The published program's, with windows of equal length; 1,106 updates of 12 times 70 words are a pass through the text."""
_WIDER = {
    "cell": {"hidden": 1_150},
    "model": {"embedding": 300, "last": 650},
    "bmi": {"weight": 0.02, "second_weight": 0.05 / 10, "pairs": 10},
    "training": {"batch": 15, "learning_rate": 15.0, "updates": 1_000 * 1_989, "validate_every": 1_989},
}

_SLOWER = {"training": {"learning_rate": 20.0}}

SIZES = {
    "smoke": Size(
        corpora={"python": Corpus(task=_SMOKE_TASK, seeds=1)},
        settings={
            "cell": {"hidden": 6},
            "model": {"embedding": 6, "tied": True, "dropout": 0.0},
            "bmi": {"switch_at": 4, "hidden": 8, "pairs": 4, "length": 6},
            "training": {
                "updates": 8,
                "batch": 4,
                "validate_every": 2,
                "validation_batches": 2,
                "validation_size": 100,
            },
        },
        tuning={
            "training": {"updates": 4, "optimizer": "asgd", "learning_rate": 0.5, "schedule": "constant"}
        },
        written=2_000,
        plain={"hidden": 4, "batch": 4, "steps": 8, "passes": 1},
        critic={"width": 4, "hidden": 4, "updates": 10, "look": 5, "pairs": 20, "batch": 16},
        segments={"length": 6, "gap": 2, "folds": 3},
        workers=1,
    ),
    "laptop": Size(
        corpora={data: Corpus(task={"data": data, "most": 3_000}, seeds=3) for data in ("ptb", "wikitext-2")},
        settings=_LAPTOP,
        tuning={
            "training": {
                "updates": 500,
                "validate_every": 250,
                "optimizer": "asgd",
                "learning_rate": 5.0,
                "schedule": "constant",
                "clip_norm": 0.25,
            }
        },
        written=200_000,
        plain={"hidden": 100, "passes": 4},
        critic={"updates": 800, "patience": 3, "pairs": 1_000},
        segments={"length": 40, "gap": 10, "folds": 10},
    ),
    "paper": Size(
        corpora={
            "ptb": Corpus(task={"data": "ptb", "steps": 70}, seeds=3),
            "wikitext-2": Corpus(
                task={"data": "wikitext-2", "steps": 70}, seeds=3, settings=_WIDER, tuning=_SLOWER
            ),
        },
        settings=_PAPER,
        tuning={"training": {"optimizer": "asgd", "learning_rate": 25.0, "patience": 5}},
        written=6_000_000,
        plain={"hidden": 650, "dropout": 0.5, "learning_rate": 1e-3},
        critic={},
        segments={"length": 40, "gap": 10, "folds": 10},
    ),
}

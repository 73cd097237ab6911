"""Shen 2019, section 4.2.1 and 5.1: networks that learn binary sequences without a scale, and what they write."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from memspan.information import mutual_information
from memspan.progress import Progress
from memspan.reproductions.shen2019.decay import Laws
from memspan.reproductions.shen2019.generated import Generated, Network, Writing, generate_all
from memspan.reproductions.shen2019.generated_charts import curve_lines, curves_chart
from memspan.results import Chart, Curve
from memspan.sequences.sources import PowerLawBinary

if TYPE_CHECKING:
    from memspan.training import Config

NAMES = {"rnn": "RNN", "lstm": "LSTM", "transformer": "Transformer"}
SOURCE = PowerLawBinary(0.1, 0.4)
"""I(tau) = 0.1 tau^-0.4 nats."""
ABOVE = 1e-3
"""Only values above count for the correlation length.  Shen 2019, Fig. 1."""
LENGTH = 512
"""Symbols of a sequence in the paper."""
LARGEST = 500
"""Largest lag, with these."""
DATA_LENGTH = 420.0
"""The correlation length that the paper fits to its training set."""
RATES = {"rnn": 0.001, "lstm": 0.005, "transformer": 0.0002}
"""Learning rates of appendix E."""
_OPTIONS: dict[str, dict[str, Any]] = {
    "rnn": {},
    "lstm": {"one_bias": True},
    "transformer": {"heads": 4},
}
_PAPER: dict[str, dict[str, Any]] = {
    "rnn": {"optimizer": "rmsprop", "smoothing": 0.9, "clip_norm": 0.25},
    "lstm": {"optimizer": "rmsprop", "smoothing": 0.9, "clip_norm": 0.25},
    "transformer": {"optimizer": "adam", "clip_norm": None, "clip_value": 5.0, "schedule": "cosine"},
}


@final
@dataclass(frozen=True, kw_only=True)
class BinarySize:
    """How much is learnt and written at one scale."""

    sequences: int
    length: int
    updates: dict[str, int]
    """By cell"""
    rates: dict[str, float]
    patience: int | None
    validation_batches: int = 20
    """Of 100 sequences: all 2,000 of the paper"""
    schedule: str | None
    """None: the paper's own, constant for RNNs and a cosine for Transformers"""
    seeds: int
    written: int
    """Sequences that a network writes"""
    workers: int | None = None
    """Trainings at once; None: one for each core"""

    @property
    def passes(self) -> int:
        """Updates of a pass through the training set."""
        return max(1, self.sequences // 50)

    def config(self, network: Network, seed: int) -> Config:
        """As in appendix E: an embedding of two numbers (a Transformer's is its width), batches of 50."""
        from memspan.reproductions.trainings import configured

        updates = self.updates[network.cell]
        settings = {
            "task": {"length": self.length, "sequences": self.sequences},
            "cell": {"hidden": network.width, "layers": network.depth, **_OPTIONS[network.cell]},
            "init": {"name": "orthogonal" if network.cell == "rnn" else "default"},
            "model": {"embedding": network.width if network.cell == "transformer" else 2},
            "training": {
                **_PAPER[network.cell],
                "batch": 50,
                "updates": updates,
                "learning_rate": self.rates[network.cell],
                "validate_every": min(self.passes, updates),
                "validation_batches": self.validation_batches,
                "patience": self.patience,
                **({} if self.schedule is None else {"schedule": self.schedule}),
            },
        }
        return configured("binary", network.cell, seed, settings)

    def writing(self) -> Writing:
        return Writing(streams=self.written, length=self.length, lags=self.lags(), above=ABOVE)

    def lags(self) -> NDArray[np.int64]:
        """Every one up to nearly a sequence."""
        return np.arange(1, self.length * LARGEST // LENGTH + 1)

    def data(self, seed: int) -> tuple[Curve, Laws]:
        """New sequences of the kind that is learnt, as many as a network writes."""
        curve = mutual_information(
            SOURCE.sample(self.written, self.length, seed=seed), self.lags(), seed=seed
        )
        return curve, Laws.of(curve, ABOVE)

    def generate(
        self, networks: Iterable[Network], seed: int, runs: Path, progress: Progress
    ) -> dict[Network, Generated]:
        """Every network, best of its seeds."""
        seeds = range(seed, seed + self.seeds)
        return generate_all(
            networks, seeds, self.config, self.writing(), runs, progress, workers=self.workers
        )


SIZES = {
    "smoke": BinarySize(
        sequences=500,
        length=32,
        updates=dict.fromkeys(NAMES, 60),
        rates=dict.fromkeys(NAMES, 0.03),
        patience=None,
        schedule=None,
        validation_batches=2,
        seeds=1,
        written=500,
        workers=1,
    ),
    "laptop": BinarySize(
        sequences=10_000,
        length=LENGTH,
        updates={"rnn": 1_600, "lstm": 1_600, "transformer": 800},
        rates={"rnn": 0.003, "lstm": 0.01, "transformer": 0.003},
        patience=None,
        schedule="cosine",
        seeds=2,
        written=2_000,
    ),
    "paper": BinarySize(
        sequences=10_000,
        length=LENGTH,
        updates={"rnn": 100_000, "lstm": 100_000, "transformer": 40_000},
        rates=RATES,
        patience=5,
        schedule=None,
        seeds=5,
        written=2_000,
    ),
}
"""At laptop scale trainings are shorter, so rates are larger than the paper's and fall along a cosine."""


def drawn_curves(name: str, title: str, shown: Iterable[Generated], data: Curve) -> Chart:
    """What networks wrote, beside the data."""
    return curves_chart(
        name,
        title,
        curve_lines(shown, data, "the data: 0.1 tau^-0.4"),
        "Each line is one network, by its width (x depth): the information between symbols of what it wrote, with the "
        "floor taken off, where it is significant. A straight line, such as that of the data, is a power law; a line that "
        "bends down forgets exponentially.",
    )


def notes_of(found: dict[Network, Generated], data: Laws) -> tuple[str, ...]:
    """What each network came to."""
    return (
        f"the data: {data}.",
        *(f"{each}." for each in found.values()),
        "LSTMs begin as in PyTorch; the paper's, in Keras, with orthogonal recurrent weights and a forget bias of 1.",
    )

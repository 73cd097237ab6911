"""The networks that Shen 2019 trains, at every scale: architectures, training settings and how much each generates.

Data only, so that recipes can be listed without loading what trains them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, final

CELL_NAMES = {"rnn": "RNN", "lstm": "LSTM", "transformer": "Transformer"}
Kind = Literal["characters", "words"]
KINDS: tuple[Kind, ...] = ("characters", "words")


@final
@dataclass(frozen=True, order=True)
class Architecture:
    """A cell, its width and its number of layers."""

    cell: str
    width: int
    depth: int = 1

    @property
    def label(self) -> str:
        """The width, and the depth if there is more than one layer, as in the legends of the paper."""
        return f"{self.width}" if self.depth == 1 else f"{self.width}x{self.depth}"


@final
@dataclass(frozen=True)
class ArchitectureGrid:
    """For every cell, one layer of every width, and every depth at the width `deep`."""

    cells: tuple[str, ...]
    widths: tuple[int, ...]
    depths: tuple[int, ...]
    deep: int

    def of(self, cell: str) -> list[Architecture]:
        """The architectures of one cell."""
        deeper = [Architecture(cell, self.deep, depth) for depth in self.depths if depth > 1]
        return [*(Architecture(cell, width) for width in self.widths), *deeper]

    @property
    def architectures(self) -> tuple[Architecture, ...]:
        """All of them."""
        return tuple(architecture for cell in self.cells for architecture in self.of(cell))


# --- Binary sequences


@final
@dataclass(frozen=True, kw_only=True)
class BinaryTraining:
    """How networks are trained on binary sequences, and how much they generate."""

    sequences: int
    length: int
    """Symbols of each sequence."""
    updates: Mapping[str, int]
    """At most, by cell."""
    learning_rates: Mapping[str, float]
    patience: int | None = None
    validation_batches: int = 20
    """Of 100 sequences: all 2,000 of the paper."""
    schedule: str | None = None
    """None: that of the paper, constant for RNNs and a cosine for Transformers."""
    seeds: int
    generated: int = 2_000
    """Sequences that a network generates."""
    workers: int | None = None
    """Trainings that run in parallel; None: one per core."""


# Symbols of a sequence in the paper.
SEQUENCE_LENGTH = 512
# Trainings at laptop scale are shorter than the paper's, so learning rates are higher and follow a cosine.
BINARY = {
    "smoke": BinaryTraining(
        sequences=500,
        length=32,
        updates=dict.fromkeys(CELL_NAMES, 60),
        learning_rates=dict.fromkeys(CELL_NAMES, 0.03),
        validation_batches=2,
        seeds=1,
        generated=500,
        workers=1,
    ),
    "laptop": BinaryTraining(
        sequences=10_000,
        length=SEQUENCE_LENGTH,
        updates={"rnn": 1_600, "lstm": 1_600, "transformer": 800},
        learning_rates={"rnn": 0.003, "lstm": 0.01, "transformer": 0.003},
        schedule="cosine",
        seeds=2,
    ),
    "paper": BinaryTraining(  # appendix E
        sequences=10_000,
        length=SEQUENCE_LENGTH,
        updates={"rnn": 100_000, "lstm": 100_000, "transformer": 40_000},
        learning_rates={"rnn": 0.001, "lstm": 0.005, "transformer": 0.0002},
        patience=5,
        seeds=5,
    ),
}

# --- Text


@final
@dataclass(frozen=True, kw_only=True)
class TextPlan:
    """Which networks of one cell are trained on one kind of symbols, and how."""

    grid: ArchitectureGrid
    task: Mapping[str, Any]
    training: Mapping[str, Any]
    model: Mapping[str, Any]
    options: Mapping[str, Any]
    """Of the cell."""
    init: str = "default"
    """The `init.name`."""
    seeds: int = 1
    generated: int = 2_000_000
    """Characters, approximately; as many of the text are measured."""
    streams: int = 256
    """Generated texts that these are divided into."""


@final
@dataclass(frozen=True, kw_only=True)
class TextSize:
    """What the networks of one cell are trained on at one scale."""

    data: str
    plans: Mapping[Kind, TextPlan]
    differences: str
    """How the trainings differ from those of the paper."""
    workers: int | None = None
    """Trainings that run in parallel; None: one per core."""

    @property
    def cell(self) -> str:
        """The cell of all networks."""
        return self.plans["words"].grid.cells[0]


def _smoke(cell: str, differences: str) -> TextSize:
    def plan(kind: Kind) -> TextPlan:
        return TextPlan(
            grid=ArchitectureGrid((cell,), (8,), (1, 2), deep=8),
            task={"steps": 16, **({"most": 200} if kind == "words" else {})},
            training={
                **{"updates": 20, "batch": 16, "learning_rate": 0.01},
                **{"validate_every": 20, "validation_batches": 2},
            },
            model={},
            options={"heads": 4} if cell == "transformer" else {},
            init="keras" if (cell, kind) == ("lstm", "characters") else "default",
            generated=20_000,
            streams=50,
        )

    text = "The text is the source code of Python's standard library, and validation uses two batches of it."
    return TextSize(
        data="python", plans={kind: plan(kind) for kind in KINDS}, differences=f"{differences} {text}", workers=1
    )


# Words of the vocabulary at laptop scale.
MOST_WORDS = 5_000
_LSTM_START = (
    "Character LSTMs are initialized as in Keras and word LSTMs as in PyTorch, as those of the paper; but embeddings are "
    "uniform within 0.1, where those of characters are orthogonal in the paper. Many texts are generated in parallel, "
    "whereas the networks of the paper generate one."
)
_LSTM_SHORT = (
    "Trainings are shorter than the paper's, from one seed, with Adam and a cosine schedule, without dropout; the character "
    f"embedding and the word vocabulary are smaller. {_LSTM_START}"
)
TEXT_LSTM = {
    "smoke": _smoke("lstm", _LSTM_SHORT),
    "laptop": TextSize(
        data="wikitext-2",
        plans={
            "characters": TextPlan(
                grid=ArchitectureGrid(("lstm",), (8, 32, 128), (1, 2), deep=128),
                task={"steps": 100},
                training={
                    **{"updates": 8_000, "batch": 32, "learning_rate": 5e-3},
                    **{"validate_every": 2_000, "validation_size": 50},
                },
                model={"embedding": 64},
                options={},
                init="keras",
            ),
            "words": TextPlan(
                grid=ArchitectureGrid(("lstm",), (16, 128), (1, 2), deep=128),
                task={"steps": 35, "most": MOST_WORDS},
                training={
                    **{"updates": 5_000, "batch": 20, "learning_rate": 1e-2},
                    **{"validate_every": 1_000, "validation_size": 20},
                },
                model={"tied": True, "dropout": 0.0},
                options={},
            ),
        },
        differences=_LSTM_SHORT,
    ),
    "paper": TextSize(
        data="wikitext-2",
        plans={
            "characters": TextPlan(
                grid=ArchitectureGrid(
                    ("lstm",), (8, 16, 32, 64, 128, 256, 512, 1_024, 2_048), (1, 2, 3, 4, 5), deep=128
                ),
                task={"steps": 100},
                training={
                    **{"updates": 200_000, "batch": 128, "optimizer": "rmsprop", "smoothing": 0.9},
                    **{"learning_rate": 0.005, "schedule": "constant", "clip_norm": 0.25},
                    **{"validate_every": 842, "patience": 5},
                },
                model={"embedding": 200},
                options={"one_bias": True},
                init="keras",
                seeds=5,
            ),
            "words": TextPlan(
                grid=ArchitectureGrid(("lstm",), (16, 32, 64, 128, 256, 512, 1_024, 2_048), (1, 2, 3, 4, 5), deep=512),
                task={"steps": 50, "restart": 0.0},
                training={
                    **{"updates": 60 * 2_088, "batch": 20, "optimizer": "sgd", "learning_rate": 20.0},
                    **{"schedule": "anneal", "clip_norm": 0.25, "validate_every": 2_088},
                },
                model={"tied": True, "dropout": 0.4},
                options={"dropout": 0.4},
                seeds=3,
            ),
        },
        differences=f"{_LSTM_START} Gates are sigmoids, which Keras approximated by straight lines; gradients are clipped "
        "by their norm, where the paper does not say how; the number of updates is limited to 200,000, where the paper has "
        "no limit. In word networks dropout also follows the last layer, as in the PyTorch example that the paper trains, "
        "which its text omits.",
    ),
}

_TRANSFORMER_PARTS = (
    "Inner layers have ReLU, where the program that the paper's is based on has GELU. Many texts are generated in parallel, "
    "whereas the networks of the paper generate one."
)
_TRANSFORMER_SHORT = (
    "Trainings are shorter than the paper's, at higher learning rates and from one seed; the context length is shorter; "
    "character Transformers generate less; the word vocabulary is smaller, and embedding and output are two matrices. "
    f"{_TRANSFORMER_PARTS}"
)
TEXT_TRANSFORMER = {
    "smoke": _smoke("transformer", _TRANSFORMER_SHORT),
    "laptop": TextSize(
        data="wikitext-2",
        plans={
            "characters": TextPlan(
                grid=ArchitectureGrid(("transformer",), (8, 24, 64), (1, 2), deep=64),
                task={"steps": 256},
                training={"updates": 3_500, "batch": 8, "validate_every": 1_750, "learning_rate": 3e-3},
                model={},
                options={"heads": 8},
                # Less than others, because every symbol attends to the whole context.
                generated=1_000_000,
                streams=64,
            ),
            "words": TextPlan(
                grid=ArchitectureGrid(("transformer",), (16, 64), (1, 3), deep=64),
                task={"steps": 64, "most": MOST_WORDS},
                training={"updates": 3_000, "batch": 12, "validate_every": 1_000, "learning_rate": 3e-3},
                # Not tied: with one matrix for embedding and output, a third of the updates pass before the loss falls.
                model={"tied": False, "dropout": 0.0},
                options={"heads": 8, "attention_dropout": 0.1},
            ),
        },
        differences=_TRANSFORMER_SHORT,
    ),
    "paper": TextSize(
        data="wikitext-2",
        plans={
            "characters": TextPlan(
                grid=ArchitectureGrid(("transformer",), (8, 16, 32, 64, 128, 256, 512), (1, 2, 3, 4, 5), deep=128),
                task={"steps": 512},
                training={
                    **{"updates": 200 * 328, "batch": 64, "optimizer": "adam", "learning_rate": 2e-4},
                    **{"schedule": "cosine", "clip_norm": None, "clip_value": 5.0},
                    **{"validate_every": 328, "patience": 5},
                },
                model={},
                options={"heads": 8},
                seeds=3,
            ),
            "words": TextPlan(
                grid=ArchitectureGrid(("transformer",), (16, 32, 64, 128, 256, 512), (1, 2, 3, 4, 5), deep=512),
                task={"steps": 128},
                training={
                    **{"updates": 200 * 815, "batch": 20, "optimizer": "adam", "learning_rate": 2.5e-4},
                    **{"schedule": "cosine", "clip_norm": None, "clip_value": 5.0},
                    **{"validate_every": 815, "patience": 10},
                },
                model={"tied": True, "dropout": 0.0},
                options={"heads": 8, "attention_dropout": 0.1},
                seeds=3,
            ),
        },
        differences=f"{_TRANSFORMER_PARTS} In word networks the embedding has no L2 regularization, of which the paper's "
        "has 0.01; all use batches of 20, where the paper has 32 for some, and 3 seeds, which the paper does not state.",
    ),
}

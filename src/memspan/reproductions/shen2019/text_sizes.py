"""Which networks learn WikiText-2, how, and how much they write, at every scale."""

from __future__ import annotations

from memspan.reproductions.shen2019.text import KINDS, Kind, Plan, TextSize

MOST = 5_000
"""Words of the vocabulary at laptop scale."""
_LSTM_CHARACTERS = Plan(
    widths=(8, 32, 128),
    depths=(1, 2),
    deep=128,
    task={"steps": 100},
    training={
        **{"updates": 8_000, "batch": 32, "learning_rate": 5e-3},
        **{"validate_every": 2_000, "validation_size": 50},
    },
    model={"embedding": 64},
    options={},
)
_LSTM_WORDS = Plan(
    widths=(16, 128),
    depths=(1, 2),
    deep=128,
    task={"steps": 35, "most": MOST},
    training={
        **{"updates": 5_000, "batch": 20, "learning_rate": 1e-2},
        **{"validate_every": 1_000, "validation_size": 20},
    },
    model={"tied": True, "dropout": 0.0},
    options={},
)
_TRANSFORMER_CHARACTERS = Plan(
    widths=(8, 24, 64),
    depths=(1, 2),
    deep=64,
    task={"steps": 256},
    training={"updates": 3_500, "batch": 8, "validate_every": 1_750, "learning_rate": 3e-3},
    model={},
    options={"heads": 8},
    written=1_000_000,
    streams=64,
)
"""They write less, since each symbol costs a look at all before it."""
_TRANSFORMER_WORDS = Plan(
    widths=(16, 64),
    depths=(1, 3),
    deep=64,
    task={"steps": 64, "most": MOST},
    training={"updates": 3_000, "batch": 12, "validate_every": 1_000, "learning_rate": 3e-3},
    model={"tied": False, "dropout": 0.0},
    options={"heads": 8, "attention_dropout": 0.1},
)
"""Not tied: with one matrix that reads and writes, it takes them a third of these updates to begin to learn."""
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
        options={"one_bias": True},
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
        written=20_000,
        streams=50,
    )


SIZES = {
    "smoke": TextSize(
        data="python",
        plans={(cell, kind): _tiny(cell, kind) for cell in ("lstm", "transformer") for kind in KINDS},
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
    ),
    "paper": TextSize(
        data="wikitext-2",
        plans={
            **{("lstm", kind): plan for kind, plan in _PAPER_LSTM.items()},
            **{("transformer", kind): plan for kind, plan in _PAPER_TRANSFORMER.items()},
        },
    ),
}

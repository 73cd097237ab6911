"""Default settings for every task and cell, where they differ from the defaults of the configuration.

They are the sources' settings if those train here, and others if they do not; docs/train.md shows what each achieved.
"""

from __future__ import annotations

from typing import Any

from memspan.cells import CELLS
from memspan.errors import InputError, suggestion
from memspan.training.run.config import merge
from memspan.training.supervised.config import task_class

Settings = dict[str, Any]

_RECALL: Settings = {
    "cell": {"hidden": 128},
    "training": {
        "batch": 10,
        "updates": 14_000,
        "learning_rate": 1e-3,
        "schedule": "cosine",
        "optimizer": "rmsprop",
        "clip_norm": 1.0,
        "validate_every": 250,
        "validation_batches": 2,
        "stop_accuracy": 0.9995,
    },
}
"""Copy and denoise.  Kerg 2020, Tables 6 and 7, and the published program, with the learning rate of errata 13.

At a constant learning rate a network that recalls 99 % may lose all of it within a few updates; a falling rate prevents
this. Validations are small, so that they cost a few percent of the training (`memspan bench train`), and frequent: during
training a network may be good at one update and bad 250 updates later.
"""

_DIGITS: Settings = {
    "cell": {"hidden": 100},
    "training": {
        "batch": 100,
        "updates": 10_000,
        "learning_rate": 1e-3,
        "optimizer": "adam",
        "clip_norm": 1.0,
        "validate_every": 200,
        "patience": 20,
        "validation_batches": 100,
    },
}
"""Digits pixel by pixel.  Kerg 2020, Table 8, with a larger learning rate and fewer updates."""

_TASKS: dict[str, Settings] = {
    "copy": _RECALL,
    "denoise": _RECALL,
    "adding": {
        "cell": {"hidden": 128},
        "training": {
            "batch": 50,
            "updates": 10_000,
            "learning_rate": 1e-3,
            "optimizer": "adam",
            "clip_norm": 1.0,
            "stop_accuracy": 0.99,
        },
    },
    "noisy-digits": {
        "cell": {"hidden": 300},
        "training": {
            "batch": 100,
            "updates": 5_000,
            "learning_rate": 1e-3,
            "optimizer": "adam",
            "clip_norm": 1.0,
            "validate_every": 100,
        },
    },
    "digits": _DIGITS,
    "permuted-digits": _DIGITS,
    "binary": {
        "cell": {"hidden": 32},
        "training": {
            "batch": 32,
            "updates": 10_000,
            "learning_rate": 1e-3,
            "optimizer": "rmsprop",
            "smoothing": 0.9,
            "clip_norm": 0.25,
            "validate_every": 250,
            "patience": 10,
        },
    },
    "characters": {
        "cell": {"hidden": 256},
        "model": {"embedding": 64},
        "training": {
            "batch": 64,
            "updates": 12_000,
            "learning_rate": 2e-3,
            "schedule": "cosine",
            "optimizer": "adam",
            "clip_norm": 1.0,
            "validate_every": 500,
            "validation_batches": 200,
            "validation_size": 20,
        },
    },
    "words": {
        "cell": {"hidden": 200},
        "model": {"embedding": 200, "dropout": 0.2},
        "training": {
            "batch": 20,
            "updates": 20_000,
            "learning_rate": 2e-3,
            "schedule": "cosine",
            "optimizer": "adam",
            "clip_norm": 1.0,
            "validate_every": 1_000,
            "validation_batches": 500,
            "validation_size": 10,
        },
    },
}

_CELLS: dict[str, Settings] = {"orthogonal-rnn": {"init": {"name": "henaff"}}}
"""Settings of a cell for all tasks."""

_REL_LSTM: Settings = {"init": {"name": "henaff"}, "training": {"updates": 24_000}}
"""Initialized as an orthogonal RNN it learns to recall in a third of the updates, with every seed that was tried."""

_ORTHOGONAL: Settings = {"init": {"name": "henaff"}}
"""Orthogonal recurrent weights: PyTorch's shrink a state by two fifths per step, so that an RNN forgets at once."""

_LSTM: Settings = {
    "init": {"name": "chrono"},
    "training": {"batch": 20, "updates": 36_000, "optimizer": "adam", "learning_rate": 2e-3},
}
"""PyTorch's initialization forgets half of the state per step; with it the LSTM was still at chance after 5,000 updates."""

_NO_CARRY: Settings = {"task": {"carry": False}}
"""A state that stores the whole past would grow without bound if it were carried through a text."""

_PAIRS: dict[tuple[str, str], Settings] = {
    **{
        (text, cell): _NO_CARRY
        for text in ("characters", "words")
        for cell in ("mem-rnn", "mem-lstm", "sab-lstm", "transformer")
    },
    **{
        (task, "goru"): {"cell": {"hidden": size}}
        for task, size in (("noisy-digits", 256), ("digits", 128), ("permuted-digits", 128), ("words", 256))
    },
    ("copy", "rnn"): _ORTHOGONAL,
    ("denoise", "rnn"): _ORTHOGONAL,
    ("characters", "rnn"): {**_ORTHOGONAL, "training": {"learning_rate": 1e-3}},
    ("copy", "lstm"): _LSTM,
    ("denoise", "lstm"): _LSTM,
    ("copy", "detach-lstm"): _LSTM,
    ("denoise", "detach-lstm"): _LSTM,
    ("copy", "rel-lstm"): _REL_LSTM,
    ("denoise", "rel-lstm"): _REL_LSTM,
    ("denoise", "sab-lstm"): {"init": {"name": "chrono"}, "training": {"optimizer": "adam", "learning_rate": 2e-3}},
    ("denoise", "rel-rnn"): {"training": {"updates": 20_000}},
    ("copy", "mem-rnn"): {"cell": {"combine": "mean"}},
    ("denoise", "mem-rnn"): {"cell": {"combine": "mean"}},
}
"""Settings of a cell for one task. goru needs a hidden size that is a power of two."""


def defaults(task: str, cell: str) -> Settings:
    """The default settings of a task and a cell as a configuration object; whatever it omits has the general default."""
    task_class(task)
    if cell not in CELLS:
        raise InputError(f"there is no cell {cell!r}; {suggestion(cell, CELLS)}")
    settings: Settings = {"task": {"name": task}, "cell": {"name": cell}}
    for more in (_TASKS.get(task, {}), _CELLS.get(cell, {}), _PAIRS.get((task, cell), {})):
        settings = merge(settings, more)
    return settings

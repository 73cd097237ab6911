"""Default settings for every task and cell, where they differ from the defaults of the configuration.

Those of a task are its `training_defaults`, those of a cell its `initialization` and `training_defaults`; those of pairs
are here. They are the sources' settings if those train here, and others if they do not; docs/train.md shows what each
achieved.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memspan.cells import CELLS
from memspan.training.run.config import merge
from memspan.training.supervised.config import task_class

Settings = dict[str, Any]

# Initialized as an orthogonal RNN it learns to recall in a third of the updates, with every seed that was tried.
_REL_LSTM: Settings = {"init": {"name": "henaff"}, "training": {"updates": 24_000}}

# Orthogonal recurrent weights: PyTorch's shrink a state by two fifths per step, so that an RNN forgets at once.
_ORTHOGONAL: Settings = {"init": {"name": "henaff"}}

# Full attention starts as RelRNN does, and as in the authors' program.
_MEM_RNN: Settings = {"init": {"name": "henaff"}, "cell": {"combine": "mean"}}

# PyTorch's initialization forgets half of the state per step; with it the LSTM was still at chance after 5,000 updates.
_LSTM: Settings = {
    "init": {"name": "chrono"},
    "training": {"batch": 20, "updates": 36_000, "optimizer": "adam", "learning_rate": 2e-3},
}

# A state that stores the whole past would grow without bound if it were carried through a text.
_NO_CARRY: Settings = {"task": {"carry": False}}

# Settings of a cell for one task. goru needs a hidden size that is a power of two.
_PAIRS: dict[tuple[str, str], Settings] = {
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
    ("copy", "mem-rnn"): _MEM_RNN,
    ("denoise", "mem-rnn"): _MEM_RNN,
}


def defaults(task: str, cell: str) -> Settings:
    """The default settings of a task and a cell as a configuration object; whatever it omits has the general default."""
    task_type, cell_type = task_class(task), CELLS.find(cell)
    settings: Settings = {"task": {"name": task}, "cell": {"name": cell}}
    initialization = cell_type.initialization
    layers: tuple[Mapping[str, Any], ...] = (
        task_type.training_defaults,
        {} if initialization == "default" else {"init": {"name": initialization}},
        cell_type.training_defaults,
        _NO_CARRY if task_type.facts.is_text and cell_type.stores_past else {},
        _PAIRS.get((task, cell), {}),
    )
    for layer in layers:
        settings = merge(settings, dict(layer))
    return settings

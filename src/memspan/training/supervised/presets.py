"""The hyperparameters that the sources chose, by task and cell: `memspan train TASK --cell NAME --preset kerg2020`.

A preset goes over the default settings of the task and the cell, and options go over the preset. Each holds what its
source prints, and the settings of the published programs where the text is silent; `notes` says where memspan differs. Chen,
Pennington and Schoenholz 2018 print ranges that they searched, and no choices, so there is no preset of theirs.

>>> preset_settings("kerg2020", "denoise", "goru")["training"]["learning_rate"]
0.001
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, final

from memspan.errors import InputError, suggestion
from memspan.training.run.config import merge

Settings = dict[str, Any]


@final
@dataclass(frozen=True)
class PresetRow:
    """The settings of some cells for one task."""

    task: str
    cells: tuple[str, ...]
    settings: Settings
    data: str | None = None
    """The text of the source, if it is a text."""


@final
@dataclass(frozen=True)
class Preset:
    """The settings of one source."""

    source: str
    tasks: Mapping[str, Settings]
    """What all cells have in common, by task."""
    rows: tuple[PresetRow, ...]
    notes: str = ""
    """Where memspan cannot do what the source did."""

    def settings(self, task: str, cell: str, data: str | None = None) -> Settings | None:
        """The settings of one training; None if the source has none.

        Settings that the source has for one text only serve for every text, those for several texts only for these.
        """
        rows = [row for row in self.rows if row.task == task and cell in row.cells]
        if len(rows) > 1 and data is not None:
            rows = [row for row in rows if row.data == data]
        if not rows:
            return None
        named = {} if rows[0].data is None else {"task": {"data": data or rows[0].data}}
        return merge(merge(self.tasks.get(task, {}), rows[0].settings), named)

    def __str__(self) -> str:
        """The trainings that it has settings for."""
        cells: dict[str, list[str]] = {}
        for row in self.rows:
            found = cells.setdefault(row.task, [])
            found += (cell for cell in row.cells if cell not in found)
        return "; ".join(f"{task}: {', '.join(found)}" for task, found in cells.items())


def preset_settings(name: str, task: str, cell: str, data: str | None = None) -> Settings:
    """The settings of a preset for one training. Raises InputError if the source does not have this training."""
    if name not in PRESETS:
        raise InputError(f"there is no preset {name!r}; {suggestion(name, PRESETS)}")
    settings = PRESETS[name].settings(task, cell, data)
    if settings is None:
        on = "" if data is None else f" on {data}"
        raise InputError(f"the preset {name} has no settings for {task}{on} with {cell}; it has {PRESETS[name]}")
    return settings


def _rows(task: str, /, **cells: Settings) -> Iterable[PresetRow]:
    return (PresetRow(task, (cell.replace("_", "-"),), settings) for cell, settings in cells.items())


def _training(learning_rate: float, optimizer: str, **settings: Any) -> Settings:
    return {"training": {"learning_rate": learning_rate, "optimizer": optimizer, **settings}}


# --- Kerg 2020, appendix C, Tables 6 to 9, and the published program (batch, clipping, updates, initialization)

_ORTHOGONAL = {"init": {"name": "henaff"}}
_MODRELU = {"cell": {"nonlinearity": "modrelu", "short_term": 10, "relevant": 10}}
_TANH = {"cell": {"nonlinearity": "tanh", "short_term": 10, "relevant": 10}}
_SAB = {"cell": {"output_context": True}, "init": {"name": "default"}, **_training(1e-3, "adam", batch=64)}
_DETACH = {"init": {"name": "default"}, **_training(1e-3, "adam", batch=100, updates=600_000, full_gradient=1 / 15)}
_RECALL = {"cell": {"hidden": 128}, "training": {"batch": 10, "clip_norm": 1.0, "smoothing": 0.99, "updates": 200_000}}
_LSTM = {"init": {"name": "default"}, **_training(2e-4, "adam")}
_PIXELS = {
    "task": {"data": "mnist", "steps": 784},
    "cell": {"hidden": 100},
    # 200 epochs of 50,000 images.
    "training": {"batch": 100, "updates": 100_000, "validate_every": 500, "clip_norm": None},
}
_DIGITS = {
    "orthogonal_rnn": {**_ORTHOGONAL, **_training(1e-4, "adam")},
    "exp_rnn": _training(1e-4, "adam"),
    "lstm": {"init": {"name": "default"}, **_training(2e-4, "rmsprop", clip_norm=1.0)},
    "rel_rnn": merge(_MODRELU, {**_ORTHOGONAL, **_training(3e-4, "adam")}),
}
# One epoch of the Penn Treebank in batches of 128 times 150 characters.
PTB_EPOCH = 265
_CHARACTERS = {
    "task": {"data": "ptb", "steps": 150},
    "cell": {"hidden": 1_024},
    "model": {"embedding": 200},
    "training": {
        "batch": 128,
        "updates": 100 * PTB_EPOCH,
        "validate_every": PTB_EPOCH,
        "schedule": "anneal",
        "anneal": 0.5,
        "clip_norm": None,
    },
}
_KERG = Preset(
    "Kerg et al. 2020, appendix C, Tables 6 to 9, and the published programs",
    {"copy": _RECALL, "denoise": _RECALL, "digits": _PIXELS, "permuted-digits": _PIXELS, "characters": _CHARACTERS},
    (
        *_rows(
            "copy",
            orthogonal_rnn={**_ORTHOGONAL, **_training(2e-4, "rmsprop")},
            exp_rnn=_training(2e-4, "rmsprop"),
            lstm=_LSTM,
            rel_rnn=merge(_TANH, {**_ORTHOGONAL, **_training(2e-4, "adam")}),
            sab_lstm=_SAB,
            detach_lstm=_DETACH,
        ),
        *_rows(
            "denoise",
            orthogonal_rnn={**_ORTHOGONAL, **_training(2e-4, "rmsprop")},
            exp_rnn=_training(2e-4, "rmsprop"),
            lstm=_LSTM,
            goru=_training(1e-3, "rmsprop"),
            rel_rnn=merge(_MODRELU, {**_ORTHOGONAL, **_training(2e-4, "rmsprop")}),
        ),
        *_rows("digits", **_DIGITS),
        *_rows("permuted-digits", **_DIGITS),
        *_rows(
            "characters",
            orthogonal_rnn={"init": {"name": "cayley"}, **_training(1e-3, "adam")},
            exp_rnn=_training(3e-3, "adam"),
            lstm=_LSTM,
            rel_rnn={
                "init": {"name": "cayley"},
                "cell": {"nonlinearity": "tanh", "short_term": 10, "relevant": 5},
                **_training(3e-4, "adam"),
            },
        ),
    ),
    "The matrix of expRNN always has a tenth of the learning rate, as printed. On text the source's orth-RNN and expRNN "
    "use tanh, and memspan's modReLU. Table 8 names no optimizer for the LSTM: RMSprop is that of the program.",
)

# --- Shen 2019, appendix E, and the programs that it is based on

_BINARY = {"task": {"sequences": 10_000, "length": 512}, "training": {"batch": 50, "validate_every": 200}}
_RECURRENT = {"optimizer": "rmsprop", "smoothing": 0.9, "clip_norm": 0.25, "schedule": "constant", "patience": 5}
_COSINE = {"optimizer": "adam", "clip_norm": None, "clip_value": 5.0, "schedule": "cosine"}
_SHEN = Preset(
    "Shen 2019, appendix E",
    {"binary": _BINARY},
    (
        PresetRow(
            "binary",
            ("rnn",),
            {
                "init": {"name": "keras"},
                "model": {"embedding": 2},
                "training": {**_RECURRENT, "learning_rate": 1e-3, "updates": 100_000},
            },
        ),
        PresetRow(
            "binary",
            ("lstm",),
            {
                "cell": {"one_bias": True},
                "init": {"name": "keras"},
                "model": {"embedding": 2},
                "training": {**_RECURRENT, "learning_rate": 5e-3, "updates": 100_000},
            },
        ),
        PresetRow(
            "binary",
            ("transformer",),
            {
                "cell": {"hidden": 16, "heads": 4},
                "model": {"embedding": 16},
                "training": {**_COSINE, "learning_rate": 2e-4, "updates": 200 * 200, "patience": 5},
            },
        ),
        PresetRow(
            "characters",
            ("lstm",),
            {
                "task": {"steps": 100},
                "cell": {"one_bias": True},
                "init": {"name": "keras"},
                "model": {"embedding": 200},
                "training": {
                    **_RECURRENT,
                    **{"learning_rate": 5e-3, "batch": 128, "updates": 200_000, "validate_every": 842},
                },
            },
            "wikitext-2",
        ),
        PresetRow(
            "words",
            ("lstm",),
            {
                "task": {"steps": 50, "restart": 0.0},
                "cell": {"dropout": 0.4},
                "model": {"tied": True, "dropout": 0.4},
                "training": {
                    **{"updates": 60 * 2_088, "validate_every": 2_088, "batch": 20, "optimizer": "sgd"},
                    **{"learning_rate": 20.0, "schedule": "anneal", "clip_norm": 0.25},
                },
            },
            "wikitext-2",
        ),
        PresetRow(
            "characters",
            ("transformer",),
            {
                "task": {"steps": 512},
                "cell": {"heads": 8},
                "training": {
                    **_COSINE,
                    **{"updates": 200 * 328, "batch": 64, "learning_rate": 2e-4, "validate_every": 328, "patience": 5},
                },
            },
            "wikitext-2",
        ),
        PresetRow(
            "words",
            ("transformer",),
            {
                "task": {"steps": 128},
                "cell": {"heads": 8, "attention_dropout": 0.1},
                "model": {"tied": True, "dropout": 0.0},
                "training": {
                    **_COSINE,
                    **{
                        "updates": 200 * 815,
                        "batch": 20,
                        "learning_rate": 2.5e-4,
                        "validate_every": 815,
                        "patience": 10,
                    },
                },
            },
            "wikitext-2",
        ),
    ),
    "The text has no limit of updates for recurrent networks; here it is 100,000 (binary) and 200,000 (characters). "
    "Gradients are clipped by their norm, where the text does not say how. The embedding of word Transformers has no L2 "
    "regularization. Batches of word Transformers are 20, where the source has 32 for some.",
)

# --- Cao and Xu 2020, section 5, with the settings of Yang 2018, whose program it extends

_MIXTURE = {
    "task": {"steps": 70},
    "model": {"name": "awd-lstm", "tied": True, "dropout": 0.0},
    "training": {
        **{"optimizer": "nt-asgd", "schedule": "constant", "clip_norm": 0.25, "weight_decay": 1.2e-6, "nonmonotone": 10}
    },
}
_CAO = Preset(
    "Cao and Xu 2020, section 5, and the published programs of it and of Yang 2018",
    {"words": _MIXTURE},
    (
        PresetRow(
            "words",
            ("lstm",),
            {
                "cell": {"hidden": 960, "layers": 3},
                "model": {"embedding": 280, "last": 620},
                # 1,106 updates are an epoch.
                "training": {"batch": 12, "learning_rate": 20.0, "updates": 1_000 * 1_106, "validate_every": 1_106},
            },
            "ptb",
        ),
        PresetRow(
            "words",
            ("lstm",),
            {
                "cell": {"hidden": 1_150, "layers": 3},
                "model": {"embedding": 300, "last": 650},
                # 1,989 updates are an epoch.
                "training": {"batch": 15, "learning_rate": 15.0, "updates": 1_000 * 1_989, "validate_every": 1_989},
            },
            "wikitext-2",
        ),
    ),
    "Windows have equal length, where those of the programs vary around 70 words. With --bmi the weights of the "
    "regularizer are those of the text.",
)

PRESETS: Mapping[str, Preset] = {"kerg2020": _KERG, "shen2019": _SHEN, "cao2020": _CAO}
"""The sources with chosen hyperparameters."""

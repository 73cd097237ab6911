"""Presets: every row is a valid configuration, holds the printed numbers, and is what the recipes run at paper scale."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from memspan.cli.train_config import TrainRequest, train_config
from memspan.errors import InputError
from memspan.reproductions import RECIPES
from memspan.reproductions.cao2020.language_models import LANGUAGE_MODELS, ModelKey
from memspan.reproductions.kerg2020 import ptb_characters
from memspan.reproductions.shen2019.binary import binary_config
from memspan.reproductions.shen2019.sizes import BINARY, TEXT_LSTM, TEXT_TRANSFORMER, Architecture
from memspan.reproductions.shen2019.text import text_config
from memspan.training import Config, TrainingConfig
from memspan.training.supervised.config import check_config
from memspan.training.supervised.presets import PRESETS

ROWS = [
    (name, row.task, cell, row.data) for name, preset in PRESETS.items() for row in preset.rows for cell in row.cells
]


def preset_config(name: str, task: str, cell: str, data: str | None = None, **sizes: Any) -> Config:
    return train_config(TrainRequest(task=task, cell=cell, preset=name, data=data, **sizes))


@pytest.mark.parametrize(("name", "task", "cell", "data"), ROWS)
def test_every_row_is_a_valid_configuration(name: str, task: str, cell: str, data: str | None):
    check_config(preset_config(name, task, cell, data))


@pytest.mark.parametrize(
    ("task", "cell", "rate", "optimizer"),
    [
        ("copy", "orthogonal-rnn", 2e-4, "rmsprop"),  # Table 6
        ("copy", "lstm", 2e-4, "adam"),
        ("copy", "rel-rnn", 2e-4, "adam"),
        ("denoise", "goru", 1e-3, "rmsprop"),  # Table 7
        ("denoise", "rel-rnn", 2e-4, "rmsprop"),
        ("permuted-digits", "rel-rnn", 3e-4, "adam"),  # Table 8
        ("characters", "exp-rnn", 3e-3, "adam"),  # Table 9
    ],
)
def test_kerg2020_has_the_rates_and_optimizers_of_its_tables(task: str, cell: str, rate: float, optimizer: str):
    config = preset_config("kerg2020", task, cell)
    assert (config.training.learning_rate, config.training.optimizer) == (rate, optimizer)
    if cell == "rel-rnn":
        assert (config.cell.options["short_term"], config.cell.options["relevant"]) == (10, 10)
        assert config.cell.options["nonlinearity"] == ("tanh" if task == "copy" else "modrelu")


def test_recipes_at_paper_scale_have_the_settings_of_the_presets(tmp_path: Path):
    sizes: dict[str, Any] = {"hidden": 64, "layers": 2, "seed": 3}
    for cell in ("rnn", "lstm", "transformer"):
        ours = binary_config(BINARY["paper"], Architecture(cell, 64, 2), 3)
        preset = preset_config("shen2019", "binary", cell, **sizes)
        assert _comparable(ours) == _comparable(preset)
    for cell, size in (("lstm", TEXT_LSTM["paper"]), ("transformer", TEXT_TRANSFORMER["paper"])):
        for kind, plan in size.plans.items():
            ours = text_config(plan, kind, size.data, Architecture(cell, 64, 2), 3)
            preset = preset_config("shen2019", kind, cell, **sizes)
            assert _comparable(ours) == _comparable(preset), (cell, kind)
    for data in ("ptb", "wikitext-2"):
        ours = LANGUAGE_MODELS["paper"].config(ModelKey(data, "none", 0), tmp_path)
        preset = preset_config("cao2020", "words", "lstm", data)
        assert _comparable(ours) == _comparable(preset)


def _comparable(config: Config) -> Config:
    """What a preset decides: not the device, not how validation is divided, nor a width that follows the cell's."""
    general = TrainingConfig()
    free = ("threads", "device", "validation_batches", "validation_size", "checkpoint_minutes")
    training = dataclasses.replace(config.training, **{name: getattr(general, name) for name in free})
    model = config.model
    if config.cell.name == "transformer" or (model.tied and model.name == "cell"):
        model = dataclasses.replace(model, embedding=config.cell.hidden)
    return dataclasses.replace(config, training=training, model=model)


@pytest.mark.parametrize(
    ("cell", "rate"), [("orthogonal-rnn", 1e-3), ("exp-rnn", 3e-3), ("lstm", 2e-4), ("rel-rnn", 3e-4)]
)
def test_the_recipe_of_characters_at_paper_scale_has_the_rates_of_table_9(cell: str, rate: float):
    size = dict(RECIPES["relevance-table3-ptb"].sizes["paper"].size)
    names = ("task", "cells", "hidden", "embedding", "training", "published_settings")
    ours = ptb_characters.configs(0, *(size[name] for name in names))[cell]
    preset = preset_config("kerg2020", "characters", cell)
    assert ours.training.learning_rate == preset.training.learning_rate == rate
    assert (ours.cell.hidden, ours.model.embedding) == (preset.cell.hidden, preset.model.embedding) == (1_024, 200)
    memory = {"short_term": 10, "relevant": 5}
    assert cell != "rel-rnn" or {name: ours.cell.options[name] for name in memory} == memory


def test_options_and_settings_override_a_preset():
    request = TrainRequest(
        task="copy", cell="rel-rnn", preset="kerg2020", hidden=64, settings=["training.learning_rate=0.01"]
    )
    config = train_config(request)
    assert (config.cell.hidden, config.training.learning_rate, config.training.optimizer) == (64, 0.01, "adam")


def test_settings_for_one_text_serve_others_and_settings_for_several_do_not():
    assert preset_config("shen2019", "characters", "lstm", "ptb").training.batch == 128
    with pytest.raises(InputError, match=r"^the preset cao2020 has no settings for words on python with lstm; it has "):
        preset_config("cao2020", "words", "lstm", "python")


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (TrainRequest(task="copy", preset="kreg"), r"there is no preset 'kreg'; .*kerg2020"),
        (
            TrainRequest(task="copy", cell="gru", preset="kerg2020"),
            "the preset kerg2020 has no settings for copy with gru; it has copy: orthogonal-rnn, ",
        ),
    ],
)
def test_a_preset_without_the_training_says_what_it_has(request_: TrainRequest, message: str):
    with pytest.raises(InputError, match=message):
        train_config(request_)

"""What recipes on texts train: the sources' own settings at paper scale, and as many networks as they say."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from memspan.reproductions import RECIPES
from memspan.reproductions.shen2019 import binary_depth, binary_rnn, binary_transformer
from memspan.reproductions.shen2019.text_sizes import SIZES
from memspan.tasks.text import TextTask
from memspan.training import Config


class Splits(NamedTuple):
    """Symbols of a text."""

    train: int
    valid: int


SYMBOLS = {
    ("ptb", "characters"): Splits(5_017_482, 393_042),
    ("ptb", "words"): Splits(929_589, 73_760),
    ("wikitext-2", "characters"): Splits(10_780_437, 1_120_192),
    ("wikitext-2", "words"): Splits(2_088_628, 217_646),
}


def read(config: Config) -> TextTask:
    assert isinstance(config.task, TextTask)
    return config.task


def text_configs(scale: str) -> list[Config]:
    """Every kind of network that learns a text."""
    plans = SIZES[scale].plans.items()
    return [
        *(plan.config(kind, "wikitext-2", plan.networks(cell)[0], 0) for (cell, kind), plan in plans),
    ]


def windows(symbols: int, size: int, task: TextTask) -> int:
    """Full batches of a text."""
    return symbols // size // task.steps if task.carry else symbols // task.steps // size


@pytest.mark.parametrize("scale", ["laptop", "paper"])
def test_texts_are_validated_on_all_of_their_split(scale: str):
    for config in text_configs(scale):
        task, training = read(config), config.training
        valid = SYMBOLS[task.data, task.kind].valid
        assert windows(valid, training.validation_size, task) < training.validation_batches


def test_at_paper_scale_networks_are_validated_after_every_pass():
    for config in text_configs("paper"):
        task, training = read(config), config.training
        train = SYMBOLS[task.data, task.kind].train
        assert windows(train, training.batch, task) == training.validate_every


NUMBERS = {
    ("shen-fig1", "laptop"): sum(len(binary_rnn._NETWORKS["laptop"].of(cell)) for cell in binary_rnn.CELLS),
    ("shen-fig1", "paper"): sum(len(binary_rnn._NETWORKS["paper"].of(cell)) for cell in binary_rnn.CELLS),
    **{
        ("shen-fig7", scale): len(binary_depth.WIDTHS[scale]) * len(binary_depth.DEPTHS[scale])
        for scale in binary_depth.WIDTHS
    },
    **{("shen-fig3a", scale): len(widths) for scale, widths in binary_transformer.WIDTHS.items()},
    **{
        ("shen-fig9", scale): len(widths) + len(binary_transformer.DEPTHS[scale]) - 1
        for scale, widths in binary_transformer.WIDTHS.items()
    },
    **{
        (recipe, scale): len(size.plans[cell, "characters"].networks(cell))
        for cell, recipes in (
            ("lstm", ("shen-fig2", "shen-fig8")),
            ("transformer", ("shen-fig3bc", "shen-fig10")),
        )
        for recipe in recipes
        for scale, size in SIZES.items()
    },
}


@pytest.mark.parametrize(("recipe", "scale"), NUMBERS, ids="-".join)
def test_recipes_tell_how_many_networks_they_train(recipe: str, scale: str):
    assert RECIPES[recipe].scales[scale].startswith(f"{NUMBERS[recipe, scale]} ")

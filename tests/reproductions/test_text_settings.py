"""What recipes on texts train: the sources' own settings at paper scale, and as many networks as they say."""

from __future__ import annotations

from typing import NamedTuple

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from memspan.reproductions import RECIPES
from memspan.reproductions.chen2018 import ptb_words
from memspan.reproductions.kerg2020 import ptb_characters
from memspan.tasks.task import Batch
from memspan.tasks.text import TextTask
from memspan.training import Config


class Splits(NamedTuple):
    """Symbols of a text."""

    train: int
    valid: int


SYMBOLS = {
    ("ptb", "characters"): Splits(5_017_482, 393_042),
    ("ptb", "words"): Splits(929_589, 73_760),
}


def read(config: Config) -> TextTask:
    assert isinstance(config.task, TextTask)
    return config.task


def moved(gradient: Tensor, rate: float, largest: float) -> Tensor:
    """By one update of SGD whose gradient is clipped to a norm."""
    return rate * gradient * min(1.0, largest / float(gradient.norm()))


@pytest.mark.parametrize("size", [0.01, 100.0], ids=["below the largest norm", "above it"])
def test_words_at_paper_scale_are_learnt_by_the_updates_of_zaremba(size: float):
    config = ptb_words._configs("paper", 0)["lstm-5m"]
    steps, batch = read(config).steps, config.training.batch
    logits = (size * torch.randn(steps, batch, 7, generator=torch.Generator().manual_seed(0))).double()
    logits.requires_grad_()
    targets = torch.zeros(steps, batch, dtype=torch.int64)
    summed = functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum") / batch
    (theirs,) = torch.autograd.grad(size * summed, logits)
    mean = config.task.loss(logits, Batch(targets, targets, torch.ones(steps, batch), None))
    (ours,) = torch.autograd.grad(size * mean, logits)
    assert config.training.clip_norm is not None
    update = moved(ours, config.training.learning_rate, config.training.clip_norm)
    torch.testing.assert_close(update, moved(theirs, rate=1.0, largest=5.0))  # Zaremba 2014, section 4.1


def test_words_at_paper_scale_go_through_the_text_without_beginning_anew():
    configs = ptb_words._configs("paper", 0).values()
    assert {read(config).restart for config in configs} == {0.0}


@pytest.mark.parametrize("scale", ["smoke", "laptop", "paper"])
def test_an_rnn_does_not_begin_as_the_orthogonal_one_beside_it(scale: str):
    assert ptb_characters._configs(scale, 0)["rnn"].init.name == "default"


def test_characters_are_learnt_at_one_rate_or_at_those_of_the_paper():
    scales = {scale: ptb_characters._configs(scale, 0) for scale in ("laptop", "paper")}
    rates = {
        scale: {cell: config.training.learning_rate for cell, config in configs.items()}
        for scale, configs in scales.items()
    }
    assert len(set(rates["laptop"].values())) == 1
    printed = {"orthogonal-rnn": 0.001, "exp-rnn": 0.003, "lstm": 0.0002, "rel-rnn": 0.0003}
    assert printed.items() <= rates["paper"].items()  # Kerg 2020, Table 9
    memory = scales["paper"]["rel-rnn"].cell.options
    assert (memory["short_term"], memory["relevant"], memory["nonlinearity"]) == (10, 5, "tanh")


def text_configs(scale: str) -> list[Config]:
    """Every kind of network that learns a text."""
    return [*ptb_words._configs(scale, 0).values(), *ptb_characters._configs(scale, 0).values()]


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


NUMBERS = {("relevance-table3-ptb", scale): len(size.cells) for scale, size in ptb_characters._SIZES.items()}


@pytest.mark.parametrize(("recipe", "scale"), NUMBERS, ids="-".join)
def test_recipes_tell_how_many_networks_they_train(recipe: str, scale: str):
    assert RECIPES[recipe].scales[scale].startswith(f"{NUMBERS[recipe, scale]} ")

"""Language models of Chen 2018 (words) and Kerg 2020 (characters): published settings, and claims that can fail."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
import torch
from tests.presentation import training_examples
from torch import Tensor
from torch.nn import functional

from memspan.reproductions import RECIPES
from memspan.reproductions.chen2018 import ptb_words
from memspan.reproductions.kerg2020 import ptb_characters
from memspan.results import TrainingRun
from memspan.tasks.task import Batch
from memspan.tasks.text import TextTask
from memspan.training import Config

SYMBOLS = {"characters": (5_017_482, 393_042), "words": (929_589, 73_760)}
"""Symbols of the training and of the validation text."""


def settings(recipe: str, scale: str) -> dict[str, Any]:
    """The size of a recipe, without what is not part of a configuration."""
    return {name: value for name, value in RECIPES[recipe].sizes[scale].size.items() if name != "workers"}


def words(scale: str) -> dict[str, Config]:
    return ptb_words.configs(0, **settings("meanfield-table1", scale))


def characters(scale: str) -> dict[str, Config]:
    return ptb_characters.configs(0, **settings("relevance-table3-ptb", scale))


def text_task(config: Config) -> TextTask:
    assert isinstance(config.task, TextTask)
    return config.task


def training(cell: str = "lstm", loss: float = 1.0) -> TrainingRun:
    return dataclasses.replace(training_examples.training(), cell=cell, loss=loss)


def clipped_update(gradient: Tensor, rate: float, largest: float) -> Tensor:
    """One update of SGD with a clipped gradient norm."""
    return rate * gradient * min(1.0, largest / float(gradient.norm()))


@pytest.mark.parametrize("size", [0.01, 100.0], ids=["below the largest norm", "above it"])
def test_words_at_paper_scale_have_the_updates_of_zaremba(size: float) -> None:
    config = words("paper")["lstm-5m"]
    steps, batch = text_task(config).steps, config.training.batch
    logits = (size * torch.randn(steps, batch, 7, generator=torch.Generator().manual_seed(0))).double()
    logits.requires_grad_()
    targets = torch.zeros(steps, batch, dtype=torch.int64)
    summed = functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum") / batch
    (theirs,) = torch.autograd.grad(size * summed, logits)
    mean = config.task.loss(logits, Batch(targets, targets, torch.ones(steps, batch), None))
    (ours,) = torch.autograd.grad(size * mean, logits)
    assert config.training.clip_norm is not None
    update = clipped_update(ours, config.training.learning_rate, config.training.clip_norm)
    torch.testing.assert_close(update, clipped_update(theirs, rate=1.0, largest=5.0))  # Zaremba 2014, section 4.1


def test_words_at_paper_scale_are_read_without_restarts() -> None:
    assert {text_task(config).restart for config in words("paper").values()} == {0.0}


@pytest.mark.parametrize("scale", ["smoke", "laptop", "paper"])
def test_the_rnn_is_not_initialized_as_the_orthogonal_one(scale: str) -> None:
    assert characters(scale)["rnn"].init.name == "default"


def test_characters_have_one_learning_rate_or_those_of_the_paper() -> None:
    rates = {
        scale: {cell: config.training.learning_rate for cell, config in characters(scale).items()}
        for scale in ("laptop", "paper")
    }
    assert len(set(rates["laptop"].values())) == 1
    printed = {"orthogonal-rnn": 0.001, "exp-rnn": 0.003, "lstm": 0.0002, "rel-rnn": 0.0003}
    assert printed.items() <= rates["paper"].items()  # Kerg 2020, Table 9
    memory = characters("paper")["rel-rnn"].cell.options
    assert (memory["short_term"], memory["relevant"], memory["nonlinearity"]) == (10, 5, "tanh")


def batches(symbols: int, size: int, task: TextTask) -> int:
    """Full batches of a text."""
    return symbols // size // task.steps if task.carry else symbols // task.steps // size


@pytest.mark.parametrize("scale", ["laptop", "paper"])
def test_validation_covers_the_whole_split(scale: str) -> None:
    for config in (*words(scale).values(), *characters(scale).values()):
        task, training = text_task(config), config.training
        assert task.data == "ptb"
        _, valid = SYMBOLS[task.kind]
        assert batches(valid, training.validation_size, task) < training.validation_batches


def test_at_paper_scale_networks_are_validated_after_every_epoch() -> None:
    for config in (*words("paper").values(), *characters("paper").values()):
        task, training = text_task(config), config.training
        train, _ = SYMBOLS[task.kind]
        assert batches(train, training.batch, task) == training.validate_every


@pytest.mark.parametrize("scale", ["smoke", "laptop", "paper"])
def test_the_recipe_on_characters_states_how_many_networks_it_trains(scale: str) -> None:
    assert RECIPES["relevance-table3-ptb"].scales[scale].startswith(f"{len(characters(scale))} ")


def test_words_are_compared_with_the_printed_perplexities() -> None:
    def trained(**perplexities: float) -> dict[str, TrainingRun]:
        cells = dict(zip(("minimal-rnn", "gru", "lstm"), perplexities.values(), strict=True))
        return {cell: training(cell=cell, loss=math.log(value)) for cell, value in cells.items()}

    as_printed = trained(minimal=101.4, gru=99.5, lstm=95.4)
    worse = trained(minimal=150.0, gru=120.0, lstm=160.0)
    assert [claim.holds for claim in ptb_words.printed_claims(5, as_printed)] == [True] * 3
    assert [claim.holds for claim in ptb_words.printed_claims(5, worse)] == [False] * 3
    assert [claim.holds for claim in ptb_words.comparisons(as_printed)] == [True, True]
    assert [claim.holds for claim in ptb_words.comparisons(worse)] == [False, False]


@pytest.mark.parametrize("millions", [5, 20])
def test_networks_of_equal_size_have_equally_many_parameters(millions: int) -> None:
    from memspan.cells import CELLS

    widths = settings("meanfield-table1", "paper")["widths"][millions]
    for cell, width in widths.items():
        inner = sum(weights.numel() for weights in CELLS[cell](width, width).parameters())
        assert inner + 2 * 10_000 * width + 10_000 == pytest.approx(millions * 1e6, rel=0.03)
    assert set(ptb_words.PRINTED[millions]) == set(widths)


def test_characters_are_evaluated_in_bits() -> None:
    two_bits = training(cell="lstm", loss=2 * math.log(2))
    assert ptb_characters.printed_claim("lstm", two_bits).measured == pytest.approx(2.0)
    assert not ptb_characters.printed_claim("lstm", two_bits).holds
    fewer = {"rel-lstm": training(loss=np.log(2)), "lstm": two_bits}
    assert [claim.holds for claim in ptb_characters.order_claims(fewer)] == [True]
    more = {"rel-lstm": two_bits, "lstm": training(loss=np.log(2))}
    assert [claim.holds for claim in ptb_characters.order_claims(more)] == [False]


def test_cells_are_ordered_as_in_the_table_or_not() -> None:
    cells = ("rnn", "orthogonal-rnn", "exp-rnn", "rel-rnn", "lstm", "rel-lstm")
    for order, holds in ((cells, True), (cells[::-1], False)):
        trained = {cell: training(loss=2 - 0.1 * place) for place, cell in enumerate(order)}
        claims = ptb_characters.order_claims(trained)
        assert [claim.holds for claim in claims] == [holds] * 6
        assert claims[0].paper == pytest.approx(0.03)

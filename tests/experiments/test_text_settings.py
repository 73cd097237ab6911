"""What recipes on texts train: the sources' own settings at paper scale, and as many networks as they say."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from memspan.experiments import meanfield_table1, relevance_table3_ptb
from memspan.tasks.task import Batch


def moved(gradient: Tensor, rate: float, largest: float) -> Tensor:
    """By one update of SGD whose gradient is clipped to a norm."""
    return rate * gradient * min(1.0, largest / float(gradient.norm()))


@pytest.mark.parametrize("size", [0.01, 100.0], ids=["below the largest norm", "above it"])
def test_words_at_paper_scale_are_learnt_by_the_updates_of_zaremba(size: float):
    config = meanfield_table1._configs("paper", 0)["lstm-5m"]
    steps, batch = config.task.steps, config.training.batch
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
    assert {config.task.restart for config in meanfield_table1._configs("paper", 0).values()} == {0.0}


@pytest.mark.parametrize("scale", ["smoke", "laptop", "paper"])
def test_an_rnn_does_not_begin_as_the_orthogonal_one_beside_it(scale: str):
    assert relevance_table3_ptb._configs(scale, 0)["rnn"].init.name == "default"


def test_characters_are_learnt_at_one_rate_or_at_those_of_the_paper():
    scales = {scale: relevance_table3_ptb._configs(scale, 0) for scale in ("laptop", "paper")}
    rates = {
        scale: {cell: config.training.learning_rate for cell, config in configs.items()}
        for scale, configs in scales.items()
    }
    assert len(set(rates["laptop"].values())) == 1
    printed = {"orthogonal-rnn": 0.001, "exp-rnn": 0.003, "lstm": 0.0002, "rel-rnn": 0.0003}
    assert printed.items() <= rates["paper"].items()  # Kerg 2020, Table 9
    memory = scales["paper"]["rel-rnn"].cell.options
    assert (memory["short_term"], memory["relevant"], memory["nonlinearity"]) == (10, 5, "tanh")

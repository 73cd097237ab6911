"""The loss against the context, of networks whose answers are known."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
import torch

from memspan.cells import VanillaRNN
from memspan.diagnostics import context_loss
from memspan.diagnostics.context import context_lengths, has_context
from memspan.models.model import ReadoutModel
from memspan.presentation.diagnosis import context_words
from memspan.results import ContextLoss
from memspan.tasks.synthetic import RECALLED, Adding, Copy


def counter(task: Adding) -> ReadoutModel:
    """h_t = h_{t-1} + mark_t, and the answer is h: how many marks it has seen."""
    net = ReadoutModel(VanillaRNN(task.features, 1, nonlinearity="identity"), 1)
    with torch.no_grad():
        for weights in net.parameters():
            weights.zero_()
        layer: Any = net.cell.first
        layer.U.copy_(torch.tensor([[0.0, 1.0]]))
        layer.V.fill_(1.0)
        net.head.weight.fill_(1.0)
    return net


def test_a_network_that_counts_marks_knows_those_of_its_context():
    task = Adding(length=20)
    found = context_loss(counter(task), task, sequences=50, seed=2)
    batch = task.batch(0, 50, seed=2, split="test")
    marks, sums = batch.inputs[:, :, 1].numpy(), batch.targets[0].numpy()
    errors = np.array([(marks[-k - 1 :].sum(0) - sums) ** 2 for k in found.context])
    np.testing.assert_allclose(found.loss, errors.mean(1), rtol=1e-5)
    np.testing.assert_allclose(found.error, errors.std(1, ddof=1) / np.sqrt(50), rtol=1e-4)
    assert found.context.tolist() == context_lengths(19).tolist()
    assert (found.answers, found.context[-1]) == (1, 19)


def test_a_network_without_memory_does_not_care():
    task = Copy(delay=6)
    net = ReadoutModel(VanillaRNN(task.features, 5), task.classes, symbols=task.symbols)
    with torch.no_grad():
        cast(Any, net.cell.first).V.zero_()
    found = context_loss(net, task, sequences=4)
    np.testing.assert_allclose(found.loss, found.loss[0], rtol=1e-6)
    assert found.context[-1] == task.length - RECALLED


def test_networks_with_fresh_weights_at_every_step_cannot_begin_anywhere():
    task = Copy(delay=6)
    untied = VanillaRNN(task.features, 5, tied=False, steps=task.length)
    assert not has_context(ReadoutModel(untied, task.classes, symbols=task.symbols))
    assert has_context(ReadoutModel(VanillaRNN(task.features, 5), task.classes, symbols=task.symbols))


@pytest.mark.parametrize("steps", [0, 1, 2, 784, 5010])
def test_contexts_go_from_nothing_to_everything(steps):
    contexts = context_lengths(steps)
    assert (contexts[0], contexts[-1]) == (0, steps)
    assert (np.diff(contexts) > 0).all()


def test_the_context_that_is_used_ends_where_more_hardly_lowers_the_loss():
    k = np.array([0, 1, 2, 4, 8])

    def used(*losses: float) -> int:
        return ContextLoss(1, 1, k, np.array(losses), np.zeros(5)).used

    assert used(1.0, 0.9, 0.05, 0.04, 0.0) == 2
    assert used(1.0, 0.05, 0.9, 0.9, 0.0) == 8
    assert used(1.0, 1.0, 1.0, 1.0, 1.0) == 0


def test_what_may_be_chance_is_not_called_used():
    k, loss = np.array([0, 1, 2, 4, 8]), np.array([1.0, 0.05, 0.2, 0.0, 0.0])

    def found(error: float) -> ContextLoss:
        return ContextLoss(1, 5, k, loss, np.array([0.0, 0.0, error, 0.0, 0.0]))

    assert (found(0.04).used, found(0.06).used) == (4, 1)
    unclear = ContextLoss(1, 5, k, loss, np.full(5, 0.5))
    assert (unclear.helps, unclear.used) == (False, 0)
    assert context_words(unclear) == "the answers are not clearly better from 9 steps than from one"


def test_no_context_is_used_where_all_of_it_is_no_better():
    loss = np.array([2.0, 2.2, 1.9, 2.0])
    found = ContextLoss(1, 5, np.array([0, 1, 2, 4]), loss, np.zeros(4))
    assert found.used == 0
    assert context_words(found) == "the answers are no better from 5 steps than from one"

"""Gradient norms against the plain loop, against closed forms, and what they do not depend on."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
import torch
from torch.nn import functional

from memspan.cells import CELLS, VanillaRNN
from memspan.diagnostics import gradient_norms
from memspan.diagnostics.batches import with_changed_targets
from memspan.errors import InputError
from memspan.models.model import ReadoutModel
from memspan.results import GradientNorms
from memspan.tasks import TASKS
from memspan.tasks.synthetic import RECALLED, Copy
from oracles import plain

TASK = Copy(delay=4)


def assert_equal(ours: np.ndarray, theirs: np.ndarray) -> None:
    """Double precision: only the order of sums differs."""
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-14)


def network(word: str, hidden: int = 6, seed: int = 0) -> ReadoutModel:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return ReadoutModel(CELLS[word](TASK.features, hidden), TASK.classes, symbols=TASK.symbols)


def oracle_norms(word: str, net: ReadoutModel, count: int, loss: str) -> np.ndarray:
    """(sequences, distance): each h_t is kept as a node of the graph of a plain loop, and L is a sequence's own loss."""
    exact = net.double()
    batch = TASK.batch(0, count, seed=3, split="test")
    answers = TASK.length if loss == "whole" else RECALLED
    if loss == "changed":
        batch = with_changed_targets(batch, answers, 3)
    outputs, nodes = plain(word, exact.cell, exact.encode(batch.inputs))
    losses = [
        functional.cross_entropy(exact.head(outputs[-answers:, b]), batch.targets[-answers:, b]) for b in range(count)
    ]
    gradients = [torch.autograd.grad(loss, states) for loss, states in zip(losses, nodes, strict=True)]
    return np.array([[float(g.norm()) for g in reversed(of_one)] for of_one in gradients])


@pytest.mark.parametrize("word", ["rnn", "lstm", "gru", "minimal-rnn", "mem-rnn", "rel-lstm", "rel-rnn"])
@pytest.mark.parametrize("loss", ["recalled", "whole", "changed"])
def test_norms_are_those_of_the_plain_loop(word, loss):
    net = network(word)
    found = gradient_norms(net, TASK, sequences=3, loss=loss, seed=3)
    expected = oracle_norms(word, net, 3, loss)
    assert_equal(found.mean, expected.mean(0))
    low, high = np.quantile(expected, (0.1, 0.9), axis=0)
    assert_equal(found.low, low)
    assert_equal(found.high, high)
    assert found.distances.tolist() == list(range(TASK.length))


def test_changed_targets_differ_from_the_recalled_ones_and_occur_in_the_batch():
    batch = TASK.batch(0, 50, seed=3)
    other = with_changed_targets(batch, RECALLED, 0)
    assert bool((other.targets[-RECALLED:] != batch.targets[-RECALLED:]).all())
    assert other.targets[-RECALLED:].unique().tolist() == list(range(1, 9))
    assert torch.equal(other.targets[:-RECALLED], batch.targets[:-RECALLED])
    assert torch.equal(other.targets, with_changed_targets(batch, RECALLED, 0).targets)
    assert not torch.equal(other.targets, with_changed_targets(batch, RECALLED, 1).targets)
    with pytest.raises(InputError, match="use more --sequences"):
        with_changed_targets(batch.columns(slice(0, 1)), 1, 0)


def test_the_root_mean_square_is_the_norm_that_backward_of_the_mean_loss_leaves_in_all_states_together():
    net, count = network("rel-rnn"), 5
    found = gradient_norms(net, TASK, sequences=count, seed=3)
    exact = net.double()
    batch = TASK.batch(0, count, seed=3, split="test")
    probe = torch.zeros(TASK.length, count, exact.cell.hidden_size, dtype=torch.float64, requires_grad=True)
    logits = exact(batch.inputs, probe=probe).logits[-RECALLED:]
    functional.cross_entropy(logits.flatten(0, 1), batch.targets[-RECALLED:].flatten()).backward()
    assert probe.grad is not None
    together = probe.grad.flatten(1).norm(dim=1).flip(0).numpy()
    assert_equal(found.rms, together * np.sqrt(count))


def test_a_linear_network_that_shrinks_by_half_halves_the_gradient_at_every_step():
    cell = VanillaRNN(TASK.features, 4, nonlinearity="identity")
    with torch.no_grad():
        cast(Any, cell.first).V.copy_(0.5 * torch.eye(4)[[1, 2, 3, 0]])
    found = gradient_norms(ReadoutModel(cell, TASK.classes, symbols=TASK.symbols), TASK, sequences=2)
    before = found.mean[RECALLED - 1 :]
    np.testing.assert_allclose(before[1:] / before[:-1], 0.5, rtol=1e-12)


def test_the_loss_is_a_sequences_own_however_many_are_differentiated_at_once(monkeypatch):
    net = network("rnn")
    together = gradient_norms(net, TASK, sequences=4, seed=1)
    monkeypatch.setattr("memspan.diagnostics.gradients.MAX_STATES", 1)
    apart = gradient_norms(net, TASK, sequences=4, seed=1)
    assert_equal(together.mean, apart.mean)


def test_the_network_is_left_as_it_was():
    net = network("lstm").train()
    before = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    gradient_norms(net, TASK, sequences=2)
    assert net.training
    assert all(parameter.grad is None for parameter in net.parameters())
    assert all(torch.equal(before[name], tensor) for name, tensor in net.state_dict().items())
    assert next(net.parameters()).dtype == torch.float32


def test_sequences_that_only_fill_up_a_batch_are_left_out():
    task = TASKS["digits"](data="digits", steps=16)  # type: ignore[call-arg]
    net = ReadoutModel(VanillaRNN(task.features, 3), task.classes)
    assert gradient_norms(net, task, sequences=400).sequences == 300


def norms(mean: list[float]) -> GradientNorms:
    values = np.array(mean)
    return GradientNorms("recalled", 1, 1, np.arange(len(mean)), values, values, values, values)


def test_the_reach_is_the_last_distance_with_a_thousandth_of_the_norm_also_past_a_gap():
    assert norms([2.0, 1e-9, 0.5, 1e-4]).reach == 2
    assert norms([1.0, 1.0, 1.0]).reach == 2
    assert norms([1.0, 0.0]).reach == 0
    assert norms([2.0, 1.0, 0.5]).fall == 4.0
    assert norms([2.0, 0.0]).fall == float("inf")


def test_invalid_requests_are_rejected():
    with pytest.raises(InputError, match="recalled"):
        gradient_norms(network("rnn"), TASK, loss="recaled")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="0 sequences"):
        gradient_norms(network("rnn"), TASK, sequences=0)

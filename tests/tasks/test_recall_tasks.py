"""Copy and denoise: exact layouts, and what is possible without memory."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from memspan.tasks import Copy, Denoise

KINDS, RECALLED, MARKER = 8, 10, 9


@pytest.mark.parametrize("delay", [1, 2, 100])
def test_a_copy_sequence_has_the_layout_that_its_docstring_draws(delay: int) -> None:
    inputs, targets, weights, _ = Copy(delay=delay).batch(4, 50, seed=0)
    assert len(inputs) == len(targets) == delay + 20
    shown = inputs[:RECALLED]
    assert int(shown.min()) >= 1
    assert int(shown.max()) <= KINDS
    assert bool((inputs[RECALLED : delay + 9] == 0).all())
    assert bool((inputs[delay + 9] == MARKER).all())
    assert bool((inputs[delay + 10 :] == 0).all())
    assert bool((targets[: delay + 10] == 0).all())
    assert torch.equal(targets[delay + 10 :], shown)
    assert bool((weights == 1).all())


@pytest.mark.parametrize("delay", [1, 2, 100])
def test_a_denoise_sequence_has_the_layout_that_its_docstring_draws(delay: int) -> None:
    inputs, targets, weights, _ = Denoise(delay=delay).batch(4, 50, seed=0)
    assert len(inputs) == len(targets) == delay + 20
    scattered = inputs[: delay + 9]
    assert bool(((scattered > 0).sum(0) == RECALLED).all())
    assert int(scattered.max()) <= KINDS
    assert bool((inputs[delay + 9] == MARKER).all())
    assert bool((inputs[delay + 10 :] == 0).all())
    assert bool((targets[: delay + 10] == 0).all())
    for sequence in range(50):
        column = scattered[:, sequence]
        assert torch.equal(targets[delay + 10 :, sequence], column[column > 0])
    assert bool((weights == 1).all())


def test_every_set_of_places_is_equally_likely() -> None:
    # Of 11 slots ten are taken, so which one is free tells everything: uniform over 11.
    inputs = Denoise(delay=2).batch(0, 110_000, seed=0).inputs[:11]
    free = torch.bincount((inputs == 0).int().argmax(0), minlength=11).numpy()
    chi_square = ((free - 10_000) ** 2 / 10_000).sum()
    assert chi_square < 29.6  # the 0.999 quantile with 10 degrees of freedom


def test_places_are_spread_evenly_and_independent_of_the_symbols() -> None:
    inputs = Denoise(delay=41).batch(0, 50_000, seed=1).inputs[:50]
    share = (inputs > 0).float().mean(1)
    # Each of 50 slots holds a symbol with probability 1/5; five standard errors.
    np.testing.assert_allclose(share, 0.2, atol=5 * math.sqrt(0.16 / 50_000))
    kinds = torch.bincount(inputs[inputs > 0], minlength=KINDS + 1)[1:] / 500_000
    np.testing.assert_allclose(kinds, 1 / KINDS, atol=5 * math.sqrt(1 / KINDS / 500_000))


@pytest.mark.parametrize("task", [Copy(delay=5), Denoise(delay=5)], ids=["copy", "denoise"])
def test_the_baseline_is_what_counting_gives_without_memory(task: Copy | Denoise) -> None:
    """H(target | input and step): the loss of the best answers when only the present step is known."""
    sequences = 40_000
    batch = task.batch(0, sequences, seed=0)
    entropy = 0.0
    for inputs, targets in zip(batch.inputs.numpy(), batch.targets.numpy(), strict=True):
        joint = np.zeros((task.symbols, task.classes))
        np.add.at(joint, (inputs, targets), 1 / sequences)
        given = joint.sum(1, keepdims=True)
        entropy -= (joint * np.log(np.where(joint > 0, joint / np.maximum(given, 1e-300), 1.0))).sum()
    assert task.baseline == pytest.approx(10 * math.log(8) / 25)
    # Counting is low by (8 - 1) / 2N nats at each of the ten recalled steps; both are below 1e-4 of the loss.
    assert entropy / task.length == pytest.approx(task.baseline, rel=3e-4)


@pytest.mark.parametrize("task", [Copy(delay=5), Denoise(delay=5)], ids=["copy", "denoise"])
def test_guesses_are_right_as_often_as_chance(task: Copy | Denoise) -> None:
    batch = task.batch(0, 20_000, seed=0)
    logits = torch.zeros(*batch.targets.shape, task.classes)
    logits[..., 3] = 1.0
    # Five standard errors of 200,000 guesses.
    assert task.measures(logits, batch)["accuracy"] == pytest.approx(
        task.chance, abs=5 * math.sqrt(7 / 64 / 2e5)
    )


def test_the_accuracy_looks_only_at_what_is_recalled() -> None:
    task = Copy(delay=5)
    batch = task.batch(0, 4, seed=0)
    logits = torch.nn.functional.one_hot(batch.targets, task.classes).float()
    logits[:-RECALLED] = 0.0
    logits[:-RECALLED, :, 5] = 1.0
    assert task.measures(logits, batch) == {"accuracy": 1.0}

"""Copy, denoise, adding and binary sequences: layouts, baselines, and the law of their information."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from memspan.errors import InputError
from memspan.tasks import Adding, BinarySequences, Copy, Denoise
from memspan.tasks.synthetic import binary_data

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
    assert task.measures(logits, batch)["accuracy"] == pytest.approx(task.chance, abs=5 * math.sqrt(7 / 64 / 2e5))


def test_the_accuracy_looks_only_at_what_is_recalled() -> None:
    task = Copy(delay=5)
    batch = task.batch(0, 4, seed=0)
    logits = torch.nn.functional.one_hot(batch.targets, task.classes).float()
    logits[:-RECALLED] = 0.0
    logits[:-RECALLED, :, 5] = 1.0
    assert task.measures(logits, batch) == {"accuracy": 1.0}


SEQUENCES = 200_000


@pytest.mark.parametrize("length", [2, 3, 100])
def test_one_value_of_each_half_is_marked_and_their_sum_is_asked(length: int) -> None:
    inputs, targets, *_ = Adding(length=length).batch(0, 500, seed=0)
    values, marks = inputs[..., 0], inputs[..., 1]
    assert inputs.shape == (length, 500, 2)
    assert set(marks.unique().tolist()) <= {0.0, 1.0}
    half = length // 2
    assert bool((marks[:half].sum(0) == 1).all())
    assert bool((marks[half:].sum(0) == 1).all())
    torch.testing.assert_close((values * marks).sum(0), targets[0])
    assert float(values.min()) >= 0
    assert float(values.max()) < 1


def test_marks_are_equally_likely_at_every_step_of_their_half() -> None:
    marks = Adding(length=5).batch(0, SEQUENCES, seed=0).inputs[..., 1].mean(1)
    np.testing.assert_allclose(marks, [1 / 2, 1 / 2, 1 / 3, 1 / 3, 1 / 3], atol=5 * math.sqrt(0.25 / SEQUENCES))


@pytest.mark.parametrize("length", [2, 4, 5])
def test_the_best_answers_from_the_last_step_have_the_baseline(length: int) -> None:
    task = Adding(length=length)
    batch = task.batch(0, SEQUENCES, seed=0)
    value, marked = batch.inputs[-1].unbind(-1)
    answers = torch.where(marked == 1, value + 0.5, 1.0)
    # The squared errors of both answers have a variance below that of (s - 1)^2.
    assert float(task.loss(answers[None, :, None], batch)) == pytest.approx(
        task.baseline, abs=5 * math.sqrt(0.0389 / SEQUENCES)
    )


def test_the_answer_one_has_the_stated_loss_and_accuracy() -> None:
    task = Adding(length=4)
    batch = task.batch(0, SEQUENCES, seed=0)
    ones = torch.ones(1, SEQUENCES, 1)
    # (s - 1)^2 of the sum s of two uniform numbers has mean 1/6 and variance 1/15 - 1/36 = 0.0389.
    assert float(task.loss(ones, batch)) == pytest.approx(1 / 6, abs=5 * math.sqrt(0.0389 / SEQUENCES))
    assert task.chance == pytest.approx(0.0784)
    assert task.measures(ones, batch)["accuracy"] == pytest.approx(task.chance, abs=5 * math.sqrt(0.0723 / SEQUENCES))


def test_no_other_constant_is_better() -> None:
    task = Adding(length=4)
    batch = task.batch(0, SEQUENCES, seed=0)
    losses = [float(task.loss(torch.full((1, SEQUENCES, 1), answer), batch)) for answer in (0.9, 1.0, 1.1)]
    assert min(losses) == losses[1]


def test_the_last_step_alone_gains_a_twelfth_where_it_is_marked() -> None:
    task = Adding(length=4)
    batch = task.batch(0, SEQUENCES, seed=0)
    value, mark = batch.inputs[-1].unbind(-1)
    answers = torch.where(mark == 1, value + 0.5, 1.0)[None, :, None]
    # Half of the sequences have their second mark at the last of two steps.
    assert float(task.loss(answers, batch)) == pytest.approx(1 / 6 - 1 / 2 / 12, abs=1e-3)


TASK = BinarySequences(length=64, sequences=20_000)


def information(first: np.ndarray, second: np.ndarray) -> float:
    """I of two binary arrays by counting, less what counting adds on average (1 / 2N)."""
    joint = np.array([[np.mean((first == a) & (second == b)) for b in (0, 1)] for a in (0, 1)])
    expected = joint.sum(1, keepdims=True) * joint.sum(0)
    return float((joint * np.log(joint / expected)).sum()) - 0.5 / first.size


def test_targets_are_the_inputs_one_step_later() -> None:
    inputs, targets, weights, _ = TASK.batch(3, 10, seed=0)
    assert inputs.shape == targets.shape == weights.shape == (63, 10)
    assert torch.equal(inputs[1:], targets[:-1])
    assert bool((weights == 1).all())


def test_information_falls_as_the_law_says() -> None:
    symbols = binary_data(TASK, "train")
    for lag in (1, 4, 16, 48):
        # One pair of each sequence, so that pairs are independent: the standard error is about sqrt(2 I / N).
        pairs = symbols[:, 0], symbols[:, lag]
        truth = 0.1 * lag**-0.4
        assert information(*pairs) == pytest.approx(truth, abs=5 * math.sqrt(2 * truth / TASK.sequences))


def test_the_baseline_is_the_entropy_of_the_next_symbol_given_the_last() -> None:
    inputs, targets, *_ = TASK.batch(0, 20_000, seed=0)
    gained = information(inputs[0].numpy(), targets[0].numpy())
    assert math.log(2) - gained == pytest.approx(TASK.baseline, abs=5 * math.sqrt(0.2 / TASK.sequences))


def test_the_best_answers_from_the_last_symbol_cost_the_baseline() -> None:
    batch = TASK.batch(0, 20_000, seed=0)
    same = float((batch.inputs == batch.targets).float().mean())
    logits = torch.where(torch.nn.functional.one_hot(batch.inputs, 2) == 1, math.log(same), math.log(1 - same))
    # The law makes pairs of one sequence depend on each other; 20,000 sequences still give 1 % of the gain.
    assert float(TASK.loss(logits, batch)) == pytest.approx(TASK.baseline, abs=0.003)


def test_both_symbols_are_equally_frequent() -> None:
    ones = binary_data(TASK, "train").mean(1)
    assert ones.mean() == pytest.approx(TASK.chance, abs=5 * ones.std() / math.sqrt(TASK.sequences))


def test_the_seed_of_a_training_changes_the_order_and_not_the_sequences() -> None:
    task = BinarySequences(length=30, sequences=50)

    def rows(seed: int, data_seed: int = 0) -> list[tuple[int, ...]]:
        changed = BinarySequences(length=30, sequences=50, data_seed=data_seed)
        return [tuple(row) for row in changed.batch(0, 50, seed=seed).inputs.T.tolist()]

    assert rows(0) != rows(1)
    assert sorted(rows(0)) == sorted(rows(1))
    assert sorted(rows(0)) != sorted(rows(0, data_seed=1))
    assert torch.equal(task.batch(2, 20, seed=0, split="valid").inputs, task.batch(2, 20, seed=1, split="valid").inputs)


def test_splits_have_the_papers_sizes() -> None:
    task = BinarySequences()
    assert [task.batches(split, 50) for split in ("train", "valid", "test")] == [200, 40, 40]


def test_an_impossible_amplitude_is_rejected() -> None:
    with pytest.raises(InputError, match=r"amplitude 0.7; expected more than 0 and at most 0.6931 nats"):
        BinarySequences(amplitude=0.7)

"""Binary sequences: the law of their information, and what the last symbol alone tells."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from memspan.errors import InputError
from memspan.tasks import BinarySequences
from memspan.tasks.binary_sequences import drawn

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
    symbols = drawn(TASK, "train")
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
    logits = torch.where(
        torch.nn.functional.one_hot(batch.inputs, 2) == 1, math.log(same), math.log(1 - same)
    )
    # The law makes pairs of one sequence depend on each other; 20,000 sequences still give 1 % of the gain.
    assert float(TASK.loss(logits, batch)) == pytest.approx(TASK.baseline, abs=0.003)


def test_both_symbols_are_equally_frequent() -> None:
    ones = drawn(TASK, "train").mean(1)
    assert ones.mean() == pytest.approx(TASK.chance, abs=5 * ones.std() / math.sqrt(TASK.sequences))


def test_the_seed_of_a_training_changes_the_order_and_not_the_sequences() -> None:
    task = BinarySequences(length=30, sequences=50)

    def rows(seed: int, data_seed: int = 0) -> list[tuple[int, ...]]:
        changed = BinarySequences(length=30, sequences=50, data_seed=data_seed)
        return [tuple(row) for row in changed.batch(0, 50, seed=seed).inputs.T.tolist()]

    assert rows(0) != rows(1)
    assert sorted(rows(0)) == sorted(rows(1))
    assert sorted(rows(0)) != sorted(rows(0, data_seed=1))
    assert torch.equal(
        task.batch(2, 20, seed=0, split="valid").inputs, task.batch(2, 20, seed=1, split="valid").inputs
    )


def test_splits_have_the_papers_sizes() -> None:
    task = BinarySequences()
    assert [task.batches(split, 50) for split in ("train", "valid", "test")] == [200, 40, 40]


def test_an_amplitude_that_no_sequence_can_have_is_refused() -> None:
    with pytest.raises(InputError, match=r"amplitude 0.7; expected more than 0 and at most 0.6931 nats"):
        BinarySequences(amplitude=0.7)

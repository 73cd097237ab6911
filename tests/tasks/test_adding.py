"""The adding problem: where the marks are, and what a constant answer gives."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from memspan.tasks import Adding

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
    np.testing.assert_allclose(
        marks, [1 / 2, 1 / 2, 1 / 3, 1 / 3, 1 / 3], atol=5 * math.sqrt(0.25 / SEQUENCES)
    )


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
    assert task.measures(ones, batch)["accuracy"] == pytest.approx(
        task.chance, abs=5 * math.sqrt(0.0723 / SEQUENCES)
    )


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

"""The benchmark of settings at tiny sizes: every task with every cell, and a loss that is that of a training."""

from __future__ import annotations

from memspan.bench import BENCHMARKS
from memspan.bench.settings import FULL, Trial, Trials, settings
from memspan.progress import SILENT
from memspan.tasks.catalog import TASKS

TASK = {"copy": Trial(task={"delay": 2}, updates=2)}


def test_every_task_is_tried_by_default():
    assert list(FULL.tasks) == list(TASKS)
    assert FULL.cells is None
    assert BENCHMARKS["settings"].function() is settings


def test_a_row_is_the_loss_of_a_training_next_to_the_one_without_memory():
    found = settings(SILENT, Trials(tasks=TASK, cells=("rnn", "gru"), workers=1))
    assert [row.name.split(",")[:2] for row in found] == [["copy", " rnn"], ["copy", " gru"]]
    for row in found:
        assert row.ratio == row.theirs / row.ours
        assert row.ratio < 1, "two updates do not make a memory"


def test_a_longer_training_beats_what_needs_no_memory():
    one = {"copy": Trial(task={"delay": 1}, updates=400)}
    (row,) = settings(SILENT, Trials(tasks=one, cells=("orthogonal-rnn",), workers=1))
    assert row.ratio > 2

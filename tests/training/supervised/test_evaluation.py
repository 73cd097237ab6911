"""Evaluating runs: the measures of the training itself, other delays, intervals, seeds, and runs that are not over."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from memspan.errors import CorruptError, InputError
from memspan.results import TrainingRun
from memspan.tasks import Copy, SequentialDigits
from memspan.training import CellConfig, Config, TrainingConfig, train
from memspan.training.run.folder import RunFolder
from memspan.training.supervised import evaluation
from memspan.training.supervised.evaluation import accuracy_interval, evaluate_run
from memspan.training.supervised.trained_model import load_best

ROUNDING = 1e-6
"""Means of single-precision losses, once by batches and once by sequences."""


def config(seed: int = 0, **training: object) -> Config:
    settings = {"updates": 20, "validate_every": 10, "validation_batches": 1, "validation_size": 20}
    return Config(
        word="copy",
        task=Copy(delay=3),
        cell=CellConfig(name="gru", hidden=8),
        training=TrainingConfig(batch=4, threads=1, **{**settings, **training}),  # pyright: ignore[reportArgumentType]
        seed=seed,
    )


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, TrainingRun]:
    folder = tmp_path_factory.mktemp("evaluated") / "run"
    return folder, train(config(), folder)


def test_the_same_sequences_give_the_measures_of_the_training(trained):
    folder, run = trained
    found = evaluate_run(folder, batches=100, size=20)
    assert found.accuracy == pytest.approx(run.accuracy, abs=ROUNDING)
    assert found.loss == pytest.approx(run.loss, abs=ROUNDING)
    assert (found.best_update, found.updates) == (run.best_update, run.updates)
    assert (found.trained_delay, found.transfer[0].delay, found.transfer[0].sequences) == (3, 3, 2_000)


def test_every_delay_is_told_in_the_order_asked_for_and_the_last_is_the_answer(trained):
    found = evaluate_run(trained[0], [7, 5], batches=1, size=10)
    assert [one.delay for one in found.transfer] == [7, 5]
    assert (found.loss, found.accuracy) == (found.transfer[-1].loss, found.transfer[-1].accuracy)
    assert found.transfer[0].baseline == pytest.approx(10 * np.log(8) / 27)


def test_long_sequences_are_worked_on_in_smaller_batches_and_as_many_in_all(trained, monkeypatch):
    sizes = []
    monkeypatch.setattr(evaluation, "LARGEST", 8 * 40 * 3)
    plain = Copy.batch

    def seen(self, index, size, **words):
        sizes.append(size)
        return plain(self, index, size, **words)

    monkeypatch.setattr(Copy, "batch", seen)
    (one,) = evaluate_run(trained[0], [20], batches=1, size=10).transfer
    assert one.sequences == 10
    assert sizes == [1, 3, 3, 3, 3]


def test_an_interval_covers_the_truth_as_often_as_it_says():
    random = np.random.default_rng(0)
    kinds = {"independent": 0, "together": 0}
    for _ in range(400):
        right = random.random((300, 10)) < 0.9
        alike = np.repeat(random.random((300, 1)) < 0.9, 10, axis=1)
        for kind, answers in zip(kinds, (right, alike), strict=True):
            low, high = accuracy_interval(answers.mean(axis=1), 10)
            kinds[kind] += low <= 0.9 <= high
    # 95 % of 400 is 380, with a standard deviation of 4.4.
    assert all(360 <= covered <= 398 for covered in kinds.values()), kinds


def test_answers_that_fail_together_widen_the_interval():
    random = np.random.default_rng(1)
    apart = (random.random((1_000, 10)) < 0.9).mean(axis=1)
    alike = (random.random(1_000) < 0.9).astype(float)
    (a, b), (c, d) = accuracy_interval(apart, 10), accuracy_interval(alike, 10)
    assert d - c > 2.5 * (b - a)


def test_a_run_that_is_not_over_gives_the_best_weights_so_far(tmp_path, trained):
    shutil.copytree(trained[0], tmp_path / "run")
    folder = RunFolder(tmp_path / "run")
    from memspan.training.run.checkpoint import read_checkpoint, write_checkpoint

    latest = folder.saved()[0]
    tensors, position = read_checkpoint(folder.checkpoint(latest), "gru")
    write_checkpoint(folder.checkpoint(latest), tensors, dataclasses.replace(position, stopped=None), "gru")
    found = evaluate_run(folder.path, batches=1, size=10)
    assert "the run has not finished; it has done 20 updates" in found.notes
    assert found.best_update == position.best


def test_a_damaged_newest_checkpoint_is_passed_over_and_said(tmp_path, trained):
    shutil.copytree(trained[0], tmp_path / "run")
    folder = RunFolder(tmp_path / "run")
    latest, before = folder.saved()
    folder.checkpoint(latest).write_bytes(b"no tensors")
    found = evaluate_run(folder.path, batches=1, size=10)
    assert found.updates == before
    assert any(note.startswith("skipped: ") and f"{latest:08d}" in note for note in found.notes)
    assert f"readable up to update {before}; memspan resume repeats the rest" in found.notes


def test_a_run_of_which_nothing_can_be_read_is_refused(tmp_path, trained):
    shutil.copytree(trained[0], tmp_path / "run")
    for path in (tmp_path / "run/checkpoints").iterdir():
        path.write_bytes(b"no tensors")
    with pytest.raises(CorruptError, match=r"no checkpoint of .* can be read .*; memspan resume .* starts over"):
        evaluate_run(tmp_path / "run")


def test_a_run_without_a_checkpoint_says_to_wait(tmp_path, trained):
    shutil.copytree(trained[0], tmp_path / "run")
    shutil.rmtree(tmp_path / "run/checkpoints")
    with pytest.raises(InputError, match="has no checkpoint yet; wait for its first validation"):
        evaluate_run(tmp_path / "run")


def test_of_several_seeds_the_one_with_the_lowest_validation_loss_is_taken_and_named(tmp_path):
    runs = [train(config(seed), tmp_path / f"seed-{seed}") for seed in range(3)]
    losses = [float(np.min(run.validation_loss)) for run in runs]
    best = losses.index(min(losses))
    found = evaluate_run(tmp_path, batches=1, size=10)
    assert found.run == str(tmp_path / f"seed-{best}")
    assert found.notes[0] == f"the best of 3 seeds by validation loss: seed-{best}"
    assert found.config["seed"] == best


def test_a_split_that_ends_is_used_whole_and_each_sequence_counts_once(tmp_path):
    task = SequentialDigits(data="digits", steps=8)
    settings = TrainingConfig(
        updates=5, batch=10, validate_every=5, validation_batches=1, validation_size=70, threads=1
    )
    digits = Config(word="digits", task=task, cell=CellConfig(name="gru", hidden=8), training=settings)
    train(digits, tmp_path / "run")
    found = evaluate_run(tmp_path / "run", size=70)
    assert (found.transfer[0].sequences, found.transfer[0].delay, found.distance) == (300, None, None)
    best = load_best(tmp_path / "run")
    batch = task.batch(0, 300, seed=0, split="test")
    with torch.no_grad():
        logits = best.network(batch.inputs, scored=1).logits
    assert found.accuracy == pytest.approx(float((logits.argmax(2) == batch.targets).float().mean()))
    assert found.loss == pytest.approx(float(task.loss(logits, batch)), abs=ROUNDING)
    with pytest.raises(InputError, match="--delay 5: the task digits has no delay"):
        evaluate_run(tmp_path / "run", [5])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ({"split": "tests"}, "there is no split 'tests'"),
        ({"size": 0}, "size is 0; expected a whole number of 1 or more"),
        ({"delays": [0]}, "delay is 0; expected a whole number of 1 or more"),
    ],
)
def test_what_has_no_meaning_is_refused(trained, words, told):
    with pytest.raises(InputError, match=told):
        evaluate_run(trained[0], **words)

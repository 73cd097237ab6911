"""The benchmark of the second goal at tiny sizes: the same network with it and without, in both phases."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from memspan.bench import BENCHMARKS
from memspan.bench.objective import LAPTOP, ObjectiveSizes, objective, trainer_of
from memspan.progress import SILENT
from memspan.reproductions.cao2020.language_models import LANGUAGE_MODELS, ModelKey
from memspan.tasks import WordText

TINY = ObjectiveSizes(words=50, hidden=4, batch=2, steps=3, pairs=2, length=4, rounds=1)


@pytest.fixture(autouse=True)
def small(tmp_path, monkeypatch):
    (tmp_path / "ptb").mkdir()
    for split in ("train", "valid", "test"):
        (tmp_path / f"ptb/ptb.{split}.txt").write_text("one two three four\nfive six\nseven eight nine\n" * 5)
    monkeypatch.setenv("MEMSPAN_DATA", str(tmp_path))


def test_both_phases_are_timed_next_to_a_plain_update():
    found = objective(SILENT, (TINY, replace(TINY, hidden=6, tied=True)))
    assert [benchmark.name.split(",")[0] for benchmark in found] == [
        "update with --bmi base",
        "update with --bmi full",
    ] * 2
    assert len({benchmark.name for benchmark in found}) == 4
    assert all(benchmark.ours > 0 and benchmark.theirs > 0 for benchmark in found)
    assert BENCHMARKS["objective"].function() is objective


def test_the_second_size_is_that_of_the_laptop_recipe():
    config = LANGUAGE_MODELS["laptop"].config(ModelKey("ptb", "full", 0), Path("runs"))
    assert isinstance(config.task, WordText)
    assert (LAPTOP.words, LAPTOP.steps, LAPTOP.batch) == (config.task.most, config.task.steps, config.training.batch)
    assert (LAPTOP.hidden, LAPTOP.hidden) == (config.cell.hidden, config.model.embedding)
    assert (LAPTOP.tied, LAPTOP.dropout) == (config.model.tied, config.model.dropout)
    assert (LAPTOP.pairs, LAPTOP.length) == (config.bmi.pairs, config.bmi.length)


def test_full_is_timed_after_the_switch():
    trainer = trainer_of("full", TINY)
    assert "bmi.effective" not in trainer.step(0, 1.0)
    trainer.switch()
    assert trainer.step(1, 1.0)["bmi.effective"] >= 1

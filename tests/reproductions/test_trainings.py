"""Trainings of recipes: saved, read again, resumed, and never mixed with those of other settings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memspan.errors import InputError
from memspan.progress import SILENT
from memspan.reproductions import reproduce
from memspan.reproductions.trainings import train_all, training_config
from memspan.training import Config

TINY: dict[str, Any] = {
    "task": {"delay": 2},
    "cell": {"hidden": 4},
    "training": {"updates": 4, "validate_every": 2, "validation_batches": 1, "validation_size": 5},
}


def tiny(cell: str = "rnn", seed: int = 0, updates: int = 4) -> Config:
    return training_config("copy", cell, seed, TINY, {"training": {"updates": updates}})


def test_settings_are_the_defaults_with_some_replaced_and_one_thread() -> None:
    config = tiny("orthogonal-rnn", seed=3)
    assert (config.word, config.cell.name, config.cell.hidden, config.seed) == ("copy", "orthogonal-rnn", 4, 3)
    assert (config.training.optimizer, config.training.schedule) == ("rmsprop", "cosine")
    assert (config.training.threads, config.training.device) == (1, "cpu")


def test_finished_trainings_are_read_and_stopped_ones_resumed(tmp_path: Path) -> None:
    configs = {"one": tiny(), "other": tiny("gru")}
    first = train_all(configs, tmp_path, SILENT, workers=1)
    assert {name: run.cell for name, run in first.items()} == {"one": "rnn", "other": "gru"}
    written = (tmp_path / "one" / "result.json").stat().st_mtime_ns
    (tmp_path / "other" / "result.json").unlink()  # as if it had been killed before its end
    again = train_all(configs, tmp_path, SILENT, workers=1)
    assert (tmp_path / "one" / "result.json").stat().st_mtime_ns == written
    for name in configs:
        assert (again[name].loss, again[name].accuracy) == (first[name].loss, first[name].accuracy)
    assert json.loads((tmp_path / "other" / "result.json").read_text())["command"] == "train"


def test_two_processes_give_what_one_gives(tmp_path: Path) -> None:
    configs = {f"seed-{seed}": tiny(seed=seed) for seed in range(2)}
    alone = train_all(configs, tmp_path / "one", SILENT, workers=1)
    both = train_all(configs, tmp_path / "two", SILENT, workers=2)
    assert [run.loss for run in both.values()] == [run.loss for run in alone.values()]


def test_a_folder_of_other_settings_is_refused(tmp_path: Path) -> None:
    train_all({"one": tiny()}, tmp_path, SILENT, workers=1)
    with pytest.raises(InputError, match="holds a training with different settings; give another --out"):
        train_all({"one": tiny(updates=6)}, tmp_path, SILENT, workers=1)


def test_a_recipe_saves_its_networks_in_the_given_folder(tmp_path: Path) -> None:
    first = reproduce("relevance-fig1", scale="smoke", runs=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"copy", "denoise"}
    again = reproduce("relevance-fig1", scale="smoke", runs=tmp_path)
    assert again.claims == first.claims


def test_a_recipe_reports_how_long_its_trainings_took(tmp_path: Path) -> None:
    first = reproduce("relevance-fig1", scale="smoke", runs=tmp_path)
    spent = sum(json.loads(path.read_text())["seconds"] for path in tmp_path.glob("*/result.json")) / 60
    assert first.notes[-1] == f"2 trainings of {spent:.1f} minutes in all, in one thread each."
    assert reproduce("relevance-fig1", scale="smoke", runs=tmp_path).notes == first.notes

"""`memspan diagnose`: the sentence, the files, and what is told when it cannot be done."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from memspan.results import TrainingCosts
from memspan.training import train
from memspan.training.supervised.config import from_json

FIELDS = {
    *("run", "task", "cell", "hidden", "update", "steps", "answers_from", "sequences", "seed", "gradients"),
    *("attention", "relevant", "jacobian", "context", "costs", "notes", "seconds"),
}


def trained(place: Path, cell: str) -> Path:
    training = {"updates": 2, "validate_every": 2, "validation_batches": 1, "validation_size": 5, "threads": 1}
    config = {
        "task": {"name": "copy", "delay": 3},
        "cell": {"name": cell, "hidden": 6},
        "training": {**training, "device": "cpu"},
    }
    train(from_json(config), place)
    return place


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    return trained(tmp_path_factory.mktemp("runs") / "copy-rel-rnn-1", "rel-rnn")


@pytest.fixture(scope="module")
def recurrent(tmp_path_factory) -> Path:
    return trained(tmp_path_factory.mktemp("runs") / "copy-rnn-1", "rnn")


def test_the_sentence_tells_how_far_gradients_and_attention_reach(memspan, run):
    ran = memspan("diagnose", run, "--no-costs", "--sequences", 3, "--quiet")
    assert (ran.status, ran.err) == (0, "")
    first, *rest = ran.out.splitlines()
    assert first.startswith("copy-rel-rnn-1: gradients reach ")
    assert "attention on" in first
    assert any(line.startswith("on the relevant set") for line in rest)
    assert (run / "diagnosis" / "report.html").is_file()
    names = {path.name for path in (run / "diagnosis" / "figures").iterdir()}
    assert names == {
        f"{name}.{kind}" for name in ("gradients", "attention", "relevant", "context") for kind in ("svg", "png")
    }


def test_a_recurrent_network_is_set_beside_theory_and_its_costs_are_drawn(memspan, recurrent, tmp_path, monkeypatch):
    asked = []

    def measured(config, lengths, *, answers, threads, progress) -> TrainingCosts:
        asked.append((lengths, answers))
        assert threads == config.training.threads == 1
        return TrainingCosts(10, 2, np.array(lengths), np.ones(4), 1e6 * np.arange(1.0, 5.0))

    monkeypatch.setattr("memspan.diagnostics.diagnosis.training_costs", measured)
    ran = memspan("diagnose", recurrent, "--sequences", 2, "--delay", 6, "--out", tmp_path / "six")
    assert "(theory: 0." in ran.out.splitlines()[0]
    assert not (recurrent / "diagnosis").exists()
    page = (tmp_path / "six" / "report.html").read_text(encoding="utf-8")
    assert page.count("<figure>") == 6  # gradients, jacobian, spectrum, context, memory, time
    assert asked == [([100, 200, 400, 800], None)]
    assert "copy, delay 6" in page


def test_the_json_is_the_file_and_a_damaged_one_is_told(memspan, run, tmp_path):
    words = ("diagnose", run, "--no-costs", "--sequences", 2, "--loss", "whole", "--json", "--out", tmp_path)
    plain = memspan(*words).plain
    assert plain.keys() >= FIELDS
    assert plain["gradients"].keys() >= {"loss", "answers", "distances", "mean", "low", "high"}
    assert (plain["gradients"]["loss"], plain["gradients"]["answers"]) == ("whole", 23)
    path = tmp_path / "result.json"
    assert json.loads(path.read_text(encoding="utf-8")) == plain
    plain["gradients"]["mean"].pop()
    path.write_text(json.dumps(plain), encoding="utf-8")
    assert "mean and distances differ in length" in memspan("report", tmp_path).error


def test_what_is_no_run_is_told(memspan, tmp_path):
    assert "is not a run" in memspan("diagnose", tmp_path, "--quiet").error
    assert not (tmp_path / "diagnosis").exists()

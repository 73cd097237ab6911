"""Learning rates against their closed forms, as written down by real runs."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from memspan.cells import DetachLSTM
from memspan.training import train
from memspan.training.run.folder import RunFolder
from memspan.training.supervised.build import build
from memspan.training.supervised.defaults import defaults
from memspan.training.supervised.evaluation import score
from memspan.training.supervised.schedule import (
    averaging_triggered,
    full_gradient_start,
    missed_improvements,
    rate_factor,
)
from memspan.training.supervised.trained_model import load_weights


def rates_of(run: Path) -> dict[int, float]:
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return {line["update"]: line["rate"] for line in lines if "rate" in line}


def test_cosine_falls_from_the_learning_rate_to_its_lowest_share_along_half_a_wave(tiny, tmp_path: Path):
    config = tiny(schedule="cosine", lowest_rate=0.1, learning_rate=0.01, updates=20, log_every=1)
    train(config, tmp_path / "run")
    for update, rate in rates_of(tmp_path / "run").items():
        share = 0.1 + 0.9 * (1 + math.cos(math.pi * (update - 1) / 20)) / 2  # the first update is number 0
        assert rate == pytest.approx(0.01 * share)
    assert rate_factor(config.training, 0, []) == 1
    assert rate_factor(config.training, 20, []) == pytest.approx(0.1)


def test_h_detach_has_full_gradients_in_the_last_phase_only(tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    detaching: list[bool] = []
    monkeypatch.setattr(DetachLSTM, "set_detaching", lambda _, on: detaching.append(on))
    config = tiny("detach-lstm", full_gradient=0.25, updates=20)
    assert full_gradient_start(config.training) == 15
    train(config, tmp_path / "run")
    assert detaching == [True] * 15 + [False] * 5


def test_the_last_fifteenth_has_full_gradients_by_default_for_h_detach_alone():
    assert defaults("copy", "detach-lstm")["training"]["full_gradient"] == pytest.approx(1 / 15)
    assert "full_gradient" not in defaults("copy", "lstm")["training"]


def test_annealing_multiplies_the_rate_after_every_validation_that_is_not_the_best(tiny, tmp_path: Path):
    config = tiny(
        schedule="anneal", anneal=0.5, learning_rate=0.3, clip_norm=None, updates=60, log_every=1, validate_every=5
    )
    run = train(config, tmp_path / "run")
    losses = run.validation_loss.tolist()
    assert 0 < missed_improvements(losses) < len(losses)
    best, expected = math.inf, 0.3
    for number, loss in enumerate(losses[:-1], start=1):
        expected *= 1.0 if loss < best else 0.5
        best = min(best, loss)
        assert rates_of(tmp_path / "run")[5 * number + 1] == pytest.approx(expected)


def test_stairs_hold_the_rate_and_then_lower_it_step_by_step(tiny, tmp_path: Path):
    config = tiny(schedule="stairs", hold=4, stair=3, anneal=0.5, learning_rate=0.01, updates=12, log_every=1)
    train(config, tmp_path / "run")
    factors = [rate / 0.01 for rate in rates_of(tmp_path / "run").values()]
    assert factors == pytest.approx([1] * 4 + [0.5] * 3 + [0.25] * 3 + [0.125] * 2)


@pytest.mark.parametrize(
    ("losses", "nonmonotone", "expected"),
    [
        ([], 2, False),
        ([2.0, 1.0, 3.0], 2, False),  # too few to look back
        ([2.0, 1.0, 1.5, 1.4], 2, False),  # 1.4 is below 2.0, the only one that counts
        ([2.0, 1.0, 1.5, 1.4, 1.2], 2, True),  # 1.2 is above 1.0, three before it
        ([2.0, 1.0, 1.5, 1.4, 0.9], 2, False),
        ([1.0, 1.1, 1.2], 1, True),
    ],
)
def test_averaging_begins_when_a_loss_misses_the_best_of_those_some_validations_back(losses, nonmonotone, expected):
    assert averaging_triggered(losses, nonmonotone) is expected


def test_once_averaging_has_begun_the_averages_are_validated_kept_and_restored(tiny, tmp_path: Path):
    config = tiny("rnn", optimizer="nt-asgd", learning_rate=3.0, nonmonotone=1, validate_every=5, updates=60, hidden=4)
    run = train(config, tmp_path / "run")
    folder = RunFolder(tmp_path / "run")
    begun = [
        number for number in range(len(run.validated)) if averaging_triggered(run.validation_loss[:number].tolist(), 1)
    ]
    assert begun  # the case does what it should
    network = build(config)
    position = load_weights(network, config, folder, run.updates)
    assert position.averaging
    found = score(network, config.task, split="valid", batches=1, size=10, seed=0)
    assert found["loss"] == run.validation_loss[-1]

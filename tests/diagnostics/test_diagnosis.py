"""`diagnose` puts together what the functions find, for the best weights of a run."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from memspan.diagnostics import diagnose, gradient_norms, training_costs
from memspan.errors import InputError
from memspan.results import Diagnosis
from memspan.training import Config, train
from memspan.training.supervised.config import from_json
from memspan.training.supervised.trained_model import load_best


def config(cell: str, **task: object) -> Config:
    training = {"updates": 4, "validate_every": 2, "validation_batches": 1, "validation_size": 5, "threads": 1}
    name = {"name": "copy", "delay": 3, **task}
    return from_json({"task": name, "cell": {"name": cell, "hidden": 6}, "training": {**training, "device": "cpu"}})


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    for cell in ("rel-rnn", "rnn"):
        train(config(cell), folder / cell)
    return {cell: folder / cell for cell in ("rel-rnn", "rnn")}


def test_a_cell_with_relevancy_screening_has_attention_and_a_relevant_set(runs):
    found = diagnose(runs["rel-rnn"], sequences=3, costs=False)
    assert (found.cell, found.hidden, found.steps, found.answers_from) == ("rel-rnn", 6, 23, 14)
    assert found.attention is not None
    assert found.relevant is not None
    assert (found.jacobian, found.costs) == (None, None)


def test_the_numbers_are_those_of_the_functions_at_the_best_weights(runs):
    found = diagnose(runs["rnn"], sequences=3, seed=1, costs=False)
    best = load_best(runs["rnn"])
    assert found.update == best.update
    alone = gradient_norms(best.around_cell(), best.config.task, sequences=3, seed=1)
    np.testing.assert_array_equal(found.gradients.mean, alone.mean)
    assert found.jacobian is not None
    assert found.attention is None


def test_another_delay_makes_longer_sequences(runs):
    found = diagnose(runs["rel-rnn"], delay=11, sequences=2, costs=False)
    assert (found.steps, found.task["delay"], found.gradients.distances[-1]) == (31, 11, 30)


def test_it_comes_back_from_its_json(runs):
    found = diagnose(runs["rnn"], sequences=2, costs=False)
    plain = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert Diagnosis.from_json(plain).to_json() == plain


def test_a_training_step_holds_at_least_its_states():
    """(time, batch, hidden) numbers of four bytes; some tens of times that would be a leak."""
    costs = training_costs(config("rnn"), [10_000], threads=1)
    states = 10_000 * 10 * 6 * 4
    assert states < costs.peak[0] < 60 * states
    assert costs.seconds[0] > 0
    assert (costs.batch, costs.threads, costs.steps.tolist()) == (10, 1, [10_000])


def test_a_folder_that_is_not_a_run_is_rejected(tmp_path):
    with pytest.raises(InputError, match="is not a run"):
        diagnose(tmp_path)


def test_a_delay_is_rejected_for_a_task_without_one(tmp_path):
    digits = from_json(
        {
            "task": {"name": "digits", "data": "digits", "steps": 16},
            "cell": {"name": "rnn", "hidden": 3},
            "training": {"updates": 1, "validation_size": 100, "threads": 1, "device": "cpu"},
        }
    )
    train(digits, tmp_path / "run")
    with pytest.raises(InputError, match="delay"):
        diagnose(tmp_path / "run", delay=5)
    found = diagnose(tmp_path / "run", sequences=400, costs=False)
    assert (found.sequences, found.steps) == (300, 16)
    assert any("300" in note for note in found.notes)

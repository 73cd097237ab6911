"""Configurations as JSON: complete, exact there and back, and every mistake told with what was meant."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memspan.cells import CELLS
from memspan.errors import InputError
from memspan.tasks import TASKS
from memspan.training import config_schema
from memspan.training.agents.config import agent_cells, agent_defaults
from memspan.training.run.config import apply_setting, cell_options, merge, read_config_file
from memspan.training.supervised.build import build
from memspan.training.supervised.config import TrainingConfig, from_json, task_class, to_json

COPY = {"task": {"name": "copy"}}


@pytest.mark.parametrize("task", sorted(TASKS))
@pytest.mark.parametrize("cell", sorted(CELLS))
def test_every_task_and_cell_goes_to_json_and_back(task, cell):
    config = from_json({"task": {"name": task}, "cell": {"name": cell}, "seed": 3})
    text = json.dumps(to_json(config))
    assert from_json(json.loads(text)) == config
    plain = json.loads(text)
    assert set(plain) == {"task", "cell", "model", "init", "training", "bmi", "seed"}
    assert set(cell_options(cell)) <= set(plain["cell"])
    assert "layer" not in plain["cell"]


@pytest.mark.parametrize("cell", sorted(CELLS))
def test_every_cell_is_built_from_its_written_options(cell):
    assert build(from_json({**COPY, "cell": {"name": cell, "hidden": 8}})).parameter_count() > 0


@pytest.mark.parametrize(
    ("plain", "words"),
    [
        ({}, "names no task; expected task.name, one of copy, "),
        ({"task": {"name": "cpoy"}}, "there is no task 'cpoy'; did you mean copy?"),
        ({**COPY, "trainning": {}}, "there is no trainning; did you mean training?"),
        ({**COPY, "training": 3}, "training is 3; expected an object"),
        ({"task": {"name": "copy", "delya": 3}}, "there is no task.delya; did you mean delay?"),
        ({"task": {"name": "copy", "delay": 0}}, "delay is 0; expected a whole number of 1 or more"),
        ({"task": {"name": "copy", "delay": 2.5}}, "task.delay is 2.5; expected a whole number"),
        ({**COPY, "cell": {"name": "lstn"}}, "there is no cell 'lstn'; did you mean lstm?"),
        ({**COPY, "cell": {"short_trem": 3}}, "there is no cell.short_trem; did you mean short_term?"),
        ({**COPY, "cell": {"name": "lstm", "short_term": 3}}, "there is no cell.short_term; choose one of"),
        ({**COPY, "cell": {"options": {}}}, "there is no cell.options; choose one of"),
        ({**COPY, "cell": {"hidden": "8"}}, "cell.hidden is '8'; expected a whole number of 1 or more"),
        (
            {**COPY, "cell": {"name": "sab-lstm", "truncate": "a"}},
            "cell.truncate is 'a'; expected a whole number, or null",
        ),
        ({**COPY, "init": {"name": "critcal"}}, "init.name is 'critcal'; did you mean critical?"),
        ({**COPY, "init": {"sigma_w": -1}}, "init.sigma_w is -1; expected a finite number of 0 or more"),
        ({**COPY, "training": {"learning_rat": 1}}, "no training.learning_rat; did you mean learning_rate?"),
        ({**COPY, "training": {"learning_rate": "fast"}}, "learning_rate is 'fast'; expected a finite number above 0"),
        ({**COPY, "training": {"learning_rate": 0}}, "learning_rate is 0; expected a finite number above 0"),
        ({**COPY, "training": {"learning_rate": float("nan")}}, "expected a finite number above 0"),
        ({**COPY, "training": {"clip_norm": True}}, "clip_norm is True; expected a finite number above 0, or null"),
        ({**COPY, "training": {"optimizer": "adan"}}, "optimizer is 'adan'; did you mean adam?"),
        ({**COPY, "training": {"updates": True}}, "updates is True; expected a whole number of 1 or more"),
        ({**COPY, "training": {"updates": None}}, "updates is None; expected a whole number of 1 or more"),
        ({**COPY, "training": {"truncate": 0}}, "truncate is 0; expected a whole number of 1 or more, or null"),
        ({**COPY, "training": {"smoothing": 1}}, "smoothing is 1; expected a number of 0 or more and below 1"),
        (
            {**COPY, "training": {"stop_accuracy": 99.5}},
            "stop_accuracy is 99.5; expected a number from 0 to 1, or null",
        ),
        ({**COPY, "training": {"tensorboard": 1}}, "tensorboard is 1; expected true or false"),
        ({**COPY, "seed": -1}, "seed is -1; expected a whole number of 0 or more"),
        ({**COPY, "seed": "0"}, "seed is '0'; expected a whole number of 0 or more, below 2^63"),
    ],
)
def test_a_mistake_is_told_in_one_line_with_what_was_expected(plain, words):
    with pytest.raises(InputError) as told:
        from_json(plain)
    assert words in str(told.value)
    assert "\n" not in str(told.value)


def test_settings_go_over_an_object_one_key_at_a_time():
    plain = {"task": {"name": "copy"}, "training": {"batch": 10}}
    assert apply_setting(plain, "training.learning_rate=1e-3")["training"] == {"batch": 10, "learning_rate": 1e-3}
    assert apply_setting(plain, "training.clip_norm=null")["training"]["clip_norm"] is None
    assert apply_setting(plain, "cell.name=lstm")["cell"] == {"name": "lstm"}
    assert apply_setting(plain, "training.tensorboard=true")["training"]["tensorboard"] is True
    assert apply_setting(plain, 'training={"updates": 3}')["training"] == {"batch": 10, "updates": 3}
    assert apply_setting(plain, "seed=3")["seed"] == 3
    assert plain == {"task": {"name": "copy"}, "training": {"batch": 10}}


@pytest.mark.parametrize("setting", ["training.batch", "=3", "training.=3", ".batch=3", "a.b.c=3", ""])
def test_a_setting_of_another_form_is_told(setting):
    with pytest.raises(InputError, match=r"expected SECTION\.NAME=VALUE, such as training"):
        apply_setting({}, setting)


def test_objects_are_merged_section_by_section():
    assert merge({"cell": {"name": "lstm", "hidden": 3}, "seed": 1}, {"cell": {"hidden": 4}, "seed": 2}) == {
        "cell": {"name": "lstm", "hidden": 4},
        "seed": 2,
    }


def test_a_file_that_is_no_configuration_is_told(tmp_path: Path):
    path = tmp_path / "config.json"
    with pytest.raises(InputError, match=r"no such file: .*; write one with --show-config"):
        read_config_file(path)
    for text, words in (("{", "cannot be read as JSON"), ("[]", "holds a list; expected an object with task")):
        path.write_text(text)
        with pytest.raises(InputError, match=words):
            read_config_file(path)
    path.write_text(json.dumps(COPY))
    assert read_config_file(path) == COPY


def test_words_stand_for_their_classes():
    assert task_class("copy") is TASKS["copy"]
    with pytest.raises(InputError, match="there is no task 'denoice'; did you mean denoise"):
        task_class("denoice")
    with pytest.raises(InputError, match="there is no cell 'relrnn'; did you mean rel-rnn"):
        cell_options("relrnn")


def test_defaults_of_training_are_sound():
    assert from_json(COPY).training == TrainingConfig()


def test_the_schema_describes_every_task_cell_and_section():
    supervised, agent = config_schema()["anyOf"]
    assert {one["title"] for one in supervised["properties"]["task"]["anyOf"]} == set(TASKS)
    assert {one["title"] for one in supervised["properties"]["cell"]["anyOf"]} == set(CELLS)
    assert {one["title"] for one in agent["properties"]["cell"]["anyOf"]} == set(agent_cells())
    for schema, plain in ((supervised, to_json(from_json(COPY))), (agent, agent_defaults("rel-lstm"))):
        assert set(schema["properties"]) == set(plain)
        for name in set(plain) - {"task", "cell", "seed"}:
            assert set(schema["properties"][name]["properties"]) == set(plain[name]), name
    updates = supervised["properties"]["training"]["properties"]["updates"]
    assert (updates["type"], updates["minimum"], updates["default"]) == ("integer", 1, 10_000)
    assert updates["description"] == "Maximum number of updates."
    json.dumps(config_schema(), allow_nan=False)


@pytest.mark.parametrize(
    ("section", "value", "allowed"),
    [
        ({"learning_rate": 0}, "exclusiveMinimum", 0),
        ({"smoothing": 1}, "exclusiveMaximum", 1),
        ({"stop_accuracy": 2}, "anyOf", [{"maximum": 1, "minimum": 0, "type": "number"}, {"type": "null"}]),
        ({"optimizer": "adan"}, "enum", ["rmsprop", "adam", "sgd", "nt-asgd", "asgd"]),
    ],
)
def test_the_schema_states_the_limits_that_are_enforced(section, value, allowed):
    (name,) = section
    supervised, _ = config_schema()["anyOf"]
    assert supervised["properties"]["training"]["properties"][name][value] == allowed
    with pytest.raises(InputError, match=rf"training\.{name} is "):
        from_json({**COPY, "training": section})


@pytest.mark.parametrize(
    ("data", "values"), [("ptb", (0.1, 1 / 12, 12)), ("wikitext-2", (0.02, 0.005, 10)), ("python", (0.1, 0.1, 12))]
)
def test_the_bmi_regularizer_has_the_defaults_of_its_text(data, values):
    plain = {"task": {"name": "words", "data": data}, "bmi": {"name": "base"}}
    bmi = from_json(plain).bmi
    assert (bmi.weight, bmi.second_weight, bmi.pairs) == pytest.approx(values)
    assert bmi.learning_rate == 2e-4
    given = from_json({**plain, "bmi": {"name": "full", "weight": 0.5, "learning_rate": 1e-3}}).bmi
    assert (given.weight, given.second_weight, given.learning_rate) == pytest.approx((0.5, values[1], 1e-3))
    without = from_json({"task": plain["task"]}).bmi  # so that runs without it are the same as before
    assert (without.weight, without.second_weight, without.pairs) == (0.1, 0.1, 12)

"""Trainings and evaluations on a page: the answer first, every number explained, the configuration, damaged files."""

import dataclasses
import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from memspan.errors import CorruptError
from memspan.presentation import report, sentence
from memspan.presentation.presenter import read_result, section_of
from memspan.results import Evaluation, TrainingRun
from memspan.results.encoding import dumps, to_plain


def load_examples() -> ModuleType:
    path = Path(__file__).parent.parent / "figures" / "training_examples.py"
    spec = importlib.util.spec_from_file_location("memspan_training_examples", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


EXAMPLES = load_examples()


def store(result, command: str, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "result.json"
    path.write_text(dumps({"schema": 1, "command": command, "version": "0.1.0", **result.to_json()}))
    return path


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "training",
            "copy, delay 100, rel-rnn: 99.9 % of recalled symbols right after 8,250 updates (chance 12.5 %)",
        ),
        (
            "without_accuracy",
            "copy, delay 100, rel-rnn: 0.000300 nats after 8,250 updates (without memory 0.173 nats)",
        ),
        (
            "evaluation",
            "copy, delay 5,000, rel-rnn trained at delay 100: 99.2 % [98.9 %, 99.4 %] of recalled symbols right"
            " (chance 12.5 %)",
        ),
        ("without_delay", "digits, lstm: 91.0 % [87.0 %, 94.0 %] of digits right (chance 10 %)"),
    ],
)
def test_the_answer_is_one_sentence(name, said):
    result = getattr(EXAMPLES, name)()
    assert sentence(result) == section_of(result).answer == said


@pytest.mark.parametrize("kind", [TrainingRun, Evaluation])
def test_a_result_comes_back_from_json(kind):
    result = EXAMPLES.training() if kind is TrainingRun else EXAMPLES.evaluation()
    assert to_plain(kind.from_json(result.to_json())) == to_plain(result)


def test_a_training_that_learnt_nothing_says_so_and_what_to_do():
    (note,) = section_of(EXAMPLES.unlearnt()).notes
    assert note.startswith("the answers are hardly better than guesses")
    assert "memspan resume runs/copy-rel-rnn-1 --updates 1000" in note
    assert "a shorter delay or another cell" in note
    assert section_of(EXAMPLES.training()).notes == ()


def test_a_training_that_ran_out_of_time_is_told_to_take_more():
    run = EXAMPLES.unlearnt()
    training = {**run.config["training"], "updates": run.updates + 1, "max_minutes": 0.5}
    (note,) = section_of(dataclasses.replace(run, config={**run.config, "training": training})).notes
    assert "give it more time (memspan resume runs/copy-rel-rnn-1 --max-minutes 1)," in note


def test_of_several_seeds_all_are_gone_on_with(tmp_path):
    (tmp_path / "seeds.json").write_text("{}")
    (note,) = section_of(dataclasses.replace(EXAMPLES.unlearnt(), run=str(tmp_path / "seed-0"))).notes
    assert f"memspan resume {tmp_path} --updates" in note


def test_the_configuration_is_on_the_page_as_set_names_it():
    (table,) = section_of(EXAMPLES.training()).details
    rows = {row[0]: row[1] for row in table.rows}
    assert (rows["task.delay"], rows["cell.name"], rows["training.patience"]) == ("100", '"rel-rnn"', "null")
    assert rows["seed"] == "0"


def test_every_delay_has_its_row():
    (table,) = section_of(EXAMPLES.evaluation()).details
    assert [row[0] for row in table.rows] == ["100", "200", "400", "2,000", "5,000"]
    (plain,) = section_of(EXAMPLES.without_delay()).details
    assert len(plain.header) == len(plain.rows[0]) == len(table.header) - 1


def test_a_run_with_its_evaluation_is_one_page_and_the_training_comes_first(tmp_path):
    store(EXAMPLES.training(), "train", tmp_path)
    store(EXAMPLES.evaluation(), "evaluate", tmp_path / "evaluation")
    page = report(tmp_path).read_text(encoding="utf-8")
    assert page.index("Training rel-rnn on copy") < page.index("What rel-rnn remembers of copy")
    assert page.index("after 8,250 updates") < page.index("Training rel-rnn on copy")
    assert page.count("<svg") == 2


@pytest.mark.parametrize("command", ["train", "resume"])
def test_a_damaged_training_is_refused(tmp_path, command):
    run = dataclasses.replace(EXAMPLES.training(), validation_loss=np.zeros(3))
    path = store(run, command, tmp_path)
    with pytest.raises(CorruptError, match="validation_loss and validated differ in length"):
        read_result(path)


def test_an_evaluation_of_nothing_is_refused(tmp_path):
    path = store(dataclasses.replace(EXAMPLES.evaluation(), transfer=()), "evaluate", tmp_path)
    with pytest.raises(CorruptError, match="damaged"):
        read_result(path)


def test_a_second_goal_is_told_and_drawn(tmp_path):
    path = store(EXAMPLES.with_second_goal(), "train", tmp_path / "full")
    result = read_result(path)
    assert isinstance(result, TrainingRun)
    section = section_of(result)
    rows = {row[0]: row[1] for row in section.table.rows}
    assert rows["neighbours tell"] == "0.879 nats of each other"
    assert rows["pairs told right"] == "72.0 %"
    assert (rows["switch"], rows["weights that count"]) == ("after update 4,000", "6.0 of 12")
    assert [figure.name for figure in section.figures] == ["training", "bound"]
    assert "the switch" in section.figures[1].caption
    page = report(tmp_path).read_text(encoding="utf-8")
    assert "0.879 nats of each other" in page
    assert page.count("<svg") == 2


@pytest.mark.parametrize(("switched", "told"), [(None, "never came"), (0, "made before the first update")])
def test_a_switch_that_is_not_in_the_run_is_told(switched, told):
    run = EXAMPLES.with_second_goal()
    goal = dataclasses.replace(run.second_goal, switched=switched)
    rows = {row[0]: row[1] for row in section_of(dataclasses.replace(run, second_goal=goal)).table.rows}
    assert rows["switch"] == told
    base = dataclasses.replace(goal, name="base", effective=np.full(goal.logged.size, np.nan))
    rows = section_of(dataclasses.replace(run, second_goal=base)).table.rows
    assert {row[0] for row in rows}.isdisjoint({"switch", "weights that count"})


def test_a_second_goal_with_a_missing_number_is_a_damaged_file(tmp_path):
    run = EXAMPLES.with_second_goal()
    goal = dataclasses.replace(run.second_goal, bound=run.second_goal.bound[1:])
    path = store(dataclasses.replace(run, second_goal=goal), "train", tmp_path)
    with pytest.raises(CorruptError, match="bound and logged differ in length"):
        read_result(path)

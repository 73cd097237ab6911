"""The figures of trainings and evaluations: what they show, what they name, and what cannot be drawn."""

import dataclasses
import importlib.util
import json
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure

from memspan.errors import CorruptError, InputError
from memspan.presentation import figures_of, plot, report, sentence, svg_text
from memspan.presentation.presenter import read_result, section_of
from memspan.results import Evaluation, TrainingRun
from memspan.results.encoding import dumps, to_plain


def load_examples() -> ModuleType:
    path = Path(__file__).with_name("training_examples.py")
    spec = importlib.util.spec_from_file_location("memspan_training_examples", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


EXAMPLES = load_examples()


def texts(ax: Axes) -> set[str]:
    return {text.get_text() for text in ax.texts}


def line(ax: Axes, label: str) -> np.ndarray:
    (found,) = [line for line in ax.get_lines() if line.get_label() == label]
    return np.asarray(found.get_xydata())


def test_loss_and_accuracy_stand_side_by_side_with_what_needs_no_memory():
    run = EXAMPLES.training()
    left, right = figures_of(run)["training"].axes
    assert texts(left) == {"without memory 0.173 nats", "saved: update 8,250"}
    assert texts(right) == {"chance 12.5 %", "saved: update 8,250"}
    assert (line(left, "validation") == np.stack([run.validated, run.validation_loss], axis=1)).all()
    assert left.get_yscale() == "log"
    assert right.get_ylim()[0] == 0


def test_the_title_is_the_answer():
    (figure,) = figures_of(EXAMPLES.training()).values()
    assert figure.get_suptitle() == (
        "copy, delay 100, rel-rnn: 99.9 % of recalled symbols correct (chance 12.5 %) after 8,250 updates"
    )


def test_the_baseline_is_on_the_axis_even_where_no_loss_is_near_it():
    run = EXAMPLES.unlearnt()
    left = figures_of(run)["training"].axes[0]
    low, high = left.get_ylim()
    assert low < run.baseline < high


def test_a_training_without_accuracy_has_one_panel():
    (ax,) = figures_of(EXAMPLES.without_accuracy())["training"].axes
    assert ax.get_ylabel() == "loss, nats"


def test_accuracy_is_drawn_against_delay_with_the_trained_one_and_chance_marked():
    evaluation = EXAMPLES.evaluation()
    (ax,) = figures_of(evaluation)["transfer"].axes
    assert texts(ax) == {"trained at delay 100", "chance 12.5 %"}
    assert ax.get_xscale() == "log"
    assert [label.get_text() for label in ax.get_xticklabels()] == ["100", "200", "400", "2,000", "5,000"]
    (drawn,) = ax.containers
    assert isinstance(drawn, ErrorbarContainer)
    points = drawn.lines[0].get_xydata()
    assert np.allclose(points, [(one.delay, one.accuracy) for one in evaluation.transfer])
    assert ax.get_title(loc="left") == ("copy, rel-rnn trained at delay 100: accuracy 99.2 % at delay 5,000")


def test_an_evaluation_without_delays_has_no_figure_and_cannot_be_plotted():
    evaluation = EXAMPLES.without_delay()
    assert figures_of(evaluation) == {}
    with pytest.raises(InputError, match=r"cannot draw a Evaluation; expected .* Evaluation with delays"):
        plot(evaluation, Figure().subplots())


@pytest.mark.parametrize("name", ["training", "without_accuracy", "unlearnt", "evaluation"])
def test_every_figure_is_the_same_twice(name):
    first, second = ([svg_text(f) for f in figures_of(getattr(EXAMPLES, name)()).values()] for _ in range(2))
    assert first == second


def test_a_training_can_be_plotted_on_axes_of_ones_own():
    ax = plot(EXAMPLES.training(), Figure().subplots())
    assert ax.get_xlabel() == "updates"


def test_what_a_text_costs_without_memory_is_told_in_the_unit_of_its_axis():
    run = dataclasses.replace(EXAMPLES.training(), task="characters", accuracy=None)
    left = figures_of(run)["training"].axes[0]
    assert texts(left) == {"without memory 0.250 bits per character", "saved: update 8,250"}
    assert left.get_ylabel() == "loss, bits per character"
    drawn = {line.get_label(): line.get_ydata() for line in left.get_lines()}
    np.testing.assert_allclose(np.asarray(drawn["validation"]), run.validation_loss / np.log(2))


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
            "copy, delay 100, rel-rnn: 99.9 % of recalled symbols correct after 8,250 updates (chance 12.5 %)",
        ),
        ("without_accuracy", "copy, delay 100, rel-rnn: 0.000300 nats after 8,250 updates (without memory 0.173 nats)"),
        (
            "evaluation",
            "copy, delay 5,000, rel-rnn trained at delay 100: 99.2 % [98.9 %, 99.4 %] of recalled symbols correct"
            " (chance 12.5 %)",
        ),
        ("without_delay", "digits, lstm: 91.0 % [87.0 %, 94.0 %] of digits correct (chance 10 %)"),
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
    assert note.startswith("the answers are hardly better than chance")
    assert "memspan resume runs/copy-rel-rnn-1 --updates 1000" in note
    assert "a shorter delay or another cell" in note
    assert section_of(EXAMPLES.training()).notes == ()


def test_a_training_that_ran_out_of_time_is_told_to_take_more():
    run = EXAMPLES.unlearnt()
    training = {**run.config["training"], "updates": run.updates + 1, "max_minutes": 0.5}
    (note,) = section_of(dataclasses.replace(run, config={**run.config, "training": training})).notes
    assert "try more time (memspan resume runs/copy-rel-rnn-1 --max-minutes 1)," in note


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
    path = store(EXAMPLES.training(), command, tmp_path)
    path.write_text(dumps({**json.loads(path.read_text()), "validation_loss": [0.0, 0.0, 0.0]}))
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
    assert rows["segment information"] == "0.879 nats"
    assert rows["pairs classified"] == "72.0 % correct"
    assert (rows["switch"], rows["effective weights"]) == ("after update 4,000", "6.0 of 12")
    assert [figure.name for figure in section.figures] == ["training", "bound"]
    assert "the switch" in section.figures[1].caption
    page = report(tmp_path).read_text(encoding="utf-8")
    assert "0.879 nats" in page
    assert page.count("<svg") == 2


@pytest.mark.parametrize(("switched", "told"), [(None, "not reached"), (0, "before the first update")])
def test_a_switch_that_is_not_in_the_run_is_told(switched, told):
    run = EXAMPLES.with_second_goal()
    goal = dataclasses.replace(run.second_goal, switched=switched)
    rows = {row[0]: row[1] for row in section_of(dataclasses.replace(run, second_goal=goal)).table.rows}
    assert rows["switch"] == told
    base = dataclasses.replace(goal, name="base", effective=np.full(goal.logged.size, np.nan))
    rows = section_of(dataclasses.replace(run, second_goal=base)).table.rows
    assert {row[0] for row in rows}.isdisjoint({"switch", "effective weights"})


def test_a_second_goal_with_a_missing_number_is_a_damaged_file(tmp_path):
    run = EXAMPLES.with_second_goal()
    path = store(run, "train", tmp_path)
    plain = json.loads(path.read_text())
    plain["second_goal"]["bound"].pop()
    path.write_text(dumps(plain))
    with pytest.raises(CorruptError, match="bound and logged differ in length"):
        read_result(path)

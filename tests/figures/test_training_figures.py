"""The figures of trainings and evaluations: what they show, what they name, and what cannot be drawn."""

import dataclasses
import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure

from memspan.errors import InputError
from memspan.presentation import figures_of, plot, svg_text


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
    assert texts(left) == {"without memory 0.173 nats", "kept: update 8,250"}
    assert texts(right) == {"chance 12.5 %", "kept: update 8,250"}
    assert (line(left, "validation") == np.stack([run.validated, run.validation_loss], axis=1)).all()
    assert left.get_yscale() == "log"
    assert right.get_ylim()[0] == 0


def test_the_title_is_the_answer():
    (figure,) = figures_of(EXAMPLES.training()).values()
    assert figure.get_suptitle() == (
        "copy, delay 100, rel-rnn: 99.9 % of recalled symbols right (chance 12.5 %) after 8,250 updates"
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
    assert ax.get_title(loc="left") == (
        "copy, rel-rnn trained at delay 100: 99.2 % of recalled symbols right at delay 5,000"
    )


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
    assert texts(left) == {"without memory 0.250 bits per character", "kept: update 8,250"}
    assert left.get_ylabel() == "loss, bits per character"
    drawn = {line.get_label(): line.get_ydata() for line in left.get_lines()}
    np.testing.assert_allclose(np.asarray(drawn["validation"]), run.validation_loss / np.log(2))

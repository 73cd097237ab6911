"""The tables of `predict` on a terminal: short, complete, and without Python's words for nothing."""

import dataclasses
import importlib.util
import io
import re
from pathlib import Path
from types import ModuleType

import pytest
from rich.console import Console

from memspan.cli.output import write_folder
from memspan.presentation.prediction import show_prediction
from memspan.results import AnyPrediction

MOST_LINES = 22
"""A table that follows a sentence should leave the sentence in sight."""


def load_examples() -> ModuleType:
    path = Path(__file__).parent.parent / "figures" / "prediction_examples.py"
    spec = importlib.util.spec_from_file_location("memspan_prediction_examples", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def predictions() -> ModuleType:
    return load_examples()


def shown(result: AnyPrediction) -> str:
    text = io.StringIO()
    show_prediction(Console(file=text, highlight=False, markup=False, width=120), result)
    return text.getvalue()


def cell(text: str, name: str) -> str:
    found = re.search(rf"^{re.escape(name)}  +(.*?) *$", text, flags=re.MULTILINE)
    assert found is not None, text
    return found[1]


def test_every_case_is_short_and_without_none(predictions):
    for result in predictions.every().values():
        text = shown(result)
        assert text.count("\n") <= MOST_LINES
        assert not re.search(r"\b(nan|None|inf)\b", text)


def test_the_quantities_of_a_fixed_point(predictions):
    text = shown(predictions.ordered())
    assert cell(text, "timescale") == "139 steps (half is left after 96 steps)"
    assert cell(text, "fixed point") == "q 0.9213, Q 0.0006800, c 1.000"
    assert cell(text, "chi") == "0.99283 (numerical error 3.0e-12)"
    assert cell(text, "settings").startswith("sigma_w 6.88, sigma_v 1.39, sigma_b 0, bias mean 6, ")
    assert "note: the input variance is that of z" in text
    assert "reached" not in text


def test_several_branches_are_listed_and_the_reached_one_is_marked(predictions):
    lines = shown(predictions.chaotic()).splitlines()
    assert [line.split()[0] for line in lines if "stable" in line] == ["2.610", "3.020", "3.710"]
    assert next(line for line in lines if "reached from h = 0" in line).split()[0] == "3.710"


def test_what_to_set_is_in_the_table(predictions):
    text = shown(predictions.ordered(wanted=predictions.wanted_bias()))
    assert cell(text, "wanted") == "your data needs 340 steps (novel.txt)"
    assert cell(text, "bias mean") == "7.1 gives 340 steps; every value above it will do"
    text = shown(predictions.ordered(wanted=predictions.wanted_endless()))
    assert cell(text, "bias mean") == "40 gives no end; good from 9.6 on"


def test_a_simulated_cell_shows_its_standard_error(predictions):
    text = shown(predictions.simulated())
    assert cell(text, "chi") == "0.99283 (standard error of chi 0.0021)"
    assert cell(text, "Jacobian").endswith("mean 0.930, variance no theory")


def test_a_linear_network_shows_its_information_at_a_few_lags(predictions):
    text = shown(predictions.linear())
    assert cell(text, "correlation length") == "9.75 steps, in the tail"
    assert [line.split()[0] for line in text.splitlines() if re.match(r" \d", line)] == [
        "1",
        "2",
        "3",
        "5",
        "10",
        "100",
    ]
    assert cell(shown(predictions.exploding()), "process") == "not stationary: started from h = 0"


def test_attention_shows_the_gradient_with_and_without(predictions):
    result = dataclasses.replace(predictions.attention(), sparse_bound=0.0375)
    text = shown(result)
    assert cell(text, "exponent") == "-0.571 (printed -0.7)"
    assert cell(text, "sparse attention") == "gradient at least 0.0375"
    assert re.search(r"1,000 +0\.0386 +nothing", text)


def test_names_with_brackets_are_shown_as_they_are(predictions):
    text = shown(predictions.ordered(wanted=predictions.wanted_bias("[bold]novel[/].txt")))
    assert "([bold]novel[/].txt)" in text


def test_the_folder_holds_the_maps_and_a_page_with_a_question(predictions, tmp_path):
    write_folder(tmp_path, b"{}\n", predictions.ordered(), bits=False)
    names = sorted(path.name for path in (tmp_path / "figures").iterdir())
    assert names == ["dynamics.png", "dynamics.svg", "phase-diagram.png", "phase-diagram.svg"]
    assert "<h1>minimal-rnn: how far back can it remember?</h1>" in (tmp_path / "report.html").read_text()

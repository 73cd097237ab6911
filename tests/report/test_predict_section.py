"""What `predict` found, on a page: the tables of every case, the maps, and damaged files."""

import dataclasses
import importlib.util
import json
import math
import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from memspan.errors import CorruptError
from memspan.presentation import Section, report, sentence
from memspan.presentation.presenter import read_result, section_of
from memspan.results import AnyPrediction, JacobianMoments, Prediction
from memspan.results.encoding import dumps


def load_examples() -> ModuleType:
    path = Path(__file__).parent.parent / "figures" / "prediction_examples.py"
    spec = importlib.util.spec_from_file_location("memspan_prediction_examples", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


EXAMPLES = load_examples()
CASES = EXAMPLES.every()


@pytest.fixture(scope="module")
def predictions() -> ModuleType:
    return EXAMPLES


def told(result: AnyPrediction) -> Section:
    """The section without its figures, which take most of the time."""
    if isinstance(result, Prediction):
        return section_of(dataclasses.replace(result, figures=(), maps=()))
    return section_of(dataclasses.replace(result, figures=()))


def store(result, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    plain = {"schema": 1, "command": "predict", "version": "0.1.0", **result.to_json()}
    path = folder / "result.json"
    path.write_text(dumps(plain), encoding="utf-8")
    return path


def cells(section: Section) -> dict[str, str]:
    return {row[0]: row[1] for row in section.table.rows}


def every_text(section: Section) -> str:
    tables = (section.table, *section.details)
    words = [cell for table in tables for row in table.rows for cell in row]
    return "\n".join([section.title, section.answer, *section.explanation, *section.notes, *words])


@pytest.mark.parametrize("name", CASES)
def test_a_prediction_read_back_from_its_file_says_the_same(tmp_path, name):
    back = read_result(store(CASES[name], tmp_path))
    assert isinstance(back, AnyPrediction)
    assert type(back) is type(CASES[name])
    assert told(back) == told(CASES[name])


def test_a_prediction_read_back_from_its_file_is_drawn_the_same(predictions, tmp_path):
    first, again = (
        section_of(result)
        for result in (predictions.ordered(), read_result(store(predictions.ordered(), tmp_path)))
    )
    assert [figure.name for figure in first.figures] == ["dynamics", "phase-diagram"]
    assert [figure.caption for figure in first.figures] == [
        predictions.dynamics().caption,
        predictions.heat_map().caption,
    ]
    assert again == first


@pytest.mark.parametrize("name", CASES)
def test_every_number_is_explained_and_none_is_shown_as_none(name):
    section = told(CASES[name])
    assert all(len(row) == 3 and all(row) for row in section.table.rows)
    assert not re.search(r"\b(nan|None|inf)\b", every_text(section))
    assert section.answer == sentence(CASES[name])


def test_the_quantities_of_the_fixed_point_are_listed(predictions):
    shown = cells(told(predictions.ordered()))
    assert shown["timescale"] == "139 steps (half is left after 96 steps)"
    assert shown["phase"] == "ordered, on the safe side of the edge of chaos (chi_1 = 0.993)"
    assert (shown["q"], shown["Q"], shown["c"]) == ("0.9213", "0.0006800", "1.000")
    assert (shown["chi"], shown["chi_1"], shown["numerical error"]) == ("0.99283", "0.99283", "3.0e-12")
    assert (shown["variance timescale"], shown["Jacobian, variance"]) == ("112 steps", "0.0191")


def test_an_lstm_is_said_to_be_simulated(predictions):
    section = told(predictions.simulated())
    assert "simulated" in section.explanation[0]
    assert "simulated" in section.notes[0]
    shown = cells(section)
    assert (shown["q"], shown["standard error"]) == ("unknown", "0.0021")
    assert shown["Jacobian, variance"] == "no theory for this cell"


def test_numbers_that_are_missing_are_called_unknown(predictions):
    nothing = dataclasses.replace(
        predictions.ordered(),
        q=math.nan,
        chi=math.nan,
        error=math.nan,
        jacobian=JacobianMoments(10, "gaussian", math.nan, math.nan),
        settings={"bias_mean": math.nan},
    )
    section = told(nothing)
    assert "nan" not in every_text(section).lower()
    assert section.answer.startswith("minimal-rnn, bias mean unknown: ")


def test_branches_are_listed_where_there_are_several(predictions):
    captions = [table.caption for table in told(predictions.ordered()).details]
    assert captions == ["Settings"]
    branches = told(predictions.chaotic()).details[0]
    assert branches.caption.startswith("The variance can settle at 3 places.")
    assert [row[0] for row in branches.rows] == ["", "", "✓ reached"]
    assert branches.rows[1] == ("", "3.020", "0.05100", "no", "1.08", "1.012")


def test_the_wanted_timescale_has_a_table_of_its_own(predictions):
    table = told(predictions.ordered(wanted=predictions.wanted_sigma())).details[0]
    assert [row[:2] for row in table.rows] == [
        ("needed", "340 steps"),
        ("given", "139 steps (half is left after 96 steps)"),
        ("set sigma_w to", "0.98"),
        ("given then", "412 steps"),
        ("good region", "good from 0.97 to 0.99"),
    ]
    endless = told(predictions.ordered(wanted=predictions.wanted_endless())).details[0]
    assert ("given then", "no end") in [row[:2] for row in endless.rows]
    chaotic = told(predictions.chaotic(wanted=predictions.wanted_bias())).details[0]
    assert chaotic.rows[1][1].startswith("chaotic")


def test_a_bound_under_sparse_attention_is_shown_where_there_is_one(predictions):
    assert "bound under sparse attention" not in cells(told(predictions.attention()))
    bounded = dataclasses.replace(predictions.attention(), sparse_bound=0.0375)
    assert cells(told(bounded))["bound under sparse attention"] == "0.0375"


def test_long_curves_are_left_to_the_file(predictions):
    lags = np.arange(1, 400)
    long = dataclasses.replace(predictions.linear(), lags=lags, information=0.5**lags)
    assert [table.caption for table in told(long).details] == ["Settings"]
    assert told(predictions.linear()).details[1].folded


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> str:
    root = tmp_path_factory.mktemp("predictions")
    for name in ("chaotic", "linear", "wanted-bias"):
        store(CASES[name], root / name)
    return report(root).read_text(encoding="utf-8")


def test_the_page_holds_maps_as_pictures_and_needs_no_network(page):
    assert page.count("<svg") == 5
    assert page.count("<image ") == 4  # two maps, each with its colour bar
    assert not re.search(r"https?://", re.sub(r'xmlns(:\w+)?="[^"]*"', "", page))
    links = re.findall(r'(?:href|src)="([^"]*)"', page)
    assert not [link for link in links if not link.startswith(("#", "data:"))]


def test_two_maps_on_one_page_share_no_names(page):
    names = re.findall(r' id="([^"]+)"', page)
    assert len(set(names)) == len(names)
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', page))
    assert used <= set(names)


def test_settings_from_outside_are_escaped(predictions, tmp_path):
    bad = '<script>alert("x")</script>'
    result = dataclasses.replace(
        predictions.ordered(wanted=predictions.wanted_bias(bad)), figures=(), maps=()
    )
    store(result, tmp_path)
    text = report(tmp_path).read_text(encoding="utf-8")
    assert "<script" not in text
    assert text.count("&lt;script&gt;") >= 2


@pytest.mark.parametrize(
    ("name", "change", "complaint"),
    [
        ("ordered", {"cell": None, "q": "x"}, "is damaged .ValueError"),
        ("ordered", {"settings": 5}, "is damaged .AttributeError"),
        ("ordered", {"jacobian": None}, "is damaged .TypeError"),
        ("linear", {"lags": [1, 2]}, "information and lags differ in length"),
        ("attention", {"gradient": [1.0]}, "gradient and distances differ in length"),
        ("attention", {"distances": None}, "is damaged"),
    ],
)
def test_a_damaged_prediction_is_told(predictions, tmp_path, name, change, complaint):
    path = store(predictions.every()[name], tmp_path)
    plain = {**json.loads(path.read_text()), **change}
    path.write_text(dumps(plain))
    with pytest.raises(CorruptError, match=complaint) as caught:
        read_result(path)
    assert str(caught.value).endswith("run the command again")


def test_a_prediction_without_a_cell_is_told(predictions, tmp_path):
    path = store(predictions.ordered(), tmp_path)
    plain = json.loads(path.read_text())
    del plain["cell"]
    path.write_text(dumps(plain))
    with pytest.raises(CorruptError, match="KeyError: 'cell'"):
        read_result(path)


def test_maps_and_lines_of_unequal_length_are_told(predictions, tmp_path):
    path = store(predictions.ordered(), tmp_path)
    whole = json.loads(path.read_text())
    for change, complaint in (
        (lambda plain: plain["maps"][0]["x"].pop(), "values, x and y differ in length in phase-diagram"),
        (lambda plain: plain["maps"][0]["lines"][0]["y"].pop(), "y and x differ in length in phase-diagram"),
        (lambda plain: plain["figures"][0]["lines"][0]["x"].pop(), "y and x differ in length in dynamics"),
    ):
        plain = json.loads(json.dumps(whole))
        change(plain)
        path.write_text(dumps(plain))
        with pytest.raises(CorruptError, match=complaint):
            read_result(path)

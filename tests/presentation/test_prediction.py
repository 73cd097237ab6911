"""What `predict` found, on a page: the tables of every case, the maps, and damaged files."""

import dataclasses
import importlib.util
import io
import json
import math
import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from rich.console import Console

from memspan.cli.output import write_folder
from memspan.errors import CorruptError
from memspan.presentation import Section, present, report, sentence
from memspan.presentation.presenter import read_result, section_of
from memspan.presentation.terminal import show_result
from memspan.results import AnyPrediction, JacobianMoments, Prediction, TimescaleTarget
from memspan.results.encoding import dumps


def load_examples() -> ModuleType:
    path = Path(__file__).parent / "prediction_examples.py"
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
        section_of(result) for result in (predictions.ordered(), read_result(store(predictions.ordered(), tmp_path)))
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
    assert shown["timescale"] == "139 steps (half-life 96 steps)"
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
    assert branches.caption.startswith("The variance has 3 fixed points.")
    assert [row[0] for row in branches.rows] == ["", "", "✓ reached"]
    assert branches.rows[1] == ("", "3.020", "0.05100", "no", "1.08", "1.012")


def test_the_wanted_timescale_has_a_table_of_its_own(predictions):
    table = told(predictions.ordered(wanted=predictions.wanted_sigma())).details[0]
    assert [row[:2] for row in table.rows] == [
        ("needed", "340 steps"),
        ("given", "139 steps (half-life 96 steps)"),
        ("set sigma_w to", "0.98"),
        ("given then", "412 steps"),
        ("good region", "good from 0.97 to 0.99"),
    ]
    endless = told(predictions.ordered(wanted=predictions.wanted_endless())).details[0]
    assert ("given then", "an infinite timescale") in [row[:2] for row in endless.rows]
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
    result = dataclasses.replace(predictions.ordered(wanted=predictions.wanted_bias(bad)), figures=(), maps=())
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


def test_an_ordered_network_says_how_fast_signals_fade(predictions):
    assert sentence(predictions.ordered()) == (
        "minimal-rnn, bias mean 6: signals fade by half every 96 steps (timescale 139 steps); "
        "ordered, on the safe side of the edge of chaos (chi_1 = 0.993)"
    )


def test_a_critical_network_is_at_the_edge_of_chaos(predictions):
    assert sentence(predictions.critical()) == (
        "minimal-rnn, bias mean 0: signals fade by half every 577 steps (timescale 833 steps); "
        "at the edge of chaos (chi_1 = 0.999, within 0.005 of 1)"
    )
    said = sentence(predictions.endless())
    assert said.startswith("minimal-rnn, bias mean 0: signals neither fade nor grow; at the edge of chaos")


def test_a_chaotic_network_says_how_fast_states_part_and_where_they_end(predictions):
    assert sentence(predictions.chaotic()) == (
        "minimal-rnn, bias mean 2: chaotic: two nearby states drift apart by a factor 1.059 every step "
        "(chi_1 = 1.12), and the correlation settles at c = 0.771; "
        "a difference of inputs is forgotten over a timescale of 10.6 steps"
    )


def test_the_distance_of_chaotic_states_grows_by_the_root_of_chi_1(predictions):
    said = sentence(dataclasses.replace(predictions.chaotic(), chi1=4.0))
    assert "drift apart by a factor 2 every step (chi_1 = 4)" in said


def test_a_network_that_forgets_at_once_has_no_timescale(predictions):
    said = sentence(predictions.forgetful())
    assert said.startswith("rnn, sigma_w 0: signals have no timescale, because chi = 0 is not above 0; ordered")


def test_what_data_need_is_set_against_what_the_weights_give(predictions):
    assert sentence(predictions.ordered(wanted=predictions.wanted_bias())) == (
        "minimal-rnn, bias mean 6: your data needs 340 steps (novel.txt), these weights give 139, "
        "set the bias mean to 7.1 (every value above it will do)"
    )
    said = sentence(predictions.ordered(wanted=predictions.wanted_bias("novel.txt, at least")))
    assert "your data needs at least 340 steps (novel.txt), these weights" in said


def test_a_narrow_region_is_told_with_both_ends(predictions):
    said = sentence(predictions.ordered(wanted=predictions.wanted_sigma()))
    assert said.endswith("you want 340 steps, these weights give 139, set sigma_w to 0.98 (good from 0.97 to 0.99)")
    assert said.startswith("minimal-rnn, sigma_w 6.88: ")


def test_weights_that_suffice_are_left_alone(predictions):
    enough = predictions.wanted_bias("--timescale", 138.0)
    said = "you want 138 steps, these weights already give 139: nothing to change"
    assert sentence(predictions.ordered(wanted=enough)).endswith(said)
    endless = dataclasses.replace(predictions.endless(), wanted=enough)
    assert sentence(endless).endswith("these weights already let nothing fade: nothing to change")


def test_a_chaotic_network_never_suffices(predictions):
    said = sentence(predictions.chaotic(wanted=predictions.wanted_bias("--timescale", 5.0)))
    assert "you want 5 steps, these weights are chaotic (chi_1 = 1.12), set the bias mean to 7.1" in said


def test_a_value_at_which_nothing_fades_is_told_like_any_other(predictions):
    assert sentence(predictions.ordered(wanted=predictions.wanted_endless())).endswith(
        "you want 5,000 steps, these weights give 139, set the bias mean to 40 (good from 9.6 on)"
    )


@pytest.mark.parametrize(
    ("value", "low", "high", "said"),
    [
        (7.0934, 7.0934, None, "to 7.1 (every value above it will do)"),
        (0.4571, None, 0.4571, "to 0.45 (every value below it will do)"),
        (8.0, 7.0934, None, "to 8 (good from 7.1 on)"),
        (3.0, None, 3.4999, "to 3 (good up to 3.49)"),
        (0.97123, 0.97123, 0.97131, "to 0.97123 (good from 0.97123 to 0.97131)"),
        (0.971234, 0.971234, 0.9893, "to 0.972 (good from 0.972 to 0.989)"),
        (1.0, None, None, "to 1 (every value from -10 to 20 will do)"),
        (1.23456, 1.23456, 1.23456, "to 1.23456 (no other value will do)"),
        (-0.001, -0.001, 0.5, "to 0 (good from 0 to 0.5)"),
    ],
)
def test_what_is_printed_to_set_lies_inside_the_good_region(predictions, value, low, high, said):
    wanted = TimescaleTarget(340.0, "bias_mean", value, 345.0, low, high, (-10.0, 20.0), "--timescale")
    text = sentence(predictions.ordered(wanted=wanted))
    assert text.endswith(said)
    printed = re.search(r"mean to (-?[\d.]+) ", text)
    assert printed is not None
    assert low is None or float(printed[1]) >= low
    assert high is None or float(printed[1]) <= high


def test_a_linear_network_says_how_fast_information_halves(predictions):
    assert sentence(predictions.linear()) == (
        "linear, 3 hidden and 2 visible: information halves every 6.8 steps in the tail "
        "(correlation length 9.75 steps, rate 0.95)"
    )
    assert sentence(predictions.exploding()) == (
        "linear, 3 hidden and 2 visible: this network remembers only its initial condition "
        "(spectral radius 1.02); started from h = 0, 1.40e-5 nats are left after 100 steps"
    )
    short = dataclasses.replace(predictions.linear(), rate=0.0, correlation_length=0.0)
    assert sentence(short).endswith("information ends after a few steps (rate 0)")


@pytest.mark.parametrize(
    ("eigenvalue", "said"),
    [
        (
            0.3,
            "attention, eigenvalue 0.3: gradients fall as T^-0.571, not exponentially (T^-0.7 as printed in the "
            "source); after 1,000 steps 0.0386 is left, nothing without attention",
        ),
        (
            0.5,
            "attention, eigenvalue 0.5: gradients neither fade nor grow with the distance T (T^-0.5 as printed in "
            "the source); after 1,000 steps the gradient is 2, nothing without attention",
        ),
        (
            0.7,
            "attention, eigenvalue 0.7: gradients grow as T^1.33 (T^-0.3 as printed in the source); "
            "after 1,000 steps the gradient is 20,000, 1.25e-155 without attention",
        ),
        (
            complex(0.4, -0.6928),
            "attention, eigenvalue 0.4 - 0.693i: gradients fall as T^-1.29, not exponentially (T^-0.6 as printed "
            "in the source); after 1,000 steps 0.000278 is left, 1.2e-97 without attention",
        ),
        (
            0.0,
            "attention, eigenvalue 0: gradients fall as T^-1, not exponentially; "
            "after 1,000 steps 0.002 is left, nothing without attention",
        ),
    ],
)
def test_attention_says_the_corrected_and_the_printed_exponent(predictions, eigenvalue, said):
    assert sentence(predictions.attention(eigenvalue)) == said


MOST_LINES = 22
"""A table that follows a sentence should leave the sentence in sight."""


def shown(result: AnyPrediction) -> str:
    text = io.StringIO()
    show_result(Console(file=text, highlight=False, markup=False, width=120), result)
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
    assert cell(text, "timescale") == "139 steps (half-life 96 steps)"
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
    assert cell(text, "target") == "your data needs 340 steps (novel.txt)"
    assert cell(text, "bias mean") == "7.1 gives 340 steps; every value above it will do"
    text = shown(predictions.ordered(wanted=predictions.wanted_endless()))
    assert cell(text, "bias mean") == "40 gives an infinite timescale; good from 9.6 on"


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
    write_folder(tmp_path, "predict", present(predictions.ordered()))
    names = sorted(path.name for path in (tmp_path / "figures").iterdir())
    assert names == ["dynamics.png", "dynamics.svg", "phase-diagram.png", "phase-diagram.svg"]
    assert "<h1>minimal-rnn: how far back can it remember?</h1>" in (tmp_path / "report.html").read_text()

"""The page: self-contained, escaped, complete, and the same when made again from JSON."""

import dataclasses
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from memspan.errors import CorruptError, InputError
from memspan.presentation import Section, render, report, write_report
from memspan.presentation.curve import span_value
from memspan.presentation.page.section import TextTable
from memspan.presentation.presenter import section_of
from memspan.results import Influence, Measurement, Period
from memspan.results.encoding import dumps

_NAMESPACE = re.compile(r'xmlns(:\w+)?="[^"]*"')


def store(result, command: str, folder) -> None:
    folder.mkdir(parents=True)
    plain = {"schema": 1, "command": command, "version": "0.1.0", **result.to_json()}
    (folder / "result.json").write_text(dumps(plain), encoding="utf-8")


def cells(section: Section) -> dict[str, str]:
    return {row[0]: row[1] for row in section.table.rows}


class Balance(HTMLParser):
    """Checks that tags close in the order they opened, and collects the names given."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.names += [value for key, value in attrs if key == "id" and value]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.names += [value for key, value in attrs if key == "id" and value]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def measured(examples) -> Section:
    return section_of(examples.measurement())


@pytest.fixture(scope="module")
def folder(examples, tmp_path_factory):
    root = tmp_path_factory.mktemp("results")
    store(examples.measurement(), "measure", root / "a")
    store(examples.comparison(), "compare", root / "b" / "deep")
    store(examples.reproduction(), "reproduce", root / "c")
    store(examples.bench_report(), "bench", root / "d")
    return root


@pytest.fixture(scope="module")
def page(folder) -> str:
    path = report(folder)
    assert path == folder / "report.html"
    return path.read_text(encoding="utf-8")


def test_the_page_needs_no_network_and_no_script(page):
    assert not re.search(r"https?://", _NAMESPACE.sub("", page))
    assert not re.search(r"<(script|link|img|iframe)\b|@import|@font-face", page)
    outside = [link for link in re.findall(r'(?:href|src)="([^"]*)"', page) if not link.startswith(("#", "data:"))]
    assert not outside


def test_the_page_is_well_formed_and_every_name_is_given_once(page):
    balance = Balance()
    balance.feed(page)
    assert not balance.open
    assert len(set(balance.names)) == len(balance.names)
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', page))
    assert used <= set(balance.names)


def test_every_result_is_on_the_page_in_the_order_of_its_path(page):
    origins = re.findall(r'class="origin">From ([^<]*)<', page)
    assert origins == ["a/result.json", "b/deep/result.json", "c/result.json", "d/result.json"]
    assert page.count("<svg") == 5  # a measurement has two: the curve, and the residuals of its law


def test_the_answers_come_first(page):
    answers = re.findall(r'<li><a href="#section-\d">([^<]*)</a>', page)
    assert answers[0].startswith(
        "novel.txt: reach 246 [221, 276] characters at 0.001 nats; dependence visible to 8,228 characters"
    )
    assert len(answers) == 4
    assert page.index("Summary") < page.index("<section")


def test_making_the_page_again_gives_the_same_bytes(folder, page):
    assert report(folder).read_text(encoding="utf-8") == page


def test_a_measurement_read_back_from_json_gives_the_same_section(examples, measured):
    measurement = examples.measurement()
    back = Measurement.from_json(json.loads(json.dumps(measurement.to_json())))
    assert section_of(back) == measured


def test_what_comes_from_outside_is_escaped(examples, tmp_path):
    bad = '<script>alert("x")</script>'
    measurement = dataclasses.replace(examples.measurement(path=bad), notes=(bad,))
    path = write_report([measurement], tmp_path / "page.html", bad)
    text = path.read_text(encoding="utf-8")
    assert "<script" not in text
    assert text.count("&lt;script&gt;") >= 4


def test_a_dollar_in_a_title_is_a_dollar():
    section = Section("$title", "costs $5", (), TextTable("", (), ()), ())
    text = render([section], "$$")
    assert "<h1>$$</h1>" in text
    assert "<h2>$title</h2>" in text


def test_the_measurements_table_explains_every_number(measured):
    section = measured
    assert cells(section)["span"] == "8,228 characters"
    assert cells(section)["reach"] == "246 [221, 276] characters at 0.001 nats"
    assert cells(section)["best law"] == "power law"
    assert cells(section)["significant lags"] == "46 of 49"
    assert cells(section)["floor at lag 10,000"] == "0.000400 ± 0.000030 nats"
    assert all(meaning for _, _, meaning in section.table.rows)
    assert "more data may show more" in section.table.rows[0][2]
    assert section.notes == ("one document: the floor is from far circular shifts", "a remark")


def test_laws_are_listed_by_weight_and_called_a_guide(measured):
    table = measured.details[0]
    assert [row[0] for row in table.rows] == ["power law", "power law with a cutoff", "exponential"]
    assert table.rows[0] == ("power law", "amplitude 0.10 [0.09, 0.11] nats; exponent 0.81 [0.78, 0.84]", "97 %", "yes")
    assert table.rows[2][3] == "no"
    assert "guide" in table.caption


def test_where_no_law_fits_the_local_exponents_are_listed_and_explained(examples, measured):
    section = section_of(examples.without_law())
    assert cells(section)["law"].startswith("no simple law fits; local exponent 1.8 at lags 1-10")
    assert section.details[0].header == ("lags", "exponent")
    assert section.details[0].rows == (
        ("1-10", "1.8 [1.7, 1.9]"),
        ("10-100", "0.92 [0.88, 0.96]"),
        ("100-1,000", "0.41 [0.33, 0.49]"),
    )
    assert any(paragraph.startswith("No simple law fits") for paragraph in section.explanation)
    assert "residuals" not in str(measured.explanation)


def test_the_residuals_of_the_law_stand_under_the_curve(examples, measured):
    assert [figure.name for figure in measured.figures] == ["information", "residuals"]
    assert "so the law fits" in measured.figures[1].caption
    assert "show where the law fails" in section_of(examples.without_law()).figures[1].caption
    assert [figure.name for figure in section_of(examples.independent()).figures] == ["information"]


def test_a_period_and_an_influential_stretch_have_rows_and_explanations(examples):
    period = Period(3, 0.05, (0.04, 0.06), 15, 1e-6)
    influence = Influence(0.63, 100, 1000, 12, 12, 64, 412_000, 420_000, document=3)
    section = section_of(dataclasses.replace(examples.measurement(), period=period, influence=influence))
    assert cells(section)["period"] == "period 3: I is 0.050 nats higher at multiples"
    assert cells(section)["influential stretch"] == "about characters 412,000 to 419,999 (document 3)"
    meaning = next(row[2] for row in section.table.rows if row[0] == "influential stretch")
    assert "block 12 of 64, 63 % of the information at lags 100 to 1,000 is gone" in meaning
    assert [figure.name for figure in section.figures] == ["information"]
    assert any("has a period" in paragraph for paragraph in section.explanation)
    assert any("One stretch carries most" in paragraph for paragraph in section.explanation)


def test_silence_and_censoring_are_explained(examples):
    silent = cells(section_of(examples.independent()))
    assert silent["span"] == "none visible"
    assert silent["law"] == "none"
    assert silent["reach"] == "none: the corrected information is never above 0.001 nats"
    assert (
        span_value(examples.measurement(last=60).curve, "chars") == "at least 60 characters, the largest lag measured"
    )


def test_numbers_of_every_lag_are_listed_unless_they_are_too_many(examples):
    few, many = (
        [table for table in section_of(examples.measurement(lags=np.arange(1, last))).details if table.folded]
        for last in (61, 302)
    )
    assert len(few[0].rows) == 60
    assert few[0].folded
    assert not many


def test_claims_show_paper_corrected_measured_and_a_mark(examples):
    section = section_of(examples.reproduction())
    assert section.details[0].rows == (
        ("✓ holds", "the exponent 0.5 is recovered", "0.5", "", "0.493", "± 0.020"),
        ("✓ holds", "Eq. 47's constant", "3.94", "0.7025", "0.7025", "± 0.0010"),
        ("✗ does not hold", "training reaches 99 % within 8,000 updates", "0.99", "", "0.29", "± 0.010"),
    )
    assert section.figures[0].caption == "Measured points follow the exact law until the floor takes over."


def test_a_comparison_tells_each_pair_and_shared_notes_once(examples):
    section = section_of(examples.comparison())
    assert section.table.rows[0][:2] == ("train and valid", "different (p < 0.0001)")
    assert "At lags 1 to 3." in section.table.rows[0][2]
    assert section.notes[0] == "train, valid: one document: the floor is from far circular shifts"


def test_a_benchmark_table_has_both_numbers_and_the_ratio(examples):
    rows = section_of(examples.bench_report()).details[0].rows
    assert rows[0] == ("pair counts, 256 symbols", "numpy.histogram2d", "0.800", "19.2", "s", "24")


def test_no_results_say_what_to_do(tmp_path):
    with pytest.raises(InputError, match=r"no result\.json below .*; run a command with --out"):
        report(tmp_path)
    with pytest.raises(InputError, match="is not a folder"):
        report(tmp_path / "missing")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "cannot read .* as JSON"),
        ("[]", "is not a memspan result"),
        ('{"command": "dance"}', "is of the command 'dance'"),
        ('{"command": "measure"}', "is damaged .KeyError"),
        ('{"command": "bench", "machine": "m", "benchmarks": 5, "seconds": 1}', "is damaged .TypeError"),
    ],
)
def test_an_unreadable_result_is_told_and_no_page_is_written(examples, tmp_path, text, complaint):
    store(examples.bench_report(), "bench", tmp_path / "good")
    (tmp_path / "result.json").write_text(text)
    with pytest.raises(CorruptError, match=complaint):
        report(tmp_path)
    assert not (tmp_path / "report.html").exists()


def test_lists_of_different_length_are_told(examples, tmp_path):
    plain = {"command": "measure", **examples.independent().to_json()}
    plain["floor"] = plain["floor"][:-1]
    (tmp_path / "result.json").write_text(dumps(plain))
    with pytest.raises(CorruptError, match="floor and lags differ in length"):
        report(tmp_path)

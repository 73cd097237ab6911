"""`memspan report`: one page of every result below a folder."""

from __future__ import annotations


def test_results_of_several_commands_come_onto_one_page(memspan, novel, twin, tmp_path):
    memspan("measure", novel, "--lags", "1:5", "--out", tmp_path / "one")
    memspan("compare", f"first={novel}", f"second={twin}", "--lags", "1:5", "--out", tmp_path / "two")
    ran = memspan("report", tmp_path)
    assert ran.out.splitlines()[0] == f"{tmp_path / 'report.html'}: 2 results on one page"
    page = (tmp_path / "report.html").read_text()
    assert "novel.txt" in page
    assert "first and second" in page


def test_the_page_can_be_made_again_and_json_names_it(memspan, novel, tmp_path):
    memspan("measure", novel, "--lags", "1:5", "--out", tmp_path)
    plain = memspan("report", tmp_path, "--json").plain
    assert plain["path"] == str(tmp_path / "report.html")
    assert plain["results"] == [str(tmp_path / "result.json")]


def test_a_result_of_an_unknown_kind_is_refused(memspan, tmp_path):
    (tmp_path / "result.json").write_text('{"schema": 1, "command": "dance"}')
    assert "is of the command 'dance'" in memspan("report", tmp_path).error


def test_a_damaged_result_is_refused(memspan, tmp_path):
    (tmp_path / "result.json").write_text('{"schema": 1, "command": "meas')
    assert "cannot read" in memspan("report", tmp_path).error

"""`memspan compare`: verdicts, checks, and what it refuses."""

from __future__ import annotations

import pytest


def test_sources_that_differ_are_called_different(memspan, novel, stranger):
    ran = memspan("compare", f"a={novel}", f"b={stranger}", "--max-lag", 30)
    assert ran.status == 0
    assert ran.out.startswith("a and b differ at lags of 1")
    assert "detection limits with 20,000 symbols" in ran.out


def test_json_holds_a_measurement_of_every_source_and_a_verdict_per_pair(memspan, novel, twin, stranger):
    words = (f"a={novel}", f"b={twin}", f"c={stranger}")
    plain = memspan("compare", *words, "--max-lag", 30, "--json").plain
    assert plain["size"] == 20_000
    assert list(plain["sources"]) == ["a", "b", "c"]
    assert plain["sources"]["a"]["paths"] == [str(novel)]
    verdicts = {(pair["a"], pair["b"]): pair["verdict"] for pair in plain["pairs"]}
    assert verdicts == {("a", "b"): "alike", ("a", "c"): "different", ("b", "c"): "different"}


@pytest.mark.parametrize(("expected", "status"), [("different", 0), ("alike", 1)])
def test_an_expectation_turns_the_verdict_into_a_check(memspan, novel, stranger, expected, status):
    words = (f"a={novel}", f"b={stranger}", "--max-lag", 30, "--json", "--expect", expected)
    ran = memspan("compare", *words)
    assert ran.status == status
    assert ran.plain["pairs"][0]["verdict"] == "different"
    assert ("does not hold: expected alike, found a and b: different" in ran.err) == (status == 1)


def test_a_check_that_fails_still_writes_the_folder(memspan, novel, stranger, tmp_path):
    words = (f"a={novel}", f"b={stranger}", "--lags", "1:5", "--expect", "alike", "--out", tmp_path)
    assert memspan("compare", *words).status == 1
    assert (tmp_path / "result.json").exists()
    assert (tmp_path / "figures/comparison.svg").exists()
    assert "do they remember alike?" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("a=x.txt",), "got one source; expected two or more"),
        (("x.txt", "y.txt"), "'x.txt' has no name; expected NAME=SOURCE"),
        (("a=x.txt", "a=y.txt"), "the name 'a' is used twice"),
        (("a=-", "b=-"), "standard input can be used for one source only"),
        (("a=x.counts", "b=y.txt"), "x.counts holds counts"),
        (("a=missing.txt", "b=missing.txt"), "no such file or folder: missing.txt"),
        (("a=run:runs/1", "b=x.txt"), "runs/1 is not a run (it has no config.json)"),
        (("a=x.txt", "b=y.txt", "--expect", "equal"), "--expect"),
    ],
)
def test_wrong_words_are_refused_in_one_line(memspan, words, message):
    assert message in memspan("compare", *words).error


def test_a_lag_beyond_the_shortest_source_is_refused(memspan, novel, tmp_path):
    (tmp_path / "short.txt").write_text("abcd" * 20)
    ran = memspan("compare", f"a={novel}", f"b={tmp_path / 'short.txt'}", "--lags", "1,500")
    assert "lag 500 is longer than the longest document (80 symbols)" in ran.error


def test_characters_and_words_are_compared_only_by_force(memspan, novel, tmp_path):
    (tmp_path / "values.csv").write_text("x\n" + "\n".join(str(k * 7919 % 1000) for k in range(3000)))
    words = ("compare", f"a={novel}", f"b={tmp_path / 'values.csv'}", "--lags", "1:3", "--json")
    error = memspan(*words).error
    assert "different symbols (a has chars, b has numbers)" in error
    assert "--force" in error
    assert memspan(*words, "--force").status == 0

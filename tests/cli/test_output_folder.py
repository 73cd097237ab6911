"""What `--out DIR` may overwrite, what it leaves, and options that would do nothing."""

from __future__ import annotations

import json
import shutil

import pytest


def parts(folder):
    return sorted((folder / "counts").glob("*.counts"))


def test_counts_are_removed_when_the_measurement_is_done(memspan, novel, tmp_path):
    assert memspan("measure", novel, "--max-lag", 5, "--out", tmp_path).status == 0
    assert not (tmp_path / "counts").exists()


def test_counts_are_kept_where_that_is_asked_for(memspan, novel, tmp_path):
    memspan("measure", novel, "--max-lag", 5, "--out", tmp_path, "--keep-counts")
    kept = parts(tmp_path)
    assert kept
    memspan("measure", novel, "--max-lag", 5, "--out", tmp_path)
    assert parts(tmp_path) == kept  # asked for once, they stay


def test_counts_of_counts_only_are_never_removed(memspan, novel, tmp_path):
    memspan("measure", novel, "--max-lag", 5, "--out", tmp_path, "--counts-only")
    kept = parts(tmp_path)
    assert kept
    memspan("measure", novel, "--max-lag", 5, "--out", tmp_path)
    assert parts(tmp_path) == kept


def test_a_run_that_was_stopped_leaves_counts_and_the_next_one_removes_them(memspan, novel, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("memspan.cli.output.write_folder", interrupted)
        assert memspan("measure", novel, "--max-lag", 5, "--out", tmp_path).status == 130
    assert parts(tmp_path)
    memspan("measure", novel, "--max-lag", 5, "--out", tmp_path)
    assert not (tmp_path / "counts").exists()


def test_the_same_source_is_measured_again_into_the_same_folder(memspan, novel, tmp_path, monkeypatch):
    memspan("measure", novel, "--max-lag", 5, "--out", tmp_path)
    monkeypatch.chdir(novel.parent)
    again = memspan("measure", novel.name, "--max-lag", 6, "--out", tmp_path)  # the same file in other words
    assert again.status == 0
    assert json.loads((tmp_path / "result.json").read_text())["lags"][-1] == 6


def test_the_result_of_another_source_is_overwritten_by_force_only(memspan, novel, twin, tmp_path):
    memspan("measure", novel, "--max-lag", 5, "--out", tmp_path)
    before = (tmp_path / "result.json").read_bytes()
    error = memspan("measure", twin, "--max-lag", 5, "--out", tmp_path).error
    assert f"holds the result of measure {novel}" in error
    assert f"this is measure {twin}" in error
    assert "--force" in error
    assert (tmp_path / "result.json").read_bytes() == before
    assert memspan("measure", twin, "--max-lag", 5, "--out", tmp_path, "--force").status == 0
    assert (tmp_path / "result.json").read_bytes() != before


@pytest.mark.parametrize(
    "words",
    [
        ("predict", "linear"),
        ("memorize", "abab"),
        ("reproduce", "errata-04", "--scale", "smoke"),
        ("bench", "measure"),
        ("demo",),
    ],
    ids=lambda words: words[0],
)
def test_no_command_overwrites_the_result_of_another(memspan, novel, tmp_path, words):
    memspan("measure", novel, "--max-lag", 5, "--out", tmp_path)
    assert "holds the result of measure" in memspan(*words, "--out", tmp_path).error


@pytest.mark.parametrize(
    ("first", "second"),
    [(("predict", "linear"), ("predict", "attention")), (("memorize", "abab"), ("memorize", "aab"))],
)
def test_a_command_overwrites_its_own_result_of_the_same_thing(memspan, tmp_path, first, second):
    for _ in range(2):
        assert memspan(*first, "--out", tmp_path).status == 0
    assert "choose another folder, or overwrite it with --force" in memspan(*second, "--out", tmp_path).error


def test_a_comparison_is_known_by_its_names_and_files(memspan, novel, twin, stranger, tmp_path):
    words = ("--max-lag", 5, "--out", tmp_path)
    for _ in range(2):
        assert memspan("compare", f"a={novel}", f"b={twin}", *words).status == 0
    assert "holds the result of compare" in memspan("compare", f"a={novel}", f"b={stranger}", *words).error
    assert "holds the result of compare" in memspan("measure", novel, *words).error


def test_a_file_that_is_no_result_is_not_overwritten(memspan, novel, tmp_path):
    (tmp_path / "result.json").write_text("mine")
    error = memspan("measure", novel, "--max-lag", 5, "--out", tmp_path).error
    assert "an unreadable result.json" in error
    assert (tmp_path / "result.json").read_text() == "mine"


def test_paper_figures_are_written_as_pdf_too_and_the_report_keeps_its_own(memspan, novel, tmp_path):
    memspan("measure", novel, "--max-lag", 20, "--out", tmp_path, "--style", "paper")
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == [
        "information.pdf",
        "information.png",
        "information.svg",
    ]
    assert 'width="244.8pt"' in (tmp_path / "figures/information.svg").read_text()
    assert 'width="244.8pt"' not in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--levels", 4), "--levels 4 is for numbers, and {source} is read as chars"),
        (("--column", "a"), "--column is for numbers"),
        (("--key", "a"), "--key is for json"),
        (("--transform", "difference"), "--transform is for numbers"),
        (("--documents", "<|end|>"), "--documents '<|end|>' has no effect"),
        (("--documents", "line"), "--documents 'line' has no effect"),
        (("--sample", 1000), "--sample 1000 is for generative models"),
        (("--temperature", 0.5), "--temperature 0.5 is for generative models"),
        (("--force",), "--force "),
        (("--style", "paper"), "--style paper has no effect without an output folder"),
    ],
)
@pytest.mark.parametrize("command", ["measure", "compare"])
def test_options_that_would_do_nothing_are_refused(memspan, novel, twin, command, words, said):
    sources = (novel,) if command == "measure" else (f"a={novel}", f"b={twin}")
    assert said.format(source=novel) in memspan(command, *sources, *words).error


def test_counts_are_not_kept_without_a_folder(memspan, novel):
    assert "--keep-counts needs a folder for the counts" in memspan("measure", novel, "--keep-counts").error


@pytest.mark.parametrize(
    "words", [("--estimator", "plugin"), ("--level", 0.01), ("--fit-above", 0.1), ("--bits",), ("--keep-counts",)]
)
def test_counting_alone_refuses_what_it_never_comes_to(memspan, novel, tmp_path, words):
    error = memspan("measure", novel, "--counts-only", "--out", tmp_path, *words).error
    assert f"{words[0]} has no effect with --counts-only" in error


@pytest.mark.parametrize("words", [("--levels", 4), ("--workers", 2), ("--sample", 9), ("--keep-counts",)])
def test_counts_that_are_measured_refuse_what_was_decided(memspan, novel, tmp_path, words):
    memspan("measure", novel, "--counts-only", "--out", tmp_path / "run", "--max-lag", 5)
    ran = memspan("measure", *parts(tmp_path / "run"), *words, "--out", tmp_path / "out")
    assert words[0] in ran.error


def test_a_separator_that_cuts_one_of_several_sources_is_taken(memspan, tmp_path):
    (tmp_path / "a.txt").write_text("abcab\n\nbcabc\n" * 200)
    (tmp_path / "b.txt").write_text("abcacb" * 200)
    words = (f"a={tmp_path / 'a.txt'}", f"b={tmp_path / 'b.txt'}", "--documents", "blank", "--lags", "1:2")
    assert memspan("compare", *words).status == 0


def test_levels_of_numbers_are_taken(memspan, tmp_path):
    rows = "\n".join(str((i * i * 7919) % 101) for i in range(2000))
    (tmp_path / "prices.csv").write_text(f"close\n{rows}\n")
    plain = memspan("measure", tmp_path / "prices.csv", "--levels", 5, "--json").plain
    assert plain["alphabet"] == 5
    shutil.copy(tmp_path / "prices.csv", tmp_path / "again.csv")
    assert memspan("measure", tmp_path / "again.csv", "--json").plain["alphabet"] == 4

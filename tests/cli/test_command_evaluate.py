"""`memspan evaluate`: what it answers, where it writes, and what it refuses."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from memspan.cli import main
from memspan.results import Evaluation

SMALL = (
    *("train", "copy", "--cell", "gru", "--hidden", 8, "--delay", 3, "--updates", 10, "--threads", 1),
    *("--set", "training.validation_size=10", "--set", "training.validation_batches=1", "--quiet"),
)
QUICK = ("--batches", 1, "--size", 10)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("evaluate") / "run"
    assert main([str(word) for word in (*SMALL, "--out", run)]) == 0
    return run


@pytest.fixture
def run(made, tmp_path) -> Path:
    shutil.copytree(made, tmp_path / "run")
    return tmp_path / "run"


def test_the_first_line_is_a_sentence_about_the_last_delay_and_all_are_in_the_table(memspan, run):
    ran = memspan("evaluate", run, "--delay", 3, "--delay", 6, *QUICK)
    first, *rest = ran.out.splitlines()
    assert first.startswith("copy, delay 6, gru trained at delay 3: ")
    assert first.endswith(" of recalled symbols correct (chance 12.5 %)")
    assert [line.split()[0] for line in rest if line.startswith((" 3 ", " 6 "))] == ["3", "6"]
    assert "trained at delay  3" in "\n".join(rest)


def test_it_writes_into_the_run_unless_told_and_the_report_shows_both(memspan, run, tmp_path):
    ran = memspan("evaluate", run, "--delay", 6, *QUICK)
    assert ran.out.splitlines()[-1] == (f"written: {run / 'evaluation/report.html'}, with result.json and figures")
    assert (run / "evaluation/figures/transfer.svg").exists()
    memspan("evaluate", run, *QUICK, "--out", tmp_path / "else")
    assert (tmp_path / "else/result.json").exists()
    memspan("report", run)
    page = (run / "report.html").read_text(encoding="utf-8")
    assert page.index("Training gru on copy") < page.index("What gru remembers of copy")


def test_json_is_one_object_and_the_result_comes_back(memspan, run):
    ran = memspan("evaluate", run, "--delay", 4, "--split", "valid", *QUICK, "--json")
    result = Evaluation.from_json(ran.plain)
    assert (result.split, result.transfer[0].delay, result.transfer[0].sequences) == ("valid", 4, 10)
    assert (run / "evaluation/result.json").read_text() == ran.out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--delay", 0), "Invalid value for '--delay'"),
        (("--split", "tests"), "Invalid value for '--split'"),
        (("--batches", 0), "Invalid value for '--batches'"),
    ],
)
def test_bad_input_is_told_in_one_line(memspan, run, words, told):
    assert memspan("evaluate", run, *words).error.startswith(f"error: {told}")
    assert not (run / "evaluation").exists()


def test_a_folder_that_is_no_run_is_refused_and_not_written_to(memspan, tmp_path):
    error = memspan("evaluate", tmp_path / "none").error
    assert error.startswith(f"error: {tmp_path / 'none'} is not a run (it has no config.json)")
    assert not (tmp_path / "none").exists()

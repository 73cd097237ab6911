"""`memspan bench`: ratios in a table and in the folder. The benchmarks themselves have their own tests."""

from __future__ import annotations

import pytest

from memspan.bench import BENCHMARKS, DEFAULT
from memspan.results import Benchmark


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """A benchmark that takes no time, in place of the default one."""
    found = (Benchmark("bytes", "np.bincount", 1.0, 3.0, "ns per pair", 3.0),)
    monkeypatch.setattr("memspan.bench.measure.measure", lambda progress: found)


def test_the_default_benchmark_is_run_and_shown(memspan):
    ran = memspan("bench")
    assert ran.status == 0
    assert ran.out.startswith("memspan is better than its peer in 1 of 1 benchmarks")
    assert "np.bincount" in ran.out
    assert "3.0x" in ran.out


def test_the_folder_holds_the_figure_of_the_ratios(memspan, tmp_path):
    ran = memspan("bench", DEFAULT, "--json", "--out", tmp_path)
    assert (tmp_path / "result.json").read_bytes() == ran.out.encode()
    assert (tmp_path / "figures/ratios.svg").exists()
    assert "memspan next to its peers" in (tmp_path / "report.html").read_text()


def test_the_help_names_every_benchmark(memspan):
    shown = memspan("bench", "--help").out
    assert all(name in shown for name in BENCHMARKS)


def test_a_calibration_is_a_table_of_one_row_per_source(memspan, tmp_path):
    path = tmp_path / "song.txt"
    path.write_text("la li lu " * 200)
    ran = memspan("bench", "calibration", "--file", path, "--seeds", 2, "--out", tmp_path / "out")
    assert ran.status == 0
    assert ran.out.startswith("1 source calibrated")
    assert "bigrams: song.txt" in ran.out
    assert "bigrams: song.txt" in (tmp_path / "out" / "report.html").read_text()


def test_a_calibration_prints_all_numbers_as_json(memspan, tmp_path):
    path = tmp_path / "song.txt"
    path.write_text("la li lu " * 200)
    plain = memspan("bench", "calibration", "--file", path, "--seeds", 2, "--json").plain
    (row,) = plain["calibration"]
    assert row.keys() >= {"name", "length", "false_alarms_05", "coverage", "width", "reach_coverage", "span_coverage"}
    assert row["seeds"] == len(row["spans"]) == 2


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("measure", "--full"), "--full is for memspan bench calibration"),
        (("theory", "--seed", 3), "--seed is for memspan bench calibration"),
        (("calibration", "--as", "words"), "add --file PATH"),
        (("calibration", "--file", "a.txt", "--source", "sticky"), "omit --source"),
        (("calibration", "--source", "stiky"), "no source has this in its name"),
        (("calibration", "--file", "/nowhere/at/all.txt"), "/nowhere/at/all.txt"),
    ],
)
def test_options_that_would_do_nothing_are_refused(memspan, arguments, why):
    ran = memspan("bench", *arguments)
    assert ran.status == 2
    assert why in ran.err

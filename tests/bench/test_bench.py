"""The table of benchmarks, the runner and the timing of two sides. Nothing here looks at a clock's value."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace

import pytest

from memspan import bench
from memspan.bench import BENCHMARKS, DEFAULT, BenchmarkSuite, benchmarks_help, run
from memspan.bench.timing import cost_benchmark, machine, race, run_all
from memspan.errors import InputError
from memspan.progress import SILENT
from memspan.results import BenchReport


def test_less_than_the_peer_is_above_one() -> None:
    assert cost_benchmark("a", "b", ours=2.0, theirs=10.0, unit="ms").ratio == 5.0


def test_both_sides_take_the_same_number_of_turns() -> None:
    turns: list[str] = []
    ours, theirs = race(lambda: turns.append("ours"), lambda: turns.append("theirs"), rounds=3)
    assert turns == ["ours", "theirs"] * 3
    assert min(ours, theirs) >= 0


def test_a_report_names_the_machine_and_survives_json(monkeypatch: pytest.MonkeyPatch) -> None:
    one = cost_benchmark("a", "b", 1.0, 2.0, "s")
    monkeypatch.setitem(BENCHMARKS, "measure", lambda progress: (one,))
    report = run(None)
    assert report.benchmarks == (one,)
    assert report.machine == machine()
    assert BenchReport.from_json(json.loads(json.dumps(report.to_json()))) == report


def test_the_machine_is_one_line_with_versions() -> None:
    report = machine()
    assert "\n" not in report
    for word in ("cores", "Python", "numpy", "numba"):
        assert word in report


def test_an_unknown_benchmark_is_answered_with_those_there_are() -> None:
    assert DEFAULT in BENCHMARKS
    with pytest.raises(InputError, match=r"no benchmark 'mesure'; did you mean measure\?"):
        run("mesure")


def test_every_benchmark_has_a_function_and_is_in_the_help() -> None:
    for name, suite in BENCHMARKS.items():
        assert callable(suite.function())
        assert f"{name} ({suite.summary}; {suite.duration})" in benchmarks_help()


def test_a_benchmark_is_one_function_and_one_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    one = cost_benchmark("a", "b", 1.0, 2.0, "s")
    monkeypatch.setitem(sys.modules, "memspan.bench.dummy", SimpleNamespace(two_words=lambda progress: (one,)))
    monkeypatch.setitem(BENCHMARKS, "two-words", BenchmarkSuite("two-words", "nothing", "1 second", "dummy"))
    assert run("two-words").benchmarks == (one,)
    assert "two-words (nothing; 1 second)" in benchmarks_help()
    with pytest.raises(InputError, match="large, two-words"):
        run("nothing-like-it")


def test_benchmarks_run_in_the_given_order() -> None:
    rows = [cost_benchmark(name, "b", 1.0, 2.0, "s") for name in ("x", "y")]
    assert run_all("timing", [lambda row=row: row for row in rows], SILENT) == tuple(rows)


def test_a_plan_for_another_benchmark_is_refused() -> None:
    with pytest.raises(InputError, match="expected it for calibration only"):
        run("measure", SILENT, bench.CalibrationPlan())

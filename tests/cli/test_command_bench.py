"""`memspan bench`: ratios in a table and in the folder. The benchmarks themselves have their own tests."""

from __future__ import annotations

import pytest

from memspan.bench import BENCHMARKS, DEFAULT
from memspan.results import Benchmark


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """A benchmark that takes no time, in place of the default one."""
    found = (Benchmark("bytes", "np.bincount", 1.0, 3.0, "ns per pair", 3.0),)
    monkeypatch.setitem(BENCHMARKS, DEFAULT, lambda progress: found)


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

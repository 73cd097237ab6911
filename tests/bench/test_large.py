"""The benchmark of large files, on small ones."""

from __future__ import annotations

import shutil
import tempfile
from collections import namedtuple
from pathlib import Path

import pytest

from memspan.bench import large as module
from memspan.bench.large import large, measure_file, peak_memory, write_random
from memspan.errors import InputError, MemspanError
from memspan.progress import SILENT

Usage = namedtuple("Usage", "total used free")


def test_memory_and_time_per_byte_are_reported_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(module, "measure_in_process", lambda path, progress: measure_file(str(path)))
    memory, time = large(SILENT, small=30_000, large=60_000)
    assert (memory.unit, memory.peer, memory.theirs) == ("MB", "the file itself", 0.06)
    assert memory.ours > 1
    assert time.unit == "ns per byte"
    assert time.ratio == pytest.approx(time.theirs / time.ours)
    assert list(tmp_path.iterdir()) == []


def test_too_little_disk_is_reported_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10**9, 10**9 - 10**6, 10**6))
    with pytest.raises(InputError, match=r"has 0\.0 GB free, this benchmark needs 2\.2 GB; set TMPDIR"):
        large(SILENT, small=1_000, large=10**9)
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_random_bytes_has_its_size_and_every_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PIECE", 1_000)
    write_random(tmp_path / "a", 4_500, SILENT)
    content = (tmp_path / "a").read_bytes()
    assert len(content) == 4_500
    assert len(set(content)) == 256
    assert content[:1_000] != content[1_000:2_000]


def test_a_separate_process_reports_time_and_memory(tmp_path: Path) -> None:
    write_random(tmp_path / "a", 5_000, SILENT)
    report = module.measure_in_process(tmp_path / "a", SILENT)
    assert report["seconds"] > 0
    assert report["peak"] > 1e6


def test_a_failing_process_is_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"a" * 100)
    with pytest.raises(MemspanError, match=r"one failed: memspan\.errors\.InputError: .*one symbol"):
        module.measure_in_process(tmp_path / "one", SILENT)


def test_peak_memory_is_at_least_what_is_held() -> None:
    held = bytearray(b"x" * 50_000_000)
    assert peak_memory() >= len(held)

"""Interrupted, killed, piped away: what was finished is saved, reported and used again. These run real processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from memspan.cli import main
from memspan.information import counting

SECONDS_TO_BEGIN = 120.0
"""Loading, reading and, on a first run, compiling."""

COMMAND = [sys.executable, "-m", "memspan"]


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Bytes enough to be caught in the middle of counting."""
    path = tmp_path_factory.mktemp("large") / "large.dat"
    path.write_bytes(np.random.default_rng(0).integers(0, 250, 6_000_000, dtype=np.uint8).tobytes())
    return path


def words(path: Path) -> list[str]:
    return ["measure", str(path), "--as", "bytes", "--max-lag", "300", "--workers", "1", "--json", "--quiet"]


def begin(path: Path, out: Path) -> subprocess.Popen[str]:
    command = [*COMMAND, *words(path), "--out", str(out)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for_parts(out: Path, process: subprocess.Popen[str]) -> None:
    """Until two parts are finished and others are not."""
    limit = time.monotonic() + SECONDS_TO_BEGIN
    while len(list(out.glob("counts/*.counts"))) < 2:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < limit
        time.sleep(0.005)


def identities(out: Path) -> dict[str, tuple[int, int]]:
    """Each finished part by what changes whenever it is written again."""
    return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in sorted(out.glob("counts/*.counts"))}


def numbers(text: str) -> dict:
    return {name: value for name, value in json.loads(text).items() if name != "seconds"}


def test_an_interrupted_count_reports_what_is_saved_and_continues_from_there(large, tmp_path, capsys):
    process = begin(large, tmp_path)
    wait_for_parts(tmp_path, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=SECONDS_TO_BEGIN)
    kept = identities(tmp_path)
    assert process.returncode == 130
    assert out == ""
    assert len(kept) >= 2
    assert err == (
        f"interrupted: {len(kept)} finished parts are saved in {tmp_path / 'counts'}; run the same command to continue\n"
    )
    check_that_it_continues(large, tmp_path, kept, capsys)


def test_a_killed_count_goes_on_from_what_was_finished(large, tmp_path, capsys):
    process = begin(large, tmp_path)
    wait_for_parts(tmp_path, process)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert not (tmp_path / "result.json").exists()
    check_that_it_continues(large, tmp_path, identities(tmp_path), capsys)


def check_that_it_continues(large, out, kept, capsys):
    """The same command ends with the numbers of an undisturbed run, and no finished part was written again."""
    assert main([*words(large), "--out", str(out), "--keep-counts"]) == 0
    assert capsys.readouterr().out.encode() == (out / "result.json").read_bytes()
    after = identities(out)
    assert len(after) > len(kept)
    assert {name: after[name] for name in kept} == kept
    assert main(words(large)) == 0
    assert numbers((out / "result.json").read_text()) == numbers(capsys.readouterr().out)


def test_without_a_folder_an_interrupt_says_that_nothing_was_saved(novel, monkeypatch, capsys):
    monkeypatch.setattr(counting.Counter, "groups", _interrupt)
    assert main(["measure", str(novel), "--quiet"]) == 130
    assert capsys.readouterr() == ("", "interrupted: nothing was saved; with --out DIR finished parts are saved\n")


def test_an_interrupt_before_the_first_part_says_so(novel, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(counting.Counter, "groups", _interrupt)
    assert main(["measure", str(novel), "--quiet", "--out", str(tmp_path)]) == 130
    assert "interrupted: no part was finished" in capsys.readouterr().err


def test_commands_that_keep_nothing_say_so_too(novel, twin, monkeypatch, capsys):
    monkeypatch.setattr("memspan.sequences.readers.text.read_chars", _interrupt)
    assert main(["compare", f"a={novel}", f"b={twin}", "--quiet"]) == 130
    assert capsys.readouterr() == ("", "interrupted: nothing was saved\n")


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _interrupt_in_a_kernel(*_: object) -> None:
    """What numba makes of an interrupt: two errors of the interpreter, the first of them caused by it."""
    first, second = (SystemError(f"{name} returned a result with an exception set") for name in ("f", "g"))
    first.__cause__, second.__cause__ = KeyboardInterrupt(), first
    raise second


def test_an_interrupt_in_a_kernel_is_an_interrupt(novel, twin, monkeypatch, capsys):
    monkeypatch.setattr(counting.Counter, "groups", _interrupt_in_a_kernel)
    assert main(["measure", str(novel), "--quiet"]) == 130
    assert capsys.readouterr() == ("", "interrupted: nothing was saved; with --out DIR finished parts are saved\n")
    assert main(["compare", f"a={novel}", f"b={twin}", "--quiet"]) == 130
    assert capsys.readouterr() == ("", "interrupted: nothing was saved\n")


def test_a_second_interrupt_while_the_first_is_reported_ends_with_130(novel):
    program = (
        "import sys, memspan.cli.entry as entry\n"
        "def interrupt(*_): raise KeyboardInterrupt\n"
        "entry._report = interrupt\n"
        f"sys.argv = ['memspan', 'measure', {str(novel)!r}, '--quiet']\n"
        "from memspan.information import counting\n"
        "counting.Counter.groups = interrupt\n"
        "sys.exit(entry.main())\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (130, "")


def test_a_reader_that_has_seen_enough_is_no_error(novel):
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.run(
        [*COMMAND, "measure", str(novel), "--json", "--quiet", "--max-lag", "5"],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(writer)
    assert (process.returncode, process.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_output_that_does_not_fit_is_one_line(novel):
    with Path("/dev/full").open("w") as full:
        process = subprocess.run(
            [*COMMAND, "measure", str(novel), "--quiet", "--max-lag", "5"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert process.returncode == 2
    assert process.stderr.startswith("error: cannot read or write No space left on device")
    assert process.stderr.count("\n") == 1


def test_the_module_is_the_command(tmp_path):
    version = subprocess.run([*COMMAND, "--version"], capture_output=True, text=True)
    assert (version.returncode, version.stderr) == (0, "")
    assert version.stdout.startswith("memspan ")
    wrong = subprocess.run([*COMMAND, "measure", "missing.txt"], capture_output=True, text=True, cwd=tmp_path)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr == "error: no such file or folder: missing.txt; check the name\n"


def test_the_installed_command_reads_standard_input(novel):
    command = Path(sys.executable).with_name("memspan")
    if not command.exists():
        pytest.skip("the package is not installed beside this interpreter")
    ran = subprocess.run(
        [command, "measure", "-", "--max-lag", "5", "--json"], input=novel.read_bytes(), capture_output=True
    )
    assert ran.returncode == 0
    assert json.loads(ran.stdout)["paths"] == ["standard input"]

"""Processes do not outlive the one that started them, and may save what they have when it is interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

SCRIPT = """
import signal, sys, time
from pathlib import Path
from memspan.engines import Processes

def work(number):
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(True))
    mine = Path(sys.argv[1]) / f"begun-{number}"
    while not stop:
        mine.write_text(str(time.monotonic_ns()))
        time.sleep(0.01)
    (Path(sys.argv[1]) / f"saved-{number}").touch()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)

if __name__ == "__main__":
    try:
        Processes(2).map(work, range(5))
    except KeyboardInterrupt:
        sys.exit(130)
"""


def started(folder: Path) -> subprocess.Popen[bytes]:
    """Two of five items are being worked on."""
    (folder / "script.py").write_text(SCRIPT)
    process = subprocess.Popen([sys.executable, "script.py", str(folder)], cwd=folder)
    while process.poll() is None and len(list(folder.glob("begun-*"))) < 2:
        time.sleep(0.01)
    return process


def test_an_interrupt_is_passed_on_and_waits_for_what_is_saved(tmp_path: Path) -> None:
    process = started(tmp_path)
    os.kill(process.pid, signal.SIGINT)
    assert process.wait() == 130
    begun = {path.name.removeprefix("begun-") for path in tmp_path.glob("begun-*")}
    assert begun <= {path.name.removeprefix("saved-") for path in tmp_path.glob("saved-*")}
    assert len(begun) < 5


def test_processes_end_when_the_one_that_started_them_is_killed(tmp_path: Path) -> None:
    process = started(tmp_path)
    process.kill()
    process.wait()
    before: dict[str, str] | None = None
    while True:  # until nobody writes any more
        now = {path.name: path.read_text() for path in tmp_path.glob("begun-*")}
        if now == before:
            break
        before = now
        time.sleep(0.5)
    assert not list(tmp_path.glob("saved-*"))

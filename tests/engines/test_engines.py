"""Engines run a function on items, in order, and stop at errors and interrupts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from memspan.engines import Processes, Threads, available_cores
from memspan.errors import InputError
from memspan.information.kernels.bits import count_bits


@pytest.mark.parametrize("workers", [1, 2, 7])
def test_results_come_in_the_order_of_the_items(workers: int) -> None:
    assert Threads(workers).map(lambda x: x * x, range(20)) == [x * x for x in range(20)]
    assert Threads(workers).map(abs, []) == []


def test_two_threads_really_work_at_once() -> None:
    both = threading.Barrier(2, timeout=10)
    Threads(2).map(lambda _: both.wait(), range(2))


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_reaches_the_caller_and_later_items_do_not_begin(workers: int) -> None:
    begun: list[int] = []

    def work(item: int) -> None:
        begun.append(item)
        if item == 1:
            raise InputError("bad item")
        threading.Event().wait(0.02)

    with pytest.raises(InputError, match="bad item"):
        Threads(workers).map(work, range(100))
    assert len(begun) < 100


def test_no_workers_are_refused_and_cores_are_known() -> None:
    with pytest.raises(InputError, match="at least 1"):
        Threads(0)
    assert available_cores() >= 1


SECONDS_INTO_THE_KERNEL = 0.05


def count(runs: int) -> None:
    """Count the pairs of 65,536 bits with themselves again and again, in one call of a kernel."""
    planes, starts = np.zeros((1, 1027), np.uint64), np.zeros(runs, np.int64)
    count_bits(planes, planes, starts, starts, np.full(runs, 65_536), np.zeros((2, 2), np.int64))


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer that sends a signal")
def test_an_interrupt_inside_a_kernel_is_a_keyboard_interrupt() -> None:
    count(1)  # compiled before the clock starts
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, SECONDS_INTO_THE_KERNEL)
        with pytest.raises(KeyboardInterrupt) as caught:
            Threads(1).map(count, [200_000])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert isinstance(caught.value.__cause__, SystemError)


def test_a_system_error_that_is_no_interrupt_stays_one() -> None:
    def fail(_: int) -> None:
        raise SystemError("something else")

    with pytest.raises(SystemError, match="something else"):
        Threads(1).map(fail, [1])


def process_of(item: int) -> tuple[int, int]:
    return item, os.getpid()


def refuse(item: int) -> int:
    if item == 1:
        raise InputError("bad item")
    return item


def test_results_come_in_order_from_other_processes_and_each_is_announced() -> None:
    announced: list[None] = []
    found = Processes(2).map(process_of, range(4), lambda: announced.append(None))
    assert [item for item, _ in found] == [0, 1, 2, 3]
    assert os.getpid() not in {pid for _, pid in found}
    assert len(announced) == 4


def test_one_worker_stays_in_this_process() -> None:
    assert Processes(1).map(process_of, [7]) == [(7, os.getpid())]


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_of_a_process_reaches_the_caller(workers: int) -> None:
    with pytest.raises(InputError, match="bad item"):
        Processes(workers).map(refuse, range(3))


def test_no_processes_are_rejected() -> None:
    with pytest.raises(InputError, match="at least 1"):
        Processes(0)


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

"""Engines run a function on items, in order, and stop at errors."""

from __future__ import annotations

import signal
import threading

import numpy as np
import pytest

from memspan.engines import Threads, available_cores
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

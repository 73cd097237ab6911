"""Engines run a function on items, in order, and stop at errors."""

from __future__ import annotations

import threading

import pytest

from memspan.engines import Threads, available_cores
from memspan.errors import InputError


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

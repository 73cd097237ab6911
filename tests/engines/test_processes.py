"""Processes of their own: results in order, errors passed on, nothing shared."""

from __future__ import annotations

import os

import pytest

from memspan.engines import Processes
from memspan.errors import InputError


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


def test_no_processes_are_refused() -> None:
    with pytest.raises(InputError, match="at least 1"):
        Processes(0)

"""Where work runs: `Engine.map(function, items)` and nothing else."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import TypeVar, final

from memspan.errors import InputError, interrupts_raised

Item = TypeVar("Item")
Result = TypeVar("Result")


class Engine(ABC):
    """Runs one function on many items, perhaps at the same time."""

    @property
    @abstractmethod
    def workers(self) -> int:
        """How many items are worked on at once."""

    @abstractmethod
    def map(
        self,
        function: Callable[[Item], Result],
        items: Iterable[Item],
        done: Callable[[], None] = lambda: None,
    ) -> list[Result]:
        """The results in the order of the items; `done` is called after each, here. An error stops what has not begun."""


@final
@dataclass(frozen=True)
class Threads(Engine):
    """Threads of this process: for kernels that release the interpreter's lock.

    >>> Threads(2).map(abs, [-1, 2, -3])
    [1, 2, 3]
    """

    count: int

    def __post_init__(self) -> None:
        at_least_one(self.count)

    @property
    def workers(self) -> int:
        return self.count

    def map(
        self,
        function: Callable[[Item], Result],
        items: Iterable[Item],
        done: Callable[[], None] = lambda: None,
    ) -> list[Result]:
        items = list(items)
        if self.count == 1 or len(items) < 2:
            with interrupts_raised():  # here kernels run in the thread that receives signals
                return [and_say(function(item), done) for item in items]
        pool = ThreadPoolExecutor(self.count)
        try:
            return gathered([pool.submit(function, item) for item in items], done)
        finally:
            # An interrupted caller must not wait for items that take long; it tells them to stop by its own means.
            pool.shutdown(wait=False, cancel_futures=True)


def gathered(futures: list[Future[Result]], done: Callable[[], None]) -> list[Result]:
    """The results in their order, or the first error."""
    for future in as_completed(futures):
        future.result()
        done()
    return [future.result() for future in futures]


def and_say(result: Result, done: Callable[[], None]) -> Result:
    """The result, after saying that there is one more."""
    done()
    return result


def at_least_one(workers: int) -> None:
    """Refuse an engine that could do nothing."""
    if workers < 1:
        raise InputError(f"workers must be at least 1, got {workers}")


def available_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

"""Processes of their own, started afresh: for work that holds the interpreter's lock or sets threads, such as training."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import final

from memspan.engines.engine import Engine, Item, Result, and_say, at_least_one, gathered


@final
@dataclass(frozen=True)
class Processes(Engine):
    """Spawned processes, each with nothing of this one's state; functions and items are sent by name and value.

    >>> Processes(1).map(abs, [-1, 2])
    [1, 2]
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
            return [and_say(function(item), done) for item in items]
        pool = ProcessPoolExecutor(self.count, multiprocessing.get_context("spawn"))
        try:
            return gathered([pool.submit(function, item) for item in items], done)
        finally:
            # After an error those that have begun go on to their end; after an interrupt they were interrupted, too.
            pool.shutdown(wait=True, cancel_futures=True)

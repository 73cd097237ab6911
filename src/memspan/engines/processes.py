"""Processes of their own, started afresh: for work that holds the interpreter's lock or sets threads, such as training."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from typing import final

from memspan.engines.engine import Engine, Item, Result, and_say, at_least_one, gathered


@final
@dataclass(frozen=True)
class Processes(Engine):
    """Spawned processes, each with nothing of this one's state; functions and items are sent by name and value.

    When the caller is interrupted they are asked to terminate and waited for, since they may first save what they have;
    when it is killed they end at once.

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
        before = set(multiprocessing.active_children())
        pool = ProcessPoolExecutor(
            self.count, multiprocessing.get_context("spawn"), initializer=_belong_to_the_parent
        )
        futures: list[Future[Result]] = []
        try:
            futures += [pool.submit(function, item) for item in items]
            return gathered(futures, done)
        except KeyboardInterrupt:
            for future in futures:
                future.cancel()
            # More than once: whoever comes to an end may already hold the next item.
            while left := set(multiprocessing.active_children()) - before:
                for child in left:
                    child.terminate()
                for child in left:
                    child.join(timeout=0.2)
            raise
        finally:
            # After an error those that have begun go on to their end.
            pool.shutdown(wait=True, cancel_futures=True)


def _belong_to_the_parent() -> None:
    """Ctrl-C reaches all processes of a terminal, and the parent passes it on; where the parent dies, so does the child."""
    from multiprocessing import connection

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def follow() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()

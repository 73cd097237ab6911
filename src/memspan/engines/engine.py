"""`Engine.map(function, items)`: one function on many items, in threads or in processes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import TypeVar, final

from memspan.errors import InputError, interrupts_raised

Item = TypeVar("Item")
Result = TypeVar("Result")
Done = Callable[[], None]


class Engine(ABC):
    """Runs one function on many items, possibly in parallel."""

    @property
    @abstractmethod
    def workers(self) -> int:
        """Number of items processed at once."""

    @abstractmethod
    def map(self, function: Callable[[Item], Result], items: Iterable[Item], done: Done = lambda: None) -> list[Result]:
        """The results in the order of the items. Calls `done` after each; an error cancels items not yet started."""


@dataclass(frozen=True)
class _LocalEngine(Engine):
    """An engine on this machine."""

    count: int

    def __post_init__(self) -> None:
        if self.count < 1:
            raise InputError(f"workers must be at least 1, got {self.count}")

    @property
    def workers(self) -> int:
        return self.count


@final
@dataclass(frozen=True)
class Threads(_LocalEngine):
    """Threads of this process, for kernels that release the GIL.

    >>> Threads(2).map(abs, [-1, 2, -3])
    [1, 2, 3]
    """

    def map(self, function: Callable[[Item], Result], items: Iterable[Item], done: Done = lambda: None) -> list[Result]:
        items = list(items)
        if self.count == 1 or len(items) < 2:
            with interrupts_raised():  # kernels run in the thread that receives signals
                return _in_order(function, items, done)
        pool = ThreadPoolExecutor(self.count)
        try:
            return _gather([pool.submit(function, item) for item in items], done)
        finally:
            # Do not wait: an interrupted caller stops long-running items by its own means.
            pool.shutdown(wait=False, cancel_futures=True)


@final
@dataclass(frozen=True)
class Processes(_LocalEngine):
    """Spawned processes that share no state with this one, for work that holds the GIL or sets the number of threads.

    Functions and items are pickled. If the caller is interrupted, the processes receive SIGTERM and are waited for,
    because they may save their work first; if the caller is killed, they exit at once.

    >>> Processes(1).map(abs, [-1, 2])
    [1, 2]
    """

    def map(self, function: Callable[[Item], Result], items: Iterable[Item], done: Done = lambda: None) -> list[Result]:
        items = list(items)
        if self.count == 1 or len(items) < 2:
            return _in_order(function, items, done)
        before = set(multiprocessing.active_children())
        spawn = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(self.count, spawn, initializer=_follow_parent)
        futures: list[Future[Result]] = []
        try:
            futures += [pool.submit(function, item) for item in items]
            return _gather(futures, done)
        except KeyboardInterrupt:
            for future in futures:
                future.cancel()
            # Repeatedly, because a process that finishes may already have received the next item.
            while left := set(multiprocessing.active_children()) - before:
                for child in left:
                    child.terminate()
                for child in left:
                    child.join(timeout=0.2)
            raise
        finally:
            # After an error, items that have started run to completion.
            pool.shutdown(wait=True, cancel_futures=True)


def available_cores() -> int:
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _in_order(function: Callable[[Item], Result], items: list[Item], done: Done) -> list[Result]:
    results = []
    for item in items:
        results.append(function(item))
        done()
    return results


def _gather(futures: list[Future[Result]], done: Done) -> list[Result]:
    """The results in order, or the first error."""
    for future in as_completed(futures):
        future.result()
        done()
    return [future.result() for future in futures]


def _follow_parent() -> None:
    """Leave Ctrl-C, which reaches all processes of a terminal, to the parent, and exit when the parent dies."""
    from multiprocessing import connection

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def wait_for_parent() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=wait_for_parent, daemon=True).start()

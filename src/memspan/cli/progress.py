"""Progress on standard error: a bar on a terminal, occasional plain lines elsewhere."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, final

import typer

from memspan.progress import SILENT, Progress, Stage

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

SECONDS_BETWEEN_LINES = 10.0
SECONDS_BETWEEN_FRAMES = 0.1


@contextlib.contextmanager
def showing(quiet: bool) -> Iterator[Progress]:
    """A progress display suited to standard error; a bar disappears when the work is done."""
    if quiet:
        yield SILENT
    elif sys.stderr.isatty():
        with _bars() as bars:
            yield BarProgress(bars)
    else:
        yield PlainProgress()


def _bars() -> Bars:
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(compact=True),
    )
    return Bars(*columns, console=Console(stderr=True, highlight=False), transient=True)


@final
class _Meter(Stage):
    """Sums the reports of threads and passes the sum on, at most every `interval` seconds."""

    def __init__(
        self, interval: float, done: float, show: Callable[[float, str], None], end: Callable[[], None] = lambda: None
    ) -> None:
        self._interval, self._show, self._end = interval, show, end
        self._lock = threading.Lock()
        self._done, self._message = done, ""
        self._shown_at = time.monotonic()

    def advance(self, amount: float = 1.0) -> None:
        with self._lock:
            self._done += amount
            now = time.monotonic()
            if now - self._shown_at >= self._interval:
                self._shown_at = now
                self._show(self._done, self._message)

    def tell(self, now: str) -> None:
        self._message = now

    def close(self) -> None:
        self._end()


@final
class BarProgress(Progress):
    """A bar per stage, with remarks above it."""

    def __init__(self, bars: Bars) -> None:
        self._bars = bars

    def stage(self, name: str, total: float, done: float = 0.0) -> Stage:
        bars, task = self._bars, self._bars.add_task(name, total=total or None, completed=int(done))
        return _Meter(
            SECONDS_BETWEEN_FRAMES,
            done,
            lambda done, message: bars.update(task, completed=done, description=f"{name}  {message}".rstrip()),
            lambda: bars.remove_task(task),
        )

    def say(self, remark: str) -> None:
        self._bars.console.print(remark, markup=False)


@final
class PlainProgress(Progress):
    """Lines for files and pipes: remarks, and for each stage at most one every ten seconds."""

    def __init__(self, interval: float = SECONDS_BETWEEN_LINES) -> None:
        self._interval = interval

    def stage(self, name: str, total: float, done: float = 0.0) -> Stage:
        at, before = time.monotonic(), done

        def show(done: float, message: str) -> None:
            from memspan.presentation.numbers import duration

            nonlocal at, before
            share = min(done / total, 1.0) if total else 0.0
            # Speed since the previous line: compiling and reading at the start say nothing about the rest.
            now = time.monotonic()
            speed = (done - before) / max(now - at, 1e-9)
            at, before = now, done
            left = f", about {duration(round(max(total - done, 0) / speed))} left" if speed > 0 else ""
            line = f"{name}: {100 * share:.0f} %{left}" if share else name
            self.say(f"{line}; {message}" if message else line)

        return _Meter(self._interval, done, show)

    def say(self, remark: str) -> None:
        typer.echo(remark, err=True)

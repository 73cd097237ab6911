"""Where long work says how far it is. Library code never prints: it calls a `Progress`.

>>> silent = Silent()
>>> with silent.stage("counting", total=3) as stage:
...     stage.advance()
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self, final


class Stage(ABC):
    """One countable piece of long work; a context manager."""

    @abstractmethod
    def advance(self, amount: float = 1.0) -> None:
        """Say that `amount` more of the stage's total is done. Safe to call from several threads."""

    def tell(self, now: str) -> None:  # noqa: B027 - most work has nothing to tell but how much is done
        """Set the text next to the progress bar, for example the current loss; it replaces the previous text."""

    @abstractmethod
    def close(self) -> None:
        """The stage has ended, whether it was finished or not."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Progress(ABC):
    """Receives the stages and remarks of long work."""

    @abstractmethod
    def stage(self, name: str, total: float, done: float = 0.0) -> Stage:
        """Begin a stage of `total` units, of which `done` were done at some other time."""

    @abstractmethod
    def say(self, remark: str) -> None:
        """A remark that a person who waits wants to read, for example "compiling, once"."""


@final
class _SilentStage(Stage):
    def advance(self, amount: float = 1.0) -> None:
        pass

    def close(self) -> None:
        pass


@final
class Silent(Progress):
    """Shows nothing: the default of library functions."""

    def stage(self, name: str, total: float, done: float = 0.0) -> Stage:  # noqa: ARG002
        return _SilentStage()

    def say(self, remark: str) -> None:
        pass


SILENT = Silent()

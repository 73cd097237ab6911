"""What a training says of itself: metrics without clock values, so that a resumed run writes the same bytes, and times."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from io import FileIO
from pathlib import Path
from typing import Any, final

from memspan.results.encoding import to_plain
from memspan.training.events import Events
from memspan.training.run_folder import RunFolder


class Journal(ABC):
    """Where the loop writes; one session of a run."""

    @abstractmethod
    def metrics(self, line: dict[str, Any]) -> int:
        """One line of metrics, `update` among them; returns its length in bytes."""

    @abstractmethod
    def time(self, update: int, seconds: float) -> None:
        """After how many seconds an update was reached, counted from where the run was begun or gone on with."""

    @abstractmethod
    def flush(self) -> None:
        """Metrics are on disk, so that a checkpoint that is written next never knows of more than there is."""

    @abstractmethod
    def close(self) -> None:
        """Nothing is written after this."""


@final
class NoJournal(Journal):
    """Of processes that leave the writing to another."""

    def metrics(self, line: dict[str, Any]) -> int:
        del line
        return 0

    def time(self, update: int, seconds: float) -> None:
        pass

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass


@final
class FileJournal(Journal):
    """`metrics.jsonl` and `timing.jsonl` of a folder, and TensorBoard's events if wanted."""

    def __init__(self, folder: RunFolder, metrics_bytes: int, events: Events | None = None) -> None:
        """Whatever was written to the metrics after `metrics_bytes` belongs to updates that will be done again."""
        self._metrics = _cut(folder.metrics_file, metrics_bytes)
        self._timing = _cut(folder.timing_file, _whole_lines(folder.timing_file))
        self._session = folder.sessions()
        self._events = events

    def metrics(self, line: dict[str, Any]) -> int:
        if self._events is not None:
            self._events.write(line)
        return self._metrics.write(_encoded(line))

    def time(self, update: int, seconds: float) -> None:
        self._timing.write(
            _encoded({"session": self._session, "update": update, "seconds": round(seconds, 3)})
        )

    def flush(self) -> None:
        os.fsync(self._metrics.fileno())

    def close(self) -> None:
        self._metrics.close()
        self._timing.close()
        if self._events is not None:
            self._events.close()


def _cut(path: Path, length: int) -> FileIO:
    """A file of `length` bytes, open for more."""
    file = FileIO(os.open(path, os.O_RDWR | os.O_CREAT, 0o644), "r+")
    file.truncate(length)
    file.seek(length)
    return file


def _whole_lines(path: Path) -> int:
    """Bytes up to the last end of a line: a killed process may have written less than one."""
    return path.read_bytes().rfind(b"\n") + 1 if path.is_file() else 0


def _encoded(line: dict[str, Any]) -> bytes:
    return (json.dumps(to_plain(line)) + "\n").encode()

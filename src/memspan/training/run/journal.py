"""What a training writes as it goes: metrics.jsonl, timing.jsonl and, on request, TensorBoard events.

metrics.jsonl holds no clock values, so that a resumed run writes the same bytes as one that was never stopped.
"""

from __future__ import annotations

import json
import os
from importlib.util import find_spec
from io import FileIO
from pathlib import Path
from typing import Any, Protocol, final

from memspan.errors import MissingExtraError
from memspan.results.encoding import to_plain
from memspan.training.run.folder import RunFolder


class Journal(Protocol):
    """Where the loop writes during one session of a run."""

    def metrics(self, line: dict[str, Any]) -> int:
        """Write one line of metrics, which must include `update`; returns its length in bytes."""
        del line
        return 0

    def time(self, update: int, seconds: float) -> None:
        """Record that `update` was reached `seconds` after the session started."""

    def flush(self) -> None:
        """Sync metrics to disk, so that the next checkpoint never knows of more lines than the file has."""

    def close(self) -> None:
        """Write nothing after this."""


@final
class NullJournal(Journal):
    """The journal of processes that leave writing to the main process."""


@final
class FileJournal(Journal):
    """The journal of a run folder."""

    def __init__(self, folder: RunFolder, metrics_bytes: int, events: TensorBoardEvents | None = None) -> None:
        """Metrics after `metrics_bytes` belong to updates that will be repeated, and are cut off."""
        self._metrics = _open_at(folder.metrics_file, metrics_bytes)
        self._timing = _open_at(folder.timing_file, _complete_length(folder.timing_file))
        self._session = folder.sessions()
        self._events = events

    def metrics(self, line: dict[str, Any]) -> int:
        if self._events is not None:
            self._events.write(line)
        return self._metrics.write(_encode(line))

    def time(self, update: int, seconds: float) -> None:
        timing = {"session": self._session, "update": update, "seconds": round(seconds, 3)}
        self._timing.write(_encode(timing))

    def flush(self) -> None:
        os.fsync(self._metrics.fileno())

    def close(self) -> None:
        self._metrics.close()
        self._timing.close()
        if self._events is not None:
            self._events.close()


@final
class TensorBoardEvents:
    """The metrics as scalars in a folder for `tensorboard --logdir`."""

    def __init__(self, folder: Path, update: int) -> None:
        """Events that an earlier session wrote after `update` are hidden."""
        from torch.utils.tensorboard import SummaryWriter

        self._writer = SummaryWriter(str(folder), purge_step=update + 1)

    def write(self, line: dict[str, Any]) -> None:
        """Add the numbers of a line of metrics.jsonl; validation measures form a group of their own."""
        group, numbers = ("validation", line["validation"]) if "validation" in line else ("training", line)
        for name, value in numbers.items():
            if name != "update":
                self._writer.add_scalar(f"{group}/{name}", value, line["update"])

    def close(self) -> None:
        self._writer.close()


def check_tensorboard() -> None:
    """Raise an error that names the missing extra unless TensorBoard is installed. Imports nothing."""
    if find_spec("tensorboard") is None:
        raise MissingExtraError("training.tensorboard", "tensorboard", "tensorboard")


def _open_at(path: Path, length: int) -> FileIO:
    """The file cut to `length` bytes and open for appending."""
    file = FileIO(os.open(path, os.O_RDWR | os.O_CREAT, 0o644), "r+")
    file.truncate(length)
    file.seek(length)
    return file


def _complete_length(path: Path) -> int:
    """Bytes up to the last newline: a killed process may have written part of a line."""
    return path.read_bytes().rfind(b"\n") + 1 if path.is_file() else 0


def _encode(line: dict[str, Any]) -> bytes:
    return (json.dumps(to_plain(line)) + "\n").encode()

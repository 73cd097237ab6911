"""What a training says of itself: metrics without clock values, so that a resumed run writes the same bytes, and times."""

from __future__ import annotations

import json
import math
import os
import time
from io import FileIO
from pathlib import Path
from typing import Any, final

from memspan.training.run_folder import RunFolder


@final
class Journal:
    """`metrics.jsonl` and `timing.jsonl` of one session; `bytes` is how long the metrics are."""

    def __init__(self, folder: RunFolder, metrics_bytes: int) -> None:
        """Whatever was written to the metrics after `metrics_bytes` belongs to updates that will be done again."""
        self._metrics = _open(folder.metrics_file)
        self._metrics.truncate(metrics_bytes)
        self._metrics.seek(metrics_bytes)
        self._timing = _open(folder.timing_file)
        self._timing.seek(0, os.SEEK_END)
        self.bytes = metrics_bytes
        self.session = folder.sessions()
        self._begun = time.monotonic()

    @property
    def seconds(self) -> float:
        """Since this session began."""
        return time.monotonic() - self._begun

    def metric(self, line: dict[str, Any]) -> None:
        """One line of metrics; a number that is not finite becomes null."""
        self.bytes += self._metrics.write(_encoded(line))

    def time(self, update: int) -> None:
        """One line of times: which session reached which update after how many of its seconds."""
        self._timing.write(
            _encoded({"session": self.session, "update": update, "seconds": round(self.seconds, 3)})
        )

    def flush(self) -> None:
        """On disk, so that a checkpoint that is written next never knows of more than there is."""
        os.fsync(self._metrics.fileno())

    def close(self) -> None:
        self._metrics.close()
        self._timing.close()


def _open(path: Path) -> FileIO:
    return FileIO(os.open(path, os.O_RDWR | os.O_CREAT, 0o644), "r+")


def _encoded(line: dict[str, Any]) -> bytes:
    finite = {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in line.items()
    }
    return (json.dumps(finite) + "\n").encode()

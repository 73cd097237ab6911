"""The folder of a run: configuration, metrics, checkpoints; one writer at a time, nothing half-written."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, final

from memspan.errors import CorruptError, InputError
from memspan.models.vocabulary import Vocabulary
from memspan.results.files import write_text
from memspan.tasks import Task
from memspan.training.config import Config
from memspan.training.config_json import from_json, to_json

KEPT = 2
"""Checkpoints that stay besides the best."""


@final
@dataclass(frozen=True)
class RunFolder:
    """Paths of a run, and how its files are written."""

    path: Path

    @property
    def config_file(self) -> Path:
        return self.path / "config.json"

    @property
    def vocabulary_file(self) -> Path:
        """What the symbols stand for, of tasks that have some."""
        return self.path / "vocabulary.json"

    @property
    def metrics_file(self) -> Path:
        return self.path / "metrics.jsonl"

    @property
    def timing_file(self) -> Path:
        return self.path / "timing.jsonl"

    @property
    def events(self) -> Path:
        """Of TensorBoard."""
        return self.path / "tensorboard"

    @property
    def checkpoints(self) -> Path:
        return self.path / "checkpoints"

    def checkpoint(self, update: int) -> Path:
        """The file of one update."""
        return self.checkpoints / f"{update:08d}.safetensors"

    def saved(self) -> list[int]:
        """Updates that have a checkpoint, the latest first."""
        found = (path.stem for path in self.checkpoints.glob("*.safetensors"))
        return sorted((int(stem) for stem in found if stem.isdecimal()), reverse=True)

    def forget(self, best: set[int | None]) -> None:
        """Remove all checkpoints but the last ones and the best."""
        for update in self.saved()[KEPT:]:
            if update not in best:
                self.checkpoint(update).unlink(missing_ok=True)

    def check_free(self) -> None:
        """Refuse a folder that holds a run, or runs of several seeds, and what is no folder."""
        if self.path.exists() and not self.path.is_dir():
            raise InputError(f"{self.path} is a file; expected a folder for the run; give another --out")
        if self.config_file.exists() or self.saved() or any(self.path.glob("seed-*/config.json")):
            raise InputError(
                f"{self.path} holds a run already; go on with it by memspan resume {self.path}, or give another --out"
            )

    def begin(self, config: Config) -> None:
        """Write the configuration into a folder that has none; `--config` takes the same file."""
        self.check_free()
        write_text(self.path / "environment.json", json.dumps(environment(), indent=2) + "\n")
        if config.task.vocabulary is not None:
            write_text(self.vocabulary_file, json.dumps(config.task.vocabulary.to_json()) + "\n")
        self._keep(config)  # last, because with it the folder is a run

    def go_on(self, config: Config) -> None:
        """Write the configuration, whose limits may be new; remove what a killed process left half-written."""
        for path in self.checkpoints.glob(".*.part"):
            path.unlink(missing_ok=True)
        self._keep(config)

    def _keep(self, config: Config) -> None:
        write_text(self.config_file, json.dumps(to_json(config), indent=2) + "\n")

    def config(self) -> Config:
        """The configuration of the run."""
        if not self.config_file.is_file():
            raise InputError(
                f"{self.path} is not a run (it has no config.json); give the folder that memspan train named"
            )
        plain = read_json(self.config_file)
        task = plain.get("task")
        if isinstance(task, dict) and task.get("name") == "gridworld":
            raise InputError(
                f"{self.path} is of an agent that lives in a grid world; only resume, evaluate and report know such runs"
            )
        return from_json(plain, str(self.config_file))

    def vocabulary(self) -> Vocabulary | None:
        """What the symbols of the run stand for; None where it has not written that down."""
        if not self.vocabulary_file.is_file():
            return None
        return Vocabulary.from_json(read_json(self.vocabulary_file), str(self.vocabulary_file))

    def check_text(self, task: Task) -> None:
        """Refuse a task whose symbols stand for something else by now than what the run has learnt."""
        kept = self.vocabulary()
        if kept is not None and kept != task.vocabulary:
            raise InputError(
                f"the text that {self.path} learnt has changed: its symbols are not those of vocabulary.json; put the text "
                "back, or train again"
            )

    def metrics(self) -> list[dict[str, Any]]:
        """The lines of metrics.jsonl; a last line that is not whole is left out."""
        return [_parsed(self.metrics_file, line) for line in _lines(self.metrics_file)]

    def metrics_length(self) -> int:
        """Bytes of metrics.jsonl."""
        return self.metrics_file.stat().st_size if self.metrics_file.is_file() else 0

    def seconds(self) -> float:
        """What was spent so far, in all sessions."""
        return sum(self._sessions().values())

    def sessions(self) -> int:
        """How often the run was begun or gone on with."""
        return len(self._sessions())

    def _sessions(self) -> dict[int, float]:
        """The seconds of every session; a line that cannot be read costs nothing but the time it tells of."""
        found: dict[int, float] = {}
        for line in _lines(self.timing_file):
            with contextlib.suppress(CorruptError, KeyError):
                told = _parsed(self.timing_file, line)
                found[told["session"]] = told["seconds"]
        return found

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Held while the run is written to; the system lets go of it when the process ends, however it ends."""
        self.path.mkdir(parents=True, exist_ok=True)
        handle = os.open(self.path / "lock", os.O_CREAT | os.O_RDWR, 0o644)
        try:
            _take(handle, self.path)
            yield
        finally:
            os.close(handle)


def read_json(path: Path) -> dict[str, Any]:
    """The object in a file of a run."""
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CorruptError(f"{path} cannot be read as JSON: {error}; train again") from error
    if not isinstance(plain, dict):
        raise CorruptError(f"{path} is not an object; train again")
    return plain


def _take(handle: int, path: Path) -> None:
    try:
        import fcntl
    except ImportError:  # where files have no such locks, two runs into one folder go unnoticed
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise InputError(
            f"{path} is being written to by another process; wait for it, or give another --out"
        ) from error


def _lines(path: Path) -> list[str]:
    """Those that are whole."""
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
    return [line for line in lines if line.endswith("\n")]


def _parsed(path: Path, line: str) -> dict[str, Any]:
    try:
        return dict(json.loads(line))
    except (ValueError, TypeError) as error:
        raise CorruptError(
            f"{path} has a line that is no JSON object: {line.strip()[:40]!r}; put it back, or train again"
        ) from error


def environment() -> dict[str, str]:
    """What a run was made with."""
    import torch

    return {
        "memspan": version("memspan"),
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "machine": platform.machine(),
        "system": platform.system(),
    }


@contextlib.contextmanager
def place_of(out: Path | None, root: Path, task: str, cell: str, *, shared: bool = False) -> Iterator[Path]:
    """The folder of a new run: `out`, or else `root/TASK-CELL-NUMBER`, the first that is not there.

    The latter is made at once, so that nobody who asks at the same time gets it, too, and is gone again where nothing was
    written into it; unless several processes that share one training all ask.
    """
    if out is not None:
        yield out
        return
    paths = (root / f"{task}-{cell}-{number}" for number in itertools.count(1))
    path = next(path for path in paths if (not path.exists() if shared else _made(path)))
    try:
        yield path
    finally:
        for empty in () if shared else (path, root):
            with contextlib.suppress(OSError):
                empty.rmdir()


def _made(path: Path) -> bool:
    """Whether a folder was not there before."""
    try:
        path.mkdir(parents=True)
    except FileExistsError:
        return False
    return True

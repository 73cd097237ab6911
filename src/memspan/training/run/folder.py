"""The folder of a run: paths, configuration, metrics, checkpoints. One writer at a time, no file half-written."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, final

from memspan.errors import CorruptError, InputError
from memspan.models.vocabulary import Vocabulary
from memspan.results.files import write_text

# Recent checkpoints to keep in addition to the best.
CHECKPOINTS = 2


@final
@dataclass(frozen=True)
class RunFolder:
    """Paths of a run and access to its files. Supervised runs and agents share this layout."""

    path: Path

    @property
    def config_file(self) -> Path:
        return self.path / "config.json"

    @property
    def vocabulary_file(self) -> Path:
        """The strings of the symbols; only tasks on text have it."""
        return self.path / "vocabulary.json"

    @property
    def metrics_file(self) -> Path:
        return self.path / "metrics.jsonl"

    @property
    def timing_file(self) -> Path:
        return self.path / "timing.jsonl"

    @property
    def events(self) -> Path:
        """The log directory of TensorBoard."""
        return self.path / "tensorboard"

    @property
    def checkpoints(self) -> Path:
        return self.path / "checkpoints"

    def checkpoint(self, update: int) -> Path:
        """The checkpoint file of one update."""
        return self.checkpoints / f"{update:08d}.safetensors"

    def saved(self) -> list[int]:
        """Updates that have a checkpoint, latest first."""
        found = (path.stem for path in self.checkpoints.glob("*.safetensors"))
        return sorted((int(stem) for stem in found if stem.isdecimal()), reverse=True)

    def prune(self, best: set[int | None]) -> None:
        """Remove all checkpoints but the most recent ones and the best."""
        for update in self.saved()[CHECKPOINTS:]:
            if update not in best:
                self.checkpoint(update).unlink(missing_ok=True)

    def check_free(self) -> None:
        """Refuse a path that is a file, and a folder that holds a run or the runs of several seeds."""
        if self.path.exists() and not self.path.is_dir():
            raise InputError(f"{self.path} is a file; expected a folder for the run; give another --out")
        if self.config_file.exists() or self.saved() or any(self.path.glob("seed-*/config.json")):
            raise InputError(
                f"{self.path} already holds a run; continue it with memspan resume {self.path}, or give another --out"
            )

    def begin(
        self, config: dict[str, Any], *, vocabulary: Vocabulary | None = None, packages: Sequence[str] = ()
    ) -> None:
        """Write environment, vocabulary and configuration into a folder without a run; `--config` reads the latter."""
        self.check_free()
        made_with = environment() | {name: version(name) for name in packages}
        write_text(self.path / "environment.json", json.dumps(made_with, indent=2) + "\n")
        if vocabulary is not None:
            write_text(self.vocabulary_file, json.dumps(vocabulary.to_json()) + "\n")
        self._write_config(config)  # last: a folder with this file counts as a run

    def resume(self, config: dict[str, Any]) -> None:
        """Write the configuration, whose limits may have changed, and remove partial files of a killed process."""
        for path in self.checkpoints.glob(".*.part"):
            path.unlink(missing_ok=True)
        self._write_config(config)

    def _write_config(self, config: dict[str, Any]) -> None:
        write_text(self.config_file, json.dumps(config, indent=2) + "\n")

    def config_json(self) -> dict[str, Any]:
        """The configuration of the run as a JSON object."""
        if not self.config_file.is_file():
            raise InputError(
                f"{self.path} is not a run (it has no config.json); give the folder that memspan train printed"
            )
        return read_json(self.config_file)

    def vocabulary(self) -> Vocabulary | None:
        """The strings of the run's symbols; None if the run has no vocabulary file."""
        if not self.vocabulary_file.is_file():
            return None
        return Vocabulary.from_json(read_json(self.vocabulary_file), str(self.vocabulary_file))

    def check_vocabulary(self, vocabulary: Vocabulary | None) -> None:
        """Refuse a task whose vocabulary differs from the one that the run was trained with."""
        saved = self.vocabulary()
        if saved is not None and saved != vocabulary:
            raise InputError(
                f"the text that {self.path} was trained on has changed: its symbols differ from vocabulary.json; restore "
                "the text, or train again"
            )

    def metrics(self) -> list[dict[str, Any]]:
        """The lines of metrics.jsonl without an incomplete last one."""
        return [_parse_line(self.metrics_file, line) for line in _complete_lines(self.metrics_file)]

    def metrics_length(self) -> int:
        """Size of metrics.jsonl in bytes."""
        return self.metrics_file.stat().st_size if self.metrics_file.is_file() else 0

    def seconds(self) -> float:
        """Training time of all sessions."""
        return sum(self._session_seconds().values())

    def sessions(self) -> int:
        """How many times the run was started or resumed."""
        return len(self._session_seconds())

    def _session_seconds(self) -> dict[int, float]:
        found: dict[int, float] = {}
        for line in _complete_lines(self.timing_file):
            # An unreadable line loses only the time it records.
            with contextlib.suppress(CorruptError, KeyError):
                timing = _parse_line(self.timing_file, line)
                found[timing["session"]] = timing["seconds"]
        return found

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the run's lock while writing. The operating system releases it however the process ends."""
        self.path.mkdir(parents=True, exist_ok=True)
        # The file stays when the lock is released: removing it would let two processes lock different files.
        handle = os.open(self.path / "lock", os.O_CREAT | os.O_RDWR, 0o644)
        try:
            _acquire(handle, self.path)
            yield
        finally:
            os.close(handle)

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """The lock, with errors of the disk as `InputError`."""
        try:
            with self.lock():
                yield
        except OSError as error:
            raise InputError(
                f"cannot write to {error.filename or self.path}: {error.strerror or error}; free space or choose another "
                "--out"
            ) from error


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file of a run."""
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CorruptError(f"{path} cannot be read as JSON: {error}; train again") from error
    if not isinstance(plain, dict):
        raise CorruptError(f"{path} does not hold a JSON object; train again")
    return plain


def _acquire(handle: int, path: Path) -> None:
    try:
        import fcntl
    except ImportError:  # no file locks on this system: two writers go unnoticed
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise InputError(f"another process is writing to {path}; wait until it ends, or give another --out") from error


def _complete_lines(path: Path) -> list[str]:
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
    return [line for line in lines if line.endswith("\n")]


def _parse_line(path: Path, line: str) -> dict[str, Any]:
    try:
        return dict(json.loads(line))
    except (ValueError, TypeError) as error:
        raise CorruptError(
            f"{path} has a line that is not a JSON object: {line.strip()[:40]!r}; restore it, or train again"
        ) from error


def environment() -> dict[str, str]:
    """Versions and platform that a run was made with."""
    import torch

    return {
        "memspan": version("memspan"),
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "machine": platform.machine(),
        "system": platform.system(),
    }


@contextlib.contextmanager
def new_run_folder(out: Path | None, root: Path, task: str, cell: str, *, shared: bool = False) -> Iterator[Path]:
    """The folder of a new run: `out`, or the first of `root/TASK-CELL-1`, `-2`, … that does not exist.

    The numbered folder is created at once, so that runs started at the same time get different ones, and is removed
    again if it stays empty. Processes that share one training (`shared`) do neither.
    """
    if out is not None:
        yield out
        return
    paths = (root / f"{task}-{cell}-{number}" for number in itertools.count(1))
    path = next(path for path in paths if (not path.exists() if shared else _create(path)))
    try:
        yield path
    finally:
        for empty in () if shared else (path, root):
            with contextlib.suppress(OSError):
                empty.rmdir()


def _create(path: Path) -> bool:
    """Whether the folder was created, i.e. did not exist."""
    try:
        path.mkdir(parents=True)
    except FileExistsError:
        return False
    return True

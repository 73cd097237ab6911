"""Names (paths, folders, URLs, `data:NAME`, `-`) become inputs, and what cannot be read is refused before any work.

>>> open_sources("no-such-file.txt")
Traceback (most recent call last):
    ...
memspan.errors.InputError: no such file or folder: no-such-file.txt; check the name
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import BinaryIO

from memspan.errors import InputError
from memspan.sequences.streams import Input, cannot_read

PathName = str | os.PathLike[str]

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.:-]*://")


def open_sources(source: PathName | Iterable[PathName]) -> tuple[tuple[str, ...], tuple[Input, ...]]:
    """The names as given, `data:NAME` as the paths of its files, and every input they stand for, folders in sorted order."""
    given = [source] if isinstance(source, str | os.PathLike) else list(source)
    if not given or "" in given:
        raise InputError("no path was given; give a file, a folder, a URL, or - for standard input")
    names = tuple(path for name in given for path in expanded_paths(_name(name)))
    return names, tuple(item for name in names for item in _inputs(name))


def _name(source: PathName) -> str:
    if not isinstance(source, str | os.PathLike):
        raise InputError(
            f"a source is a {type(source).__name__}; expected a path; for data use Sequence.from_documents"
        )
    return os.fsdecode(source)


def expanded_paths(name: str) -> list[str]:
    if not name.startswith("data:"):
        return [name]
    # The catalog is loaded only for those who use it.
    from memspan.data import resolve

    return [str(path) for path in resolve(name.removeprefix("data:"))]


def _inputs(name: str) -> list[Input]:
    if name == "-":
        return [Input("-", _standard_input)]
    if not _URL.match(name):
        return local_inputs(Path(name), name)
    # fsspec is loaded only for those who use it.
    from memspan.sequences.remote import local_path, remote_inputs

    path = local_path(name)
    return remote_inputs(name) if path is None else local_inputs(path, name)


def _standard_input() -> AbstractContextManager[BinaryIO]:
    return nullcontext(sys.stdin.buffer)


def local_inputs(path: Path, name: str) -> list[Input]:
    """A file (or pipe) of this machine, or all regular files below a folder, hidden ones aside."""
    try:
        status = path.stat()
    except FileNotFoundError as error:
        raise InputError(f"no such file or folder: {name}; check the name") from error
    except (OSError, ValueError) as error:
        raise cannot_read(name, error) from error
    if not stat.S_ISDIR(status.st_mode):
        return [_file(path, name, status)]
    files = _files_below(path)
    if not files:
        raise InputError(
            f"no files below the folder {name} (hidden ones are skipped); give a folder with files"
        )
    return [_file(file, str(file), file.stat()) for file in files]


def _file(path: Path, name: str, status: os.stat_result) -> Input:
    if not os.access(path, os.R_OK):
        raise cannot_read(name, PermissionError(13, os.strerror(13)))
    regular = stat.S_ISREG(status.st_mode)
    opener = partial(path.open, "rb")
    return Input(name, opener, status.st_size, path) if regular else Input(name, opener)


def _files_below(folder: Path) -> list[Path]:
    def refuse(error: OSError) -> None:
        raise cannot_read(str(error.filename), error) from error

    files: list[Path] = []
    for parent, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths = (Path(parent, name) for name in names if not name.startswith("."))
        files += [path for path in paths if path.is_file()]
    return sorted(files)

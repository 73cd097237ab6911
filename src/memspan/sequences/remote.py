"""Inputs on other machines (and in memory) through fsspec: http://, https://, s3://, memory:// …"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import BinaryIO, cast

import fsspec
from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem

from memspan.errors import InputError
from memspan.sequences.streams import Input, cannot_read, one_line

_WEB = ("http://", "https://")


def local_path(url: str) -> Path | None:
    """The path on this machine that a `file://` address means; None for any other."""
    system, path = _resolved(url)
    return Path(path) if isinstance(system, LocalFileSystem) else None


def remote_inputs(url: str) -> list[Input]:
    """The file at an address, or every file below it where the place has folders (the web has none)."""
    system, path = _resolved(url)
    if path.startswith(_WEB):
        return [Input(url, partial(_opened, system, path, url))]
    try:
        files = sorted(_visible(list(system.find(path)), path)) if system.isdir(path) else [path]
        sizes = [int(system.info(file)["size"]) for file in files]
    except FileNotFoundError as error:
        raise InputError(f"no such file or folder: {url}; check the address") from error
    except (OSError, *_web_errors()) as error:
        raise cannot_read(url, error) from error
    if not files:
        raise InputError(
            f"no files below the folder {url} (hidden ones are skipped); give a folder with files"
        )
    names = [url if file == path else system.unstrip_protocol(file) for file in files]
    return [
        Input(name, partial(_opened, system, file, name), size)
        for name, file, size in zip(names, files, sizes, strict=True)
    ]


def _resolved(url: str) -> tuple[fsspec.AbstractFileSystem, str]:
    try:
        system, path = url_to_fs(url)
    except (ValueError, ImportError) as error:
        raise InputError(
            f"cannot open {url}: {one_line(error)}; install what it names, or give a path"
        ) from error
    return system, str(path)


def _visible(files: list[str], folder: str) -> list[str]:
    below = [(file, file.removeprefix(folder).split("/")) for file in files]
    return [file for file, parts in below if not any(part.startswith(".") for part in parts)]


@contextmanager
def _opened(system: fsspec.AbstractFileSystem, path: str, url: str) -> Iterator[BinaryIO]:
    web = path.startswith(_WEB)
    try:
        # A block size of 0 streams a web page from its start; servers need not support ranges.
        with system.open(path, "rb", block_size=0) if web else system.open(path, "rb") as file:
            yield cast(BinaryIO, file)
    except FileNotFoundError as error:
        if _did_not_answer(error.__cause__):
            raise cannot_read(url, error.__cause__ or error) from error
        raise InputError(f"no such file: {url}; check the address") from error
    except _web_errors() as error:
        raise cannot_read(url, error) from error


def _did_not_answer(cause: BaseException | None) -> bool:
    """fsspec says "not found" for every trouble with a web address; the cause tells which it was."""
    not_found = isinstance(cause, FileNotFoundError) or getattr(cause, "status", None) == 404
    return cause is not None and not not_found


def _web_errors() -> tuple[type[Exception], ...]:
    """What aiohttp raises beside OSError; fsspec loads it for web addresses only."""
    aiohttp = sys.modules.get("aiohttp")
    return () if aiohttp is None else (aiohttp.ClientError,)

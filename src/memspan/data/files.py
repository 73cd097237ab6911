"""Known files out of an archive, and nothing else: no member chooses its place or its size on disk."""

from __future__ import annotations

import gzip
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Protocol

from memspan.data.checking import UnusableError
from memspan.data.data_set import DataFile

LARGEST = 2 << 30
"""Bytes that a member of unknown size may unpack to; the largest of the catalogue has 0.5 GB."""
_PIECE = 1 << 20
_DAMAGE = (zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, NotImplementedError)


class _Stream(Protocol):
    def read(self, size: int, /) -> bytes: ...


def unpack(archive: Path, files: Sequence[DataFile], folder: Path) -> None:
    """Write `files` of `archive` (.zip, .tgz, .tar.gz, .gz) into `folder` under their own names."""
    wanted = {file.name: file for file in files}
    try:
        for name, stream in _members(archive, files):
            file = wanted.pop(name, None)
            if file is not None:
                _write(stream, folder / file.name, file.size or LARGEST)
    except _DAMAGE as error:
        raise UnusableError(f"{archive.name} is damaged or not what its name says ({error})") from error
    if wanted:
        raise UnusableError(f"{archive.name} does not hold {', '.join(wanted)}")


def _members(archive: Path, files: Sequence[DataFile]) -> Iterator[tuple[str, _Stream]]:
    """The last part of the name of every regular file in the archive, with its bytes."""
    if archive.name.endswith(".zip"):
        yield from _zip_members(archive)
    elif archive.name.endswith((".tgz", ".tar.gz", ".tar")):
        yield from _tar_members(archive)
    else:
        with gzip.open(archive, "rb") as stream:
            yield files[0].name, stream


def _zip_members(archive: Path) -> Iterator[tuple[str, _Stream]]:
    with zipfile.ZipFile(archive) as opened:
        for member in opened.infolist():
            name = _last_part(member.filename)
            if not member.is_dir():
                with opened.open(member) as stream:
                    yield name, stream


def _tar_members(archive: Path) -> Iterator[tuple[str, _Stream]]:
    with tarfile.open(archive) as opened:
        for member in opened:
            name = _last_part(member.name)
            stream = opened.extractfile(member) if member.isfile() else None
            if stream is not None:
                with stream:
                    yield name, stream


def _last_part(member: str) -> str:
    path = PurePosixPath(member.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts:
        raise UnusableError(f"the archive holds {member!r}, which leads outside of it")
    return path.name


def _write(stream: _Stream, path: Path, limit: int) -> None:
    """Copy at most `limit` bytes; one more and the archive is refused before it fills the disk."""
    written = 0
    with path.open("xb") as target:
        while piece := stream.read(_PIECE):
            written += len(piece)
            if written > limit:
                raise UnusableError(f"{path.name} unpacks to more than the expected {limit:,} bytes")
            target.write(piece)

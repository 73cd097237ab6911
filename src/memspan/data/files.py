"""Files of data sets: checksums, extraction from archives, and the idx format of MNIST."""

from __future__ import annotations

import gzip
import hashlib
import math
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memspan.data.catalog import DataFile
from memspan.errors import InputError, MemspanError

# Limit in bytes for a member of unknown size; the largest file of the catalog has 0.5 GB.
LARGEST = 2 << 30
_PIECE = 1 << 20
_DAMAGE = (zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, NotImplementedError)
# The third byte of the magic number of an idx file; the fourth is the number of axes.
UNSIGNED_BYTES = 8


class UnusableError(MemspanError):
    """The file from one address cannot be used; the next address may work."""


def check(path: Path, *, checksum: str | None = None, size: int | None = None) -> None:
    """Raise unless the file has the known `size` and `checksum` (`sha256:…`)."""
    actual = path.stat().st_size
    if size is not None and actual != size:
        raise UnusableError(f"{path.name} has {actual:,} bytes, expected {size:,}")
    if checksum is None:
        return
    kind, _, expected = checksum.partition(":")
    with path.open("rb") as file:
        got = hashlib.file_digest(file, kind).hexdigest()
    if got != expected:
        raise UnusableError(f"{path.name} has the {kind} {got}, expected {expected}")


class _Stream(Protocol):
    def read(self, size: int, /) -> bytes: ...


def unpack(archive: Path, files: Sequence[DataFile], folder: Path) -> None:
    """Extract `files` of `archive` (.zip, .tgz, .tar.gz, .gz) into `folder`.

    Nothing else is written, and no member determines its path or its size on disk.
    """
    missing = {file.name: file for file in files}
    try:
        for name, stream in _members(archive, files):
            file = missing.pop(name, None)
            if file is not None:
                _write(stream, folder / file.name, file.size or LARGEST)
    except _DAMAGE as error:
        raise UnusableError(f"{archive.name} is damaged or not of the type of its extension ({error})") from error
    if missing:
        raise UnusableError(f"{archive.name} does not hold {', '.join(missing)}")


def _members(archive: Path, files: Sequence[DataFile]) -> Iterator[tuple[str, _Stream]]:
    """The base name and the bytes of every regular file in the archive."""
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
    # Archives made on Windows separate folders with backslashes.
    path = PurePosixPath(member.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts:
        raise UnusableError(f"the archive holds {member!r}, a path outside of it")
    return path.name


def _write(stream: _Stream, path: Path, limit: int) -> None:
    """Copy at most `limit` bytes; a larger file is refused before it fills the disk."""
    written = 0
    # Exclusive creation: an archive cannot overwrite anything that exists.
    with path.open("xb") as target:
        while piece := stream.read(_PIECE):
            written += len(piece)
            if written > limit:
                raise UnusableError(f"{path.name} unpacks to more than the expected {limit:,} bytes")
            target.write(piece)


def read_idx(path: Path, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """Read an array of this `shape` from a file in the idx format of MNIST, which may be gzipped.

    00 00 08 03   00 00 ea 60   00 00 00 1c   00 00 00 1c   00 00 00 …
    magic, axes   60,000        28            28            60,000 x 28 x 28 bytes
    """
    header = np.array([UNSIGNED_BYTES << 8 | len(shape), *shape], ">u4").tobytes()
    size = len(header) + math.prod(shape)
    try:
        with path.open("rb") as plain:
            zipped = plain.read(2) == b"\x1f\x8b"
        with gzip.open(path, "rb") if zipped else path.open("rb") as file:
            content = file.read(size + 1)  # one byte more than expected, to detect a longer file
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path} cannot be read ({error}); replace the file") from error
    if content[: len(header)] != header:
        raise InputError(
            f"{path} starts with {content[: len(header)].hex(' ', 4) or 'nothing'}; expected {header.hex(' ', 4)}, "
            f"an idx file of {_shape(shape)} unsigned bytes; replace the file"
        )
    if len(content) != size:
        held = f"more than {size:,}" if len(content) > size else f"{len(content):,}"
        raise InputError(f"{path} holds {held} bytes; expected {size:,}; replace the file")
    return np.frombuffer(content, np.uint8, offset=len(header)).reshape(shape)


def _shape(shape: tuple[int, ...]) -> str:
    return " x ".join(f"{length:,}" for length in shape)

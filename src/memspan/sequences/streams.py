"""One input as a stream of bytes, decompressed on the fly; what goes wrong is explained in one line."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast, final
from urllib.parse import urlsplit

from memspan.errors import InputError

PIECE_BYTES = 1 << 20
"""Bytes read at a time: enough to work in long strides, little enough for a processor's cache."""

_PACKED = {".gz": "gzip", ".xz": "xz", ".bz2": "bzip2"}


@final
@dataclass(frozen=True)
class Input:
    """A name and how to open it.

    >>> Input("http://example.org/genome.fa.gz?version=2", opener=lambda: open("/dev/null", "rb")).ending
    '.fa'
    """

    name: str
    opener: Callable[[], AbstractContextManager[BinaryIO]]
    size: int | None = None
    """Bytes as stored, where they are known beforehand."""
    path: Path | None = None
    """The regular file on this machine, if it is one."""

    @property
    def packing(self) -> str | None:
        """gzip, xz or bzip2, from the name's ending."""
        return _PACKED.get(_suffix(self.name))

    @property
    def ending(self) -> str:
        """The ending in lower case that tells the kind of file, that of a compression aside."""
        name = urlsplit(self.name).path if "://" in self.name else self.name
        return _suffix(name[: -len(_suffix(name))] if self.packing else name)

    @contextmanager
    def stream(self) -> Iterator[BinaryIO]:
        """The decompressed bytes; an error while reading leaves as an `InputError`."""
        with self._opened() as (_, file):
            yield file

    def pieces(
        self, size: int = PIECE_BYTES, advance: Callable[[float], None] | None = None
    ) -> Iterator[bytes]:
        """The decompressed bytes, at most `size` at a time; `advance` is told the stored bytes read."""
        told = 0
        with self._opened() as (raw, file):
            while piece := file.read(size):
                yield piece
                if advance is not None and self.size is not None:
                    position = raw.tell()
                    advance(position - told)
                    told = position

    @contextmanager
    def _opened(self) -> Iterator[tuple[BinaryIO, BinaryIO]]:
        with _explained(self), self.opener() as raw, _unpacked(raw, self.packing) as file:
            yield raw, file


def _suffix(name: str) -> str:
    path = urlsplit(name).path if "://" in name else name
    return PurePosixPath(path).suffix.lower()


@contextmanager
def _unpacked(raw: BinaryIO, packing: str | None) -> Iterator[BinaryIO]:
    if packing is None:
        yield raw
        return
    opened = {"gzip": gzip.open, "xz": lzma.open, "bzip2": bz2.open}[packing](raw, "rb")
    with opened as file:
        yield cast(BinaryIO, file)


@contextmanager
def _explained(source: Input) -> Iterator[None]:
    try:
        yield
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        raise _damaged(source, error) from error
    except OSError as error:
        # bz2 reports bad data as an OSError without a number.
        if source.packing and error.errno is None:
            raise _damaged(source, error) from error
        raise cannot_read(source.name, error) from error


def _damaged(source: Input, error: Exception) -> InputError:
    return InputError(
        f"{source.name} is not a complete {source.packing} file ({one_line(error)}); "
        "get it again, or rename it if it is not compressed"
    )


def cannot_read(name: str, error: BaseException) -> InputError:
    """The explanation of a failure of the operating system."""
    reason = (
        (error.strerror if isinstance(error, OSError) else None) or one_line(error) or type(error).__name__
    )
    return InputError(f"cannot read {name}: {reason}; give a file that can be read")


def one_line(error: BaseException) -> str:
    """An error's own words without line breaks."""
    return " ".join(str(error).split())

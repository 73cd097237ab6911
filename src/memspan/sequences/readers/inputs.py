"""Inputs of a reader: files, folders, standard input, URLs and `data:NAME`, as streams of decompressed bytes.

Whatever cannot be read is refused before any work starts, in one line.

>>> open_inputs("no-such-file.txt")
Traceback (most recent call last):
    ...
memspan.errors.InputError: no such file or folder: no-such-file.txt; check the name
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, BinaryIO, cast, final
from urllib.parse import urlsplit

from memspan.errors import InputError
from memspan.progress import SILENT, Stage
from memspan.sequences.builder import MEMORY_LIMIT, Builder, short_names

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

PathName = str | os.PathLike[str]

# Bytes read at a time: large enough for long strides, small enough for a processor's cache.
PIECE_BYTES = 1 << 20

_COMPRESSIONS = {".gz": "gzip", ".xz": "xz", ".bz2": "bzip2"}
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.:-]*://")
_WEB = ("http://", "https://")
_NO_STAGE = SILENT.stage("reading", 0)


@final
@dataclass(frozen=True, kw_only=True)
class Request:
    """The inputs and the validated options of one call of `read`."""

    names: tuple[str, ...]
    """The sources as given."""
    inputs: tuple[Input, ...]
    documents: str = "file"
    column: str | int | None = None
    key: str | None = None
    transform: str = "none"
    levels: int = 4
    missing: str = "error"
    argument: str | None = None
    """What follows the colon of `--as`: a token type, or the path of a tokenizer."""
    memory_limit: int = MEMORY_LIMIT
    piece: int = PIECE_BYTES
    """Bytes read at a time; the result does not depend on it."""
    stage: Stage = _NO_STAGE

    @property
    def name(self) -> str:
        """The sources for a message."""
        return short_names(self.names)

    @property
    def size(self) -> int:
        """Stored bytes of all inputs of known size."""
        return sum(item.size or 0 for item in self.inputs)

    def pieces(self, item: Input) -> Iterator[bytes]:
        """The decompressed bytes of an input, piece by piece."""
        return item.pieces(self.piece, self.stage.advance)

    def builder(self, expected: int = 0) -> Builder:
        """A builder for the symbols; `expected` is their approximate size in bytes."""
        return Builder(self.memory_limit, expected)


@final
@dataclass(frozen=True)
class Input:
    """One file or stream: its name and how to open it.

    >>> Input("http://example.org/genome.fa.gz?version=2", opener=lambda: open("/dev/null", "rb")).extension
    '.fa'
    """

    name: str
    opener: Callable[[], AbstractContextManager[BinaryIO]]
    size: int | None = None
    """Stored bytes, if known in advance."""
    path: Path | None = None
    """The path of a regular local file."""

    @property
    def compression(self) -> str | None:
        """gzip, xz or bzip2, from the extension."""
        return _COMPRESSIONS.get(_suffix(self.name))

    @property
    def extension(self) -> str:
        """The extension in lower case, without that of the compression."""
        name = urlsplit(self.name).path if "://" in self.name else self.name
        return _suffix(name[: -len(_suffix(name))] if self.compression else name)

    @contextmanager
    def stream(self) -> Iterator[BinaryIO]:
        """Open the decompressed bytes; read errors become an `InputError`."""
        with self._opened() as (_, file):
            yield file

    def pieces(self, size: int = PIECE_BYTES, advance: Callable[[float], None] | None = None) -> Iterator[bytes]:
        """The decompressed bytes, at most `size` at a time; `advance` receives the number of stored bytes read."""
        reported = 0
        with self._opened() as (raw, file):
            while piece := file.read(size):
                yield piece
                if advance is not None and self.size is not None:
                    position = raw.tell()
                    advance(position - reported)
                    reported = position

    @contextmanager
    def _opened(self) -> Iterator[tuple[BinaryIO, BinaryIO]]:
        """The stored and the decompressed stream."""
        try:
            with self.opener() as raw:
                if self.compression is None:
                    yield raw, raw
                else:
                    opened = {"gzip": gzip.open, "xz": lzma.open, "bzip2": bz2.open}[self.compression]
                    with opened(raw, "rb") as file:
                        yield raw, cast(BinaryIO, file)
        except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
            raise self._damaged(error) from error
        except OSError as error:
            # bz2 reports bad data as an OSError without an error number.
            if self.compression and error.errno is None:
                raise self._damaged(error) from error
            raise cannot_read(self.name, error) from error

    def _damaged(self, error: Exception) -> InputError:
        return InputError(
            f"{self.name} is not a complete {self.compression} file ({one_line(error)}); "
            "get it again, or rename it if it is not compressed"
        )


def _suffix(name: str) -> str:
    path = urlsplit(name).path if "://" in name else name
    return PurePosixPath(path).suffix.lower()


def open_inputs(source: PathName | Iterable[PathName]) -> tuple[tuple[str, ...], tuple[Input, ...]]:
    """The names of the sources, with `data:NAME` replaced by its paths, and their inputs, folders in sorted order."""
    given = [source] if isinstance(source, str | os.PathLike) else list(source)
    if not given or "" in given:
        raise InputError("no path was given; give a file, a folder, a URL, or - for standard input")
    for item in given:
        if not isinstance(item, str | os.PathLike):
            raise InputError(
                f"a source is a {type(item).__name__}; expected a path; for data use Sequence.from_documents"
            )
    names = tuple(path for item in given for path in expand_paths(os.fsdecode(item)))
    return names, tuple(item for name in names for item in _inputs(name))


def expand_paths(name: str) -> list[str]:
    """The paths of `data:NAME`; any other name as it is."""
    if not name.startswith("data:"):
        return [name]
    from memspan.data import resolve

    return [str(path) for path in resolve(name.removeprefix("data:"))]


def _inputs(name: str) -> list[Input]:
    if name == "-":
        return [Input("-", lambda: nullcontext(sys.stdin.buffer))]
    if not _URL.match(name):
        return _local_inputs(Path(name), name)
    return _remote_inputs(name)


def _local_inputs(path: Path, name: str) -> list[Input]:
    """A local file or pipe, or all regular files below a folder except hidden ones."""
    try:
        status = path.stat()
    except FileNotFoundError as error:
        raise InputError(f"no such file or folder: {name}; check the name") from error
    except (OSError, ValueError) as error:
        raise cannot_read(name, error) from error
    if not stat.S_ISDIR(status.st_mode):
        return [_local_input(path, name, status)]
    files = _files_below(path)
    if not files:
        raise _empty_folder(name)
    return [_local_input(file, str(file), file.stat()) for file in files]


def _local_input(path: Path, name: str, status: os.stat_result) -> Input:
    if not os.access(path, os.R_OK):
        raise cannot_read(name, PermissionError(13, os.strerror(13)))
    # Pipes and devices have no size and cannot be read twice.
    regular = stat.S_ISREG(status.st_mode)
    opener = partial(path.open, "rb")
    return Input(name, opener, status.st_size, path) if regular else Input(name, opener)


def _files_below(folder: Path) -> list[Path]:
    def refuse(error: OSError) -> None:
        raise cannot_read(str(error.filename), error) from error

    files: list[Path] = []
    for parent, folders, names in os.walk(folder, onerror=refuse):
        # Changed in place, so that os.walk does not enter hidden folders.
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths = (Path(parent, name) for name in names if not name.startswith("."))
        files += [path for path in paths if path.is_file()]
    return sorted(files)


def _remote_inputs(url: str) -> list[Input]:
    """The file at a URL through fsspec, or every file below it if the file system has folders (the web has none)."""
    # fsspec takes long to load, and most inputs are local.
    from fsspec.core import url_to_fs
    from fsspec.implementations.local import LocalFileSystem

    try:
        system, path = url_to_fs(url)
    except (ValueError, ImportError) as error:
        raise InputError(f"cannot open {url}: {one_line(error)}; install what it names, or give a path") from error
    if isinstance(system, LocalFileSystem):
        return _local_inputs(Path(path), url)
    if path.startswith(_WEB):
        return [Input(url, partial(_remote_stream, system, path, url))]
    try:
        files = sorted(_visible(list(system.find(path)), path)) if system.isdir(path) else [path]
        sizes = [int(system.info(file)["size"]) for file in files]
    except FileNotFoundError as error:
        raise InputError(f"no such file or folder: {url}; check the address") from error
    except (OSError, *_web_errors()) as error:
        raise cannot_read(url, error) from error
    if not files:
        raise _empty_folder(url)
    names = [url if file == path else system.unstrip_protocol(file) for file in files]
    return [
        Input(name, partial(_remote_stream, system, file, name), size)
        for name, file, size in zip(names, files, sizes, strict=True)
    ]


def _visible(files: list[str], folder: str) -> list[str]:
    below = [(file, file.removeprefix(folder).split("/")) for file in files]
    return [file for file, parts in below if not any(part.startswith(".") for part in parts)]


@contextmanager
def _remote_stream(system: AbstractFileSystem, path: str, url: str) -> Iterator[BinaryIO]:
    # A block size of 0 streams a web page from its start, because servers need not support ranges.
    options = {"block_size": 0} if path.startswith(_WEB) else {}
    try:
        with system.open(path, "rb", **options) as file:
            yield cast(BinaryIO, file)
    except FileNotFoundError as error:
        # fsspec raises FileNotFoundError for every failure of a web request; its cause says which one it was.
        cause = error.__cause__
        missing = isinstance(cause, FileNotFoundError) or getattr(cause, "status", None) == 404
        if cause is not None and not missing:
            raise cannot_read(url, cause) from error
        raise InputError(f"no such file: {url}; check the address") from error
    except _web_errors() as error:
        raise cannot_read(url, error) from error


def _web_errors() -> tuple[type[Exception], ...]:
    """Errors of aiohttp that are not an OSError; fsspec loads aiohttp for web addresses only."""
    aiohttp = sys.modules.get("aiohttp")
    return () if aiohttp is None else (aiohttp.ClientError,)


def _empty_folder(name: str) -> InputError:
    return InputError(f"no files below the folder {name} (hidden files are skipped); give a folder with files")


def cannot_read(name: str, error: BaseException) -> InputError:
    """An error of the operating system or of a connection, explained."""
    system = error.strerror if isinstance(error, OSError) else None
    reason = system or one_line(error) or type(error).__name__
    return InputError(f"cannot read {name}: {reason}; give a file that can be read")


def one_line(error: BaseException) -> str:
    """The message of an error without line breaks."""
    return " ".join(str(error).split())

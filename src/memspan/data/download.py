"""Download of data sets: fetched, unpacked and checked in a temporary folder, then moved into place."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path, PurePosixPath
from typing import final
from urllib.parse import unquote, urlsplit

from memspan.data.catalog import Archive, DataSet, Folder, data_set_named
from memspan.data.files import UnusableError, check, unpack
from memspan.data.locations import cache_folder, find
from memspan.errors import InputError
from memspan.progress import SILENT, Progress, Stage
from memspan.results.files import replacing

# Timeout of a silent server.
SECONDS = 30
_PIECE = 1 << 16
_HEADERS = {
    # Some hosts refuse clients that identify as python.
    "User-Agent": "Mozilla/5.0 (compatible; memspan)",
    # Without on-the-fly compression, which hides the size and changes the checksum.
    "Accept-Encoding": "identity",
}


def get(name: str | DataSet, *, progress: Progress = SILENT, base: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder of a data set, after downloading it if it is not complete.

    The folder is `base/NAME`; without `base`, the one that `find` returns, otherwise one in the user's cache.
    """
    data_set = data_set_named(name)
    target = (cache_folder() if base is None else Path(base)) / data_set.name
    present = find(data_set) if base is None else (target if data_set.complete_in(target) else None)
    if present is not None:
        return present
    if not data_set.addresses:
        raise InputError(
            f"{data_set.name} has no public address; put {data_set.file_names} into {target} "
            f"or into {data_set.name} of the folder named by MEMSPAN_DATA"
        )
    failures: list[str] = []
    for address in data_set.addresses:
        try:
            _fetch(data_set, address, target, progress)
            return target
        except UnusableError as error:
            failures.append(f"{address.url} ({error})")
            progress.say(f"{failures[-1]} cannot be used")
        except OSError as error:
            raise InputError(
                f"cannot write to {target}: {error.strerror or error}; free space or set MEMSPAN_CACHE"
            ) from error
    raise InputError(
        f"cannot get {data_set.name}: {'; '.join(failures)}; check the connection and try again, "
        f"or put {data_set.file_names} into {target}"
    )


def _fetch(data_set: DataSet, address: Archive | Folder, target: Path, progress: Progress) -> None:
    """Download and check everything in a temporary folder, so that an aborted download leaves nothing in `target`."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{data_set.name}.", suffix=".part", dir=target.parent) as work:
        folder = Path(work)
        if isinstance(address, Archive):
            _download_archive(data_set, address, folder, progress)
        else:
            _download_files(data_set, address, folder, progress)
        for file in data_set.files:
            check(folder / file.name, checksum=file.checksum, size=file.size)
        for file in data_set.files:
            # Files move into place only after all of them are checked.
            with replacing(target / file.name) as temporary:
                (folder / file.name).replace(temporary)


def _download_archive(data_set: DataSet, address: Archive, folder: Path, progress: Progress) -> None:
    (folder / "archive").mkdir()
    # The archive has the name in the URL, because its extension decides how it is unpacked.
    archive = folder / "archive" / PurePosixPath(unquote(urlsplit(address.url).path)).name
    _download(address.url, archive, progress)
    check(archive, checksum=address.checksum)
    unpack(archive, data_set.files, folder)
    archive.unlink()


def _download_files(data_set: DataSet, address: Folder, folder: Path, progress: Progress) -> None:
    for file in data_set.files:
        _download(address.url + file.name, folder / file.name, progress)


def _download(url: str, path: Path, progress: Progress) -> None:
    """Download `url` to `path`, which may be incomplete if this raises."""
    # pooch and requests take long to load.
    import pooch
    import requests

    bar = _Bar(progress, f"downloading {path.name}")
    downloader = pooch.HTTPDownloader(
        progressbar=bar,  # pyright: ignore[reportArgumentType]  pooch accepts any object with this interface
        chunk_size=_PIECE,
        timeout=SECONDS,
        headers=_HEADERS,
    )
    try:
        downloader(url, str(path), None)
    except requests.HTTPError as error:
        answer = error.response
        raise UnusableError(f"{answer.status_code} {answer.reason}" if answer is not None else "HTTP error") from error
    except requests.Timeout as error:
        raise UnusableError(f"no answer within {SECONDS} s") from error
    except requests.exceptions.ChunkedEncodingError as error:
        raise UnusableError("the connection broke off") from error
    except requests.ConnectionError as error:
        raise UnusableError("no connection") from error
    except requests.RequestException as error:
        raise UnusableError(type(error).__name__) from error
    finally:
        bar.close()


@final
class _Bar:
    """A progress bar for pooch that reports to a stage, which begins when the size is known."""

    def __init__(self, progress: Progress, name: str) -> None:
        self._progress = progress
        self._name = name
        self._stage: Stage | None = None
        self._left = 0

    @property
    def total(self) -> int:
        return self._left

    @total.setter
    def total(self, size: int) -> None:
        self._left = size
        self._stage = self._progress.stage(self._name, total=size)

    def update(self, amount: int) -> None:
        """Advance, but not beyond the end: pooch counts whole pieces and then the total again."""
        step = min(amount, self._left)
        self._left -= step
        if self._stage is not None and step:
            self._stage.advance(step)

    def reset(self) -> None:
        """Do nothing: pooch resets the bar only to make it end full."""

    def close(self) -> None:
        if self._stage is not None:
            self._stage.close()
            self._stage = None

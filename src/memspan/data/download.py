"""A data set onto this machine: downloaded, unpacked, checked, and only then put where it counts."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from memspan.data.checking import UnusableError, check
from memspan.data.data_set import Archive, DataSet, Folder
from memspan.data.locations import cache_folder, find
from memspan.data.naming import named
from memspan.data.unpacking import unpack
from memspan.errors import InputError
from memspan.progress import SILENT, Progress
from memspan.results.atomic import replacing


def get(
    name: str | DataSet, *, progress: Progress = SILENT, base: str | os.PathLike[str] | None = None
) -> Path:
    """The folder of the set, downloaded first if it is not complete there.

    The folder is `base/NAME`; without `base`, wherever `find` sees the set, or else the user's cache.
    """
    data_set = named(name)
    target = (cache_folder() if base is None else Path(base)) / data_set.name
    present = find(data_set) if base is None else (target if data_set.complete_in(target) else None)
    if present is not None:
        return present
    if not data_set.addresses:
        raise InputError(
            f"{data_set.name} has no public address; put {data_set.wanted()} into {target} "
            f"or into {data_set.name} of the folder named by MEMSPAN_DATA"
        )
    _from_first_that_works(data_set, target, progress)
    return target


def _from_first_that_works(data_set: DataSet, target: Path, progress: Progress) -> None:
    failures: list[str] = []
    for address in data_set.addresses:
        try:
            _fetch(data_set, address, target, progress)
            return
        except UnusableError as error:
            failures.append(f"{address.url} ({error})")
            progress.say(f"{failures[-1]} cannot be used")
        except OSError as error:
            raise InputError(
                f"cannot write to {target}: {error.strerror or error}; free space or set MEMSPAN_CACHE"
            ) from error
    raise InputError(
        f"cannot get {data_set.name}: {'; '.join(failures)}; check the connection and try again, "
        f"or put {data_set.wanted()} into {target}"
    )


def _fetch(data_set: DataSet, address: Archive | Folder, target: Path, progress: Progress) -> None:
    """All is made and checked in a folder beside the target, so a killed download leaves nothing there."""
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
            with replacing(target / file.name) as temporary:
                (folder / file.name).replace(temporary)


def _download_archive(data_set: DataSet, address: Archive, folder: Path, progress: Progress) -> None:
    from memspan.data.downloading import download

    (folder / "archive").mkdir()
    archive = folder / "archive" / PurePosixPath(unquote(urlsplit(address.url).path)).name
    download(address.url, archive, progress)
    check(archive, checksum=address.checksum)
    unpack(archive, data_set.files, folder)
    archive.unlink()


def _download_files(data_set: DataSet, address: Folder, folder: Path, progress: Progress) -> None:
    from memspan.data.downloading import download

    for file in data_set.files:
        download(address.url + file.name, folder / file.name, progress)

"""Where data sets are: in the folder named by `MEMSPAN_DATA`, otherwise in the user's cache.

Either has one folder per data set, with the name of the set. The cache is the platform's (`~/.cache/memspan` on
Linux) unless `MEMSPAN_CACHE` names another folder.
"""

from __future__ import annotations

import os
from pathlib import Path

from memspan.data.catalog import CATALOG, DataSet, data_set_named
from memspan.errors import InputError, suggestion


def places() -> list[Path]:
    """The folders that are searched, in this order."""
    folder = os.environ.get("MEMSPAN_DATA")
    return ([Path(folder).expanduser()] if folder else []) + [cache_folder()]


def cache_folder() -> Path:
    """The folder of downloads."""
    chosen = os.environ.get("MEMSPAN_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    import platformdirs  # the same folder as pooch.os_cache, without loading pooch

    return Path(platformdirs.user_cache_dir("memspan"))


def find(name: str | DataSet) -> Path | None:
    """The first folder with every file of the set, or None."""
    data_set = data_set_named(name)
    folders = (place / data_set.name for place in places())
    return next((folder for folder in folders if data_set.complete_in(folder)), None)


def locate(name: str | DataSet, file: str | None = None) -> Path:
    """The folder of a complete set, or the path of one `file` of it, even if other files are missing."""
    data_set = data_set_named(name)
    if file is None:
        found = find(data_set)
    else:
        paths = (place / data_set.name / file for place in places())
        found = next((path for path in paths if path.is_file()), None)
    if found is None:
        raise InputError(_missing(data_set, file))
    return found


def available() -> list[tuple[DataSet, Path | None]]:
    """Every set of the catalog with its folder, or None if it is not on this machine."""
    return [(data_set, find(data_set)) for data_set in CATALOG.values()]


def _missing(data_set: DataSet, file: str | None) -> str:
    what = data_set.name if file is None else f"{data_set.name}/{file}"
    where = " or ".join(str(place) for place in places())
    fetch = f"run `memspan data get {data_set.name}`, or " if data_set.addresses else ""
    files = f"{data_set.name}/{file or data_set.file_names}"
    return f"{what} is not in {where}; {fetch}set MEMSPAN_DATA to a folder that has {files}"


def resolve(name: str) -> list[Path]:
    """The files of `NAME` or `NAME/PART`, as in `data:NAME` on the command line.

    Without a part it is the training split, or every file if there is no split. A part is a split
    (`wikitext-2/valid`), or a file with or without its extension (`text/war-and-peace`).
    """
    head, _, part = name.partition("/")
    data_set = data_set_named(head)
    if not data_set.sequence:
        raise InputError(f"{data_set.name} is not a sequence of symbols ({data_set.description}); choose another set")
    if data_set.pattern is not None:
        return _of_pattern(data_set, part)
    chosen = part or "train"
    names = [file.name for file in data_set.files if chosen in (file.split, file.name, Path(file.name).stem)]
    # A set without splits has no training part.
    if not names and not part:
        names = [file.name for file in data_set.files]
    if not names:
        choices = [file.split or Path(file.name).stem for file in data_set.files]
        raise InputError(f"{data_set.name} has no part {part!r}; {suggestion(part, choices)}")
    return [locate(data_set, file) for file in names]


def _of_pattern(data_set: DataSet, part: str) -> list[Path]:
    """User-supplied files: all of them, or the named one."""
    everything = data_set.files_in(locate(data_set))
    paths = [path for path in everything if part in ("", path.name, path.stem)]
    if not paths:
        choices = [path.stem for path in everything]
        raise InputError(f"{everything[0].parent} has no {part!r}; {suggestion(part, choices)}")
    return paths

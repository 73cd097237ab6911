"""Where data sets lie: in the folder named by `MEMSPAN_DATA`, or else in the user's cache.

Either holds one folder for each set, of the set's name. The cache is the platform's (`~/.cache/memspan` on
Linux) unless `MEMSPAN_CACHE` names another.
"""

from __future__ import annotations

import os
from pathlib import Path

from memspan.data.catalogue import CATALOGUE
from memspan.data.data_set import DataSet
from memspan.data.naming import named
from memspan.errors import InputError


def places() -> list[Path]:
    """The folders that are looked through, the first first."""
    own = os.environ.get("MEMSPAN_DATA")
    return ([Path(own).expanduser()] if own else []) + [cache_folder()]


def cache_folder() -> Path:
    """Where downloads go."""
    chosen = os.environ.get("MEMSPAN_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    import platformdirs  # the same folder as pooch.os_cache, without loading pooch

    return Path(platformdirs.user_cache_dir("memspan"))


def find(name: str | DataSet) -> Path | None:
    """The first folder that has every file of the set, or None."""
    data_set = named(name)
    folders = (place / data_set.name for place in places())
    return next((folder for folder in folders if data_set.complete_in(folder)), None)


def locate(name: str | DataSet, file: str | None = None) -> Path:
    """The folder of a set, or one `file` of it (which may be there when others are not)."""
    data_set = named(name)
    if file is None:
        found = find(data_set)
    else:
        paths = (place / data_set.name / file for place in places())
        found = next((path for path in paths if path.is_file()), None)
    if found is None:
        raise InputError(_missing(data_set, file))
    return found


def available() -> list[tuple[DataSet, Path | None]]:
    """Every set of the catalogue with the folder it lies in, or None where it is not on this machine."""
    return [(data_set, find(data_set)) for data_set in CATALOGUE.values()]


def _missing(data_set: DataSet, file: str | None) -> str:
    what = data_set.name if file is None else f"{data_set.name}/{file}"
    where = " or ".join(str(place) for place in places())
    fetch = f"run `memspan data get {data_set.name}`, or " if data_set.addresses else ""
    wanted = f"{data_set.name}/{file or data_set.wanted()}"
    return f"{what} is not in {where}; {fetch}set MEMSPAN_DATA to a folder that has {wanted}"

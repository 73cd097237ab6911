"""What the catalogue says of a data set: its files, how they are checked, and where they come from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import final


@final
@dataclass(frozen=True, kw_only=True)
class DataFile:
    """One file of a data set."""

    name: str
    checksum: str | None = None
    """`sha256:…`, `sha1:…` or `md5:…` of the file as the public addresses give it; None if unknown."""
    size: int | None = None
    """Bytes, where known."""
    split: str | None = None
    """train, valid or test; None for a file that is not one part of a split."""


@final
@dataclass(frozen=True)
class Archive:
    """One .zip, .tgz, .tar.gz or .gz that holds every file of the set.

    Members are recognised by the last part of their name; a .gz holds one file and no name.
    """

    url: str
    checksum: str | None = None


@final
@dataclass(frozen=True)
class Folder:
    """An address that, followed by a file's name, gives that file."""

    url: str


@final
@dataclass(frozen=True, kw_only=True)
class DataSet:
    """A set of files under one name, which is also the name of its folder.

    >>> notes = DataSet(name="notes", description="mine", licence="mine", pattern="*.txt")
    >>> notes.complete_in(Path("no such folder"))
    False
    """

    name: str
    description: str
    licence: str
    """As far as it is known; the terms are between the user and the owner of the data."""
    files: tuple[DataFile, ...] = ()
    addresses: tuple[Archive | Folder, ...] = ()
    """Tried in this order. Empty: no public address can be relied on, and the user places the files."""
    megabytes: float | None = None
    """About how much the first address sends."""
    pattern: str | None = None
    """For a set without known files: which files of the folder belong to it."""
    sequence: bool = True
    """Whether the files are read as sequences of symbols (MNIST's images are not)."""

    def files_in(self, folder: Path) -> list[Path]:
        """The files of this set that are in `folder`, in the catalogue's order."""
        if self.pattern is not None:
            return sorted(path for path in folder.glob(self.pattern) if path.is_file())
        return [folder / file.name for file in self.files if (folder / file.name).is_file()]

    def complete_in(self, folder: Path) -> bool:
        """Whether `folder` has every file: files are placed whole or not at all, so being there is enough."""
        return len(self.files_in(folder)) >= max(len(self.files), 1)

    def wanted(self) -> str:
        """The files in words, for a message."""
        return self.pattern or ", ".join(file.name for file in self.files)

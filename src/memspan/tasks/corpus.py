"""Texts to train on: three files of a folder, a named data set, or the source of Python's own library."""

from __future__ import annotations

import sysconfig
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from memspan.data.catalog import CATALOG
from memspan.data.locations import find, locate
from memspan.errors import InputError, suggestion
from memspan.tasks.task import SPLITS, Split

OWN = "python"
"""The source of Python's standard library, which is on every machine that has Python."""
AUTO = "auto"
NAMED = tuple(
    name for name, data_set in CATALOG.items() if {file.split for file in data_set.files} >= set(SPLITS)
)
"""Data sets that have texts to train on, to validate and to test."""
OTHER_WORDS: dict[Split, tuple[str, ...]] = {
    "train": ("train",),
    "valid": ("valid", "val", "dev"),
    "test": ("test",),
}
"""What a file's name holds that is a split's."""
ENDINGS = ("", ".txt", ".tokens", ".text", ".raw", ".md")
SHARE = 10
"""Every so many of Python's files one is for validation and one for testing."""


class Corpus(NamedTuple):
    """Where the texts are."""

    files: Mapping[Split, tuple[Path, ...]]
    stripped: bool
    """Whether blanks at both ends of a line are a matter of layout, as in the Penn Treebank."""

    def text(self, split: Split) -> str:
        """The whole text of a split."""
        parts = [text_of(path) for path in self.files[split]]
        text = "".join(part if part.endswith("\n") else f"{part}\n" for part in parts if part)
        return "".join(f"{line.strip()}\n" for line in text.splitlines()) if self.stripped else text


def resolved(data: str) -> str:
    """What `auto` stands for on this machine; a folder by its whole path."""
    if data == AUTO:
        return "ptb" if find("ptb") is not None else OWN
    if data in NAMED or data == OWN:
        return data
    folder = Path(data).expanduser()
    if not folder.is_dir():
        raise InputError(f"there is no text and no folder {data!r}; {suggestion(data, (AUTO, OWN, *NAMED))}")
    return str(folder.resolve())


@lru_cache(maxsize=4)
def corpus(data: str) -> Corpus:
    """The texts of `data`, which `resolved` gave."""
    if data == OWN:
        return _own()
    if data in NAMED:
        files: dict[Split, tuple[Path, ...]] = {
            split: tuple(locate(data, file.name) for file in CATALOG[data].files if file.split == split)
            for split in SPLITS
        }
        return Corpus(files, data == "ptb")
    return _of_folder(Path(data))


def _of_folder(folder: Path) -> Corpus:
    found: dict[Split, Path] = {split: _file(folder, split) for split in SPLITS}
    files: dict[Split, tuple[Path, ...]] = {split: (found[split],) for split in SPLITS}
    return Corpus(
        files,
        all(path.name.startswith("ptb.") for path in found.values()),
    )


def _file(folder: Path, split: Split) -> Path:
    """The one file of a folder whose name says that it is this split's."""
    names = sorted(path for path in folder.iterdir() if path.is_file() and path.suffix in ENDINGS)
    fitting = [path for path in names if any(word in _parts(path) for word in OTHER_WORDS[split])]
    if len(fitting) != 1:
        got = ", ".join(path.name for path in fitting) or "none"
        raise InputError(
            f"{folder} has no single text to {_USE[split]}: {got}; expected one file such as {split}.txt, "
            f"ptb.{split}.txt or wiki.{split}.tokens"
        )
    return fitting[0]


_USE = {"train": "train on", "valid": "validate with", "test": "test with"}


def _parts(path: Path) -> list[str]:
    return path.name.lower().replace("-", ".").replace("_", ".").split(".")


def _own() -> Corpus:
    """Modules of the standard library itself, not of its packages: the same on every machine with this Python."""
    paths = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    if len(paths) < 3 * SHARE:
        raise InputError(
            f"this Python has only {len(paths)} modules of source; name a folder with train.txt, valid.txt and test.txt"
        )
    return Corpus(
        {
            "train": tuple(path for number, path in enumerate(paths) if number % SHARE > 1),
            "valid": tuple(paths[1::SHARE]),
            "test": tuple(paths[0::SHARE]),
        },
        False,
    )


def text_of(path: Path) -> str:
    """What a file says."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not UTF-8 text ({error.reason} at byte {error.start:,}); convert it"
        ) from error
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror})") from error

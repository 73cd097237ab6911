"""Text corpora with training, validation and test files: a folder, a named data set, or Python's standard library."""

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

# The source of Python's standard library, which is on every machine that has Python.
STANDARD_LIBRARY = "python"
AUTO = "auto"
# Data sets with training, validation and test texts.
NAMED = tuple(name for name, data_set in CATALOG.items() if {file.split for file in data_set.files} >= set(SPLITS))
# Parts of a file name that mark it as a split.
SPLIT_WORDS: dict[Split, tuple[str, ...]] = {"train": ("train",), "valid": ("valid", "val", "dev"), "test": ("test",)}
SUFFIXES = ("", ".txt", ".tokens", ".text", ".raw", ".md")
# Of every ten modules of the standard library, one is for validation and one for testing.
HELD_OUT_EVERY = 10


class CorpusFiles(NamedTuple):
    """The files of a corpus."""

    files: Mapping[Split, tuple[Path, ...]]
    stripped: bool
    """Whether blanks around a line are layout only, as in the Penn Treebank."""

    def text(self, split: Split) -> str:
        """The whole text of a split."""
        parts = [read_text(path) for path in self.files[split]]
        text = "".join(part if part.endswith("\n") else f"{part}\n" for part in parts if part)
        return "".join(f"{line.strip()}\n" for line in text.splitlines()) if self.stripped else text


def resolve_corpus(data: str) -> str:
    """The name or the absolute path that `data` stands for on this machine."""
    if data == AUTO:
        return "ptb" if find("ptb") is not None else STANDARD_LIBRARY
    if data in NAMED or data == STANDARD_LIBRARY:
        return data
    folder = Path(data).expanduser()
    if not folder.is_dir():
        names = (AUTO, STANDARD_LIBRARY, *NAMED)
        raise InputError(f"there is no text and no folder {data!r}; {suggestion(data, names)}")
    return str(folder.resolve())


@lru_cache(maxsize=4)
def corpus_files(data: str) -> CorpusFiles:
    """The files of a corpus as named by `resolve_corpus`."""
    if data == STANDARD_LIBRARY:
        return _standard_library()
    files: dict[Split, tuple[Path, ...]] = {}
    if data in NAMED:
        for split in SPLITS:
            files[split] = tuple(locate(data, file.name) for file in CATALOG[data].files if file.split == split)
        return CorpusFiles(files, data == "ptb")  # its lines start and end with a blank
    for split in SPLITS:
        files[split] = (_split_file(Path(data), split),)
    return CorpusFiles(files, all(path.name.startswith("ptb.") for (path,) in files.values()))


def _split_file(folder: Path, split: Split) -> Path:
    """The only file of a folder whose name contains the word of a split."""
    texts = sorted(path for path in folder.iterdir() if path.is_file() and path.suffix in SUFFIXES)
    matches = [path for path in texts if set(SPLIT_WORDS[split]) & set(_name_parts(path))]
    if len(matches) != 1:
        found = ", ".join(path.name for path in matches) or "none"
        raise InputError(
            f"{folder} has no single {_SPLIT_NAMES[split]} text: {found}; expected one file such as {split}.txt, "
            f"ptb.{split}.txt or wiki.{split}.tokens"
        )
    return matches[0]


_SPLIT_NAMES = {"train": "training", "valid": "validation", "test": "test"}


def _name_parts(path: Path) -> list[str]:
    return path.name.lower().replace("-", ".").replace("_", ".").split(".")


def _standard_library() -> CorpusFiles:
    """Top-level modules without packages, so that the files depend only on the version of Python."""
    paths = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    if len(paths) < 3 * HELD_OUT_EVERY:
        raise InputError(
            f"this Python has only {len(paths)} modules of source; name a folder with train.txt, valid.txt and test.txt"
        )
    training = tuple(path for number, path in enumerate(paths) if number % HELD_OUT_EVERY > 1)
    valid, test = tuple(paths[1::HELD_OUT_EVERY]), tuple(paths[0::HELD_OUT_EVERY])
    return CorpusFiles({"train": training, "valid": valid, "test": test}, stripped=False)


def read_text(path: Path) -> str:
    """The content of a UTF-8 file."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text ({error.reason} at byte {error.start:,}); convert it") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror})") from error

"""`data:NAME` of the command line: from a set's name, and perhaps a split or file of it, to paths."""

from __future__ import annotations

from pathlib import Path

from memspan.data.data_set import DataSet
from memspan.data.locations import locate
from memspan.data.naming import choose, named
from memspan.errors import InputError


def resolve(name: str) -> list[Path]:
    """The files that `NAME` or `NAME/PART` stands for.

    A name alone is the training split, or where there is no split every file. A part is a split
    (`wikitext-2/valid`), or a file with or without its extension (`text/war-and-peace`).
    """
    head, _, part = name.partition("/")
    data_set = named(head)
    if not data_set.sequence:
        raise InputError(
            f"{data_set.name} is not a sequence of symbols ({data_set.description}); choose another set"
        )
    if data_set.pattern is not None:
        return _of_pattern(data_set, part)
    chosen = part or "train"
    names = [file.name for file in data_set.files if chosen in (file.split, file.name, Path(file.name).stem)]
    if not names and not part:
        names = [file.name for file in data_set.files]
    if not names:
        choices = [file.split or Path(file.name).stem for file in data_set.files]
        raise InputError(f"{data_set.name} has no part {part!r}; {choose(part, choices)}")
    return [locate(data_set, file) for file in names]


def _of_pattern(data_set: DataSet, part: str) -> list[Path]:
    """The files that a user placed: all of them, or the one that is named."""
    everything = data_set.files_in(locate(data_set))
    paths = [path for path in everything if part in ("", path.name, path.stem)]
    if not paths:
        choices = [path.stem for path in everything]
        raise InputError(f"{everything[0].parent} has no {part!r}; {choose(part, choices)}")
    return paths

"""From a name that a person typed to the data set, or to the nearest name there is."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from memspan.data.catalogue import CATALOGUE
from memspan.data.data_set import DataSet
from memspan.errors import InputError


def named(name: str | DataSet) -> DataSet:
    """The data set called `name`; a data set stands for itself.

    >>> named("dna").files[0].name
    'ecoli-k12.fna'
    """
    if isinstance(name, DataSet):
        return name
    if name not in CATALOGUE:
        raise InputError(f"there is no data set {name!r}; {choose(name, CATALOGUE)}")
    return CATALOGUE[name]


def choose(word: str, choices: Iterable[str]) -> str:
    """The end of a message about an unknown `word`: the nearest choice, and all of them.

    >>> choose("trian", ["train", "valid", "test"])
    'did you mean train? (There are train, valid, test.)'
    """
    spelt = {choice.lower(): choice for choice in choices}
    nearest = difflib.get_close_matches(word.lower(), spelt, n=1)
    everything = ", ".join(spelt.values())
    if not nearest:
        return f"choose one of {everything}"
    return f"did you mean {spelt[nearest[0]]}? (There are {everything}.)"

"""Text corpora with a training, a validation and a test split, as characters; and pieces of equal length."""

from __future__ import annotations

import itertools
from collections.abc import Sequence as Items
from dataclasses import dataclass
from typing import TypeVar, final

import numpy as np

from memspan.data import CATALOG, find
from memspan.progress import SILENT, Progress
from memspan.sequences import Sequence, read

T = TypeVar("T")
# text8 has no splits of its own: 90, 5 and 5 MB in this order.  Shen 2019, appendix D.2.
TEXT8_CUTS = (0, 90_000_000, 95_000_000, 100_000_000)


@final
@dataclass(frozen=True, eq=False)
class CorpusSplits:
    """Three splits of one data set."""

    name: str
    train: Sequence
    valid: Sequence
    test: Sequence


def load_corpus(name: str, progress: Progress = SILENT) -> CorpusSplits | None:
    """The splits as characters, or None if the data set is not on this machine."""
    folder = find(name)
    if folder is None:
        return None
    files = {file.split: folder / file.name for file in CATALOG[name].files}
    if None in files:
        whole = read(files[None], symbols="chars", progress=progress)
        return CorpusSplits(name, *(whole.part(*cut) for cut in itertools.pairwise(TEXT8_CUTS)))
    splits = (read(files[split], symbols="chars", progress=progress) for split in ("train", "valid", "test"))
    return CorpusSplits(name, *splits)


def missing(name: str) -> str:
    """A note about a data set that is not available."""
    return f"{name} is not on this machine; run `memspan data get {name}`"


def equal_pieces(sequence: Sequence, size: int, most: int) -> list[Sequence]:
    """Cut a sequence into pieces of `size` symbols; if there are more than `most`, choose `most` at even spacing.

    >>> pieces = equal_pieces(Sequence.from_documents("abcabcabcab"), 3, most=2)
    >>> [piece.store.read(0, 3).tolist() for piece in pieces]
    [[0, 1, 2], [0, 1, 2]]
    """
    chosen = evenly(range(sequence.length // size), most)
    return [sequence.part(number * size, (number + 1) * size) for number in chosen]


def evenly(items: Items[T], most: int) -> list[T]:
    """All items, or `most` of them at even spacing, including the first and the last.

    >>> evenly("abcdefg", 3)
    ['a', 'd', 'g']
    """
    places = np.linspace(0, len(items) - 1, min(most, len(items))).astype(np.int64)
    return [items[place] for place in places.tolist()]


def pieces_of(text: str, length: int) -> list[str]:
    """Cut a text into pieces of `length` characters; a shorter rest is dropped.

    >>> pieces_of("abcdefgh", 3)
    ['abc', 'def']
    """
    return [text[start : start + length] for start in range(0, len(text) - length + 1, length)]

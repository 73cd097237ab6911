"""Text corpora with a training, a validation and a test split, as characters; and pieces of equal size."""

from __future__ import annotations

import itertools
from collections.abc import Sequence as Items
from dataclasses import dataclass
from typing import TypeVar, final

import numpy as np
from numpy.typing import NDArray

from memspan.data import CATALOGUE, find
from memspan.information import Digamma, Grassberger, count_pairs, mutual_information
from memspan.progress import SILENT, Progress
from memspan.results import Curve
from memspan.sequences import Memory, Sequence, read

T = TypeVar("T")
TEXT8_CUTS = (0, 90_000_000, 95_000_000, 100_000_000)
"""text8 has no splits of its own: 90, 5 and 5 MB, one after the other.  Shen 2019, appendix D.2."""


@final
@dataclass(frozen=True, eq=False)
class Corpus:
    """Three splits of one data set."""

    name: str
    train: Sequence
    valid: Sequence
    test: Sequence


def load_corpus(name: str, progress: Progress = SILENT) -> Corpus | None:
    """The splits as characters, or None where the data set is not on this machine."""
    folder = find(name)
    if folder is None:
        return None
    files = {file.split: folder / file.name for file in CATALOGUE[name].files}
    if None in files:
        whole = read(files[None], symbols="chars", progress=progress)
        return Corpus(name, *(whole.part(*cut) for cut in itertools.pairwise(TEXT8_CUTS)))
    splits = (read(files[split], symbols="chars", progress=progress) for split in ("train", "valid", "test"))
    return Corpus(name, *splits)


def missing(name: str) -> str:
    """What to tell a reader about a data set that is not here."""
    return f"{name} is not on this machine; `memspan data get {name}` fetches it"


def equal_pieces(sequence: Sequence, size: int, most: int) -> list[Sequence]:
    """The sequence cut into pieces of `size` symbols, or `most` of these if there are more, evenly chosen.

    >>> pieces = equal_pieces(Sequence.from_documents("abcabcabcab"), 3, most=2)
    >>> [piece.store.read(0, 3).tolist() for piece in pieces]
    [[0, 1, 2], [0, 1, 2]]
    """
    chosen = evenly(range(sequence.length // size), most)
    return [sequence.part(number * size, (number + 1) * size) for number in chosen]


def evenly(items: Items[T], most: int) -> list[T]:
    """All of them, or `most` that lie evenly among them, the first and the last included.

    >>> evenly("abcdefg", 3)
    ['a', 'd', 'g']
    """
    places = np.linspace(0, len(items) - 1, min(most, len(items))).astype(np.int64)
    return [items[place] for place in places.tolist()]


def pieces_of(text: str, length: int) -> list[str]:
    """A text cut into pieces of `length` characters; what is left over at its end is left out.

    >>> pieces_of("abcdefgh", 3)
    ['abc', 'def']
    """
    return [text[start : start + length] for start in range(0, len(text) - length + 1, length)]


def shuffled(sequence: Sequence, seed: np.random.Generator) -> Sequence:
    """The same symbols in random order: nothing is left but their frequencies."""
    symbols = seed.permutation(sequence.store.read(0, sequence.length))
    return Sequence(Memory(symbols), sequence.offsets, sequence.alphabet, sequence.symbols)


@final
@dataclass(frozen=True, eq=False)
class Split:
    """One text measured twice from the same counts: as the paper does, and with the floor taken off."""

    paper: Curve
    """Eq. 53; its `information` is what the paper shows, its `floor` that of the shuffled text."""
    ours: Curve
    """Grassberger's estimator; its `corrected` is what we show."""


def measure_split(
    sequence: Sequence, lags: NDArray[np.int64], seed: int, progress: Progress = SILENT
) -> Split:
    """The floor is that of independent symbols, which in text takes away no real dependence at far distances."""
    counts = count_pairs(sequence, lags, null="independent", seed=seed, progress=progress)
    paper, ours = (mutual_information(counts, estimator=e, seed=seed) for e in (Digamma(), Grassberger()))
    return Split(paper, ours)


def mean_corrected(splits: list[Split]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The mean of several corrected curves, and its standard error from those of the curves, nats."""
    corrected = np.array([split.ours.corrected for split in splits])
    error = np.array([split.ours.error for split in splits])
    return corrected.mean(axis=0), np.sqrt(np.mean(error**2, axis=0) / len(splits))

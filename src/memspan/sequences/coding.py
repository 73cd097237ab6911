"""Symbols get numbers in the order in which they appear; sorting the alphabet waits until all is read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from memspan.sequences.store import Symbols, narrow_dtype

CODE_POINTS = 0x110000
"""How many Unicode code points there are."""


def code_points(text: str) -> NDArray[Any]:
    """The code points of a text; one byte each where that is enough.

    >>> code_points("ab"), code_points("añ")
    (array([97, 98], dtype=uint8), array([ 97, 241], dtype=uint32))
    """
    if text.isascii():
        return np.frombuffer(text.encode("ascii"), np.uint8)
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")


@final
class Lookup:
    """Numbers for integers below `domain`, by one look into a table each.

    >>> lookup = Lookup(256)
    >>> lookup.codes(np.array([7, 9, 7])), lookup.values
    (array([0, 1, 0], dtype=uint8), [7, 9])
    """

    def __init__(self, domain: int) -> None:
        self.values: list[int] = []
        self._known = np.zeros(domain, np.bool_)
        self._table = np.zeros(domain, np.uint8)

    def codes(self, values: NDArray[np.integer[Any]]) -> Symbols:
        """The number of each value, as narrow as the kinds seen so far allow."""
        if not self._known[values].all():
            self._learn(values)
        return self._table[values]

    def _learn(self, values: NDArray[np.integer[Any]]) -> None:
        present = np.zeros_like(self._known)
        present[values] = True
        fresh = np.flatnonzero(present & ~self._known)
        first = len(self.values)
        self.values += fresh.tolist()
        self._known |= present
        self._table = self._table.astype(narrow_dtype(len(self.values)), copy=False)
        self._table[fresh] = np.arange(first, len(self.values))


@final
class Labels:
    """Numbers for anything hashable, by a dictionary.

    >>> Labels().codes(["to", "be", "or", "not", "to", "be"])
    array([0, 1, 2, 3, 0, 1], dtype=uint8)
    """

    def __init__(self, known: Iterable[Hashable] = ()) -> None:
        self._numbers: defaultdict[Hashable, int] = defaultdict()
        # A label that is not known yet gets the next number.
        self._numbers.default_factory = self._numbers.__len__
        for label in known:
            self._numbers[label]

    @property
    def values(self) -> list[Hashable]:
        """The labels seen so far; a label's number is its position."""
        return list(self._numbers)

    def codes(self, labels: list[Any]) -> Symbols:
        """The number of each label, as narrow as the kinds seen so far allow."""
        codes = np.fromiter(map(self._numbers.__getitem__, labels), np.uint32, len(labels))
        return codes.astype(narrow_dtype(len(self._numbers)))

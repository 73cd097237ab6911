"""Encoders number symbols in the order in which they appear; the alphabet is sorted once all of the input is read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from memspan.sequences.store import Symbols, narrow_dtype

# Number of Unicode code points.
CODE_POINTS = 0x110000


@final
class TableEncoder:
    """Encodes integers below `domain` with one table lookup each.

    >>> encoder = TableEncoder(256)
    >>> encoder.codes(np.array([7, 9, 7])), encoder.values
    (array([0, 1, 0], dtype=uint8), [7, 9])
    """

    def __init__(self, domain: int) -> None:
        self.values: list[int] = []
        self._known = np.zeros(domain, np.bool_)
        self._table = np.zeros(domain, np.uint8)

    def codes(self, values: NDArray[np.integer[Any]]) -> Symbols:
        """The code of each value, in the narrowest type that holds all codes so far."""
        # Almost every call meets known values only, so the test comes before the costlier update.
        if not self._known[values].all():
            self._add(values)
        return self._table[values]

    def _add(self, values: NDArray[np.integer[Any]]) -> None:
        present = np.zeros_like(self._known)
        present[values] = True
        fresh = np.flatnonzero(present & ~self._known)
        first = len(self.values)
        self.values += fresh.tolist()
        self._known |= present
        self._table = self._table.astype(narrow_dtype(len(self.values)), copy=False)
        self._table[fresh] = np.arange(first, len(self.values))


@final
class LabelEncoder:
    """Encodes hashable labels with a dictionary.

    >>> LabelEncoder().codes(["to", "be", "or", "not", "to", "be"])
    array([0, 1, 2, 3, 0, 1], dtype=uint8)
    """

    def __init__(self, labels: Iterable[Hashable] = ()) -> None:
        self._codes: defaultdict[Hashable, int] = defaultdict()
        # The factory runs before the new label is inserted, so its code is the number of labels so far.
        self._codes.default_factory = self._codes.__len__
        for label in labels:
            self._codes[label]

    @property
    def values(self) -> list[Hashable]:
        """The labels so far; the code of a label is its position."""
        return list(self._codes)

    def codes(self, labels: list[Any]) -> Symbols:
        """The code of each label, in the narrowest type that holds all codes so far."""
        codes = np.fromiter(map(self._codes.__getitem__, labels), np.uint32, len(labels))
        return codes.astype(narrow_dtype(len(self._codes)))


def code_points(text: str) -> NDArray[Any]:
    """The Unicode code points of a text, one byte each for ASCII.

    >>> code_points("ab"), code_points("añ")
    (array([97, 98], dtype=uint8), array([ 97, 241], dtype=uint32))
    """
    if text.isascii():
        return np.frombuffer(text.encode("ascii"), np.uint8)
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")

"""`PeriodicString`: one period of a string over its alphabet."""

from __future__ import annotations

from collections.abc import Sequence as Several
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.results import END

Text: TypeAlias = "str | Several[str] | PeriodicString"
"""A string of characters, a list of symbols, or a string already reduced to its period."""


@final
@dataclass(frozen=True, eq=False)
class PeriodicString:
    """One period of a string that repeats forever.

    >>> string = PeriodicString.of("abcabc")
    >>> string.period, string.given, string.text
    (3, 6, 'abc')
    """

    codes: NDArray[np.int64]
    """(period,): indices into the alphabet; the shortest period that gives the string when repeated."""
    alphabet: tuple[str, ...]
    separator: str
    """Text between symbols: empty for characters, a space for words."""
    given: int
    """Symbols of the string as given, including its end symbol."""

    @classmethod
    def of(cls, text: Text, *, terminate: bool = False) -> PeriodicString:
        """Reduce `text` to its shortest period; `terminate` adds an end symbol, which makes the whole string the period."""
        if isinstance(text, PeriodicString):
            if terminate:
                raise InputError("the string is already reduced to its period; terminate the text itself")
            return text
        symbols = list(text)
        if not symbols:
            raise InputError("the string is empty; give one symbol or more, such as abracadabra")
        if terminate and END in symbols:
            raise InputError(
                f"the symbol {END} marks the end of a finite string, and the string holds it already; "
                "omit --terminate or rename the symbol"
            )
        alphabet = (*sorted(set(symbols)), *([END] if terminate else []))
        index = {symbol: code for code, symbol in enumerate(alphabet)}
        codes = np.array([index[symbol] for symbol in [*symbols, *([END] if terminate else [])]])
        separator = "" if isinstance(text, str) else " "
        return cls(codes[: smallest_period(codes)], alphabet, separator, len(codes))

    @property
    def period(self) -> int:
        """Symbols until the string begins again."""
        return len(self.codes)

    @property
    def text(self) -> str:
        """One period as text."""
        return self.separator.join(self.alphabet[code] for code in self.codes)

    @property
    def runs(self) -> NDArray[np.int64]:
        """Number of unbroken runs of each symbol around the period; 1 for a symbol that never changes.

        >>> PeriodicString.of("abracadabra").runs.tolist()  # the last a continues into the first
        [4, 2, 1, 1, 2]
        """
        starts = self.codes[self.codes != np.roll(self.codes, 1)]
        return np.maximum(np.bincount(starts, minlength=len(self.alphabet)), 1)

    @property
    def changes(self) -> int:
        """Number of positions around the period that are followed by a different symbol."""
        return int((self.codes != np.roll(self.codes, 1)).sum())


def smallest_period(codes: NDArray[np.int64]) -> int:
    """The smallest p that divides the length and satisfies codes[i] = codes[i + p] everywhere.

    >>> smallest_period(np.array([0, 1, 0, 1, 0, 1])), smallest_period(np.array([0, 1, 0]))
    (2, 3)
    """
    length = len(codes)
    divisors = (p for p in range(1, length + 1) if length % p == 0)
    return next(p for p in divisors if np.array_equal(codes[p:], codes[: length - p]))

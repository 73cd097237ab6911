"""A string as what a network has to know of it: one period over an alphabet, and where its symbols change."""

from __future__ import annotations

from collections.abc import Sequence as Several
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.results import END

Text: TypeAlias = "str | Several[str] | PeriodicString"
"""A string of characters, a list of symbols that are words, or a string already brought to its period."""


@final
@dataclass(frozen=True, eq=False)
class PeriodicString:
    """One period of a string that comes back for ever.

    >>> string = PeriodicString.of("abcabc")
    >>> string.period, string.given, string.text
    (3, 6, 'abc')
    """

    codes: NDArray[np.int64]
    """(period,): places in the alphabet; the period is the shortest that gives the string when repeated."""
    alphabet: tuple[str, ...]
    separator: str
    """What stands between symbols in text: nothing, or a space where symbols are words."""
    given: int
    """Symbols of the string as it was given, its end symbol included."""

    @classmethod
    def of(cls, text: Text, *, terminate: bool = False) -> PeriodicString:
        """The shortest period of `text`; `terminate` adds an end symbol, so that the whole string is the period."""
        if isinstance(text, PeriodicString):
            if terminate:
                raise InputError("this string was brought to its period already; terminate the text itself")
            return text
        symbols = list(text)
        if not symbols:
            raise InputError("the string is empty; give one symbol or more, such as abracadabra")
        if terminate and END in symbols:
            raise InputError(
                f"the symbol {END} marks the end of a finite string, and the string holds it already; "
                "leave --terminate out or rename the symbol"
            )
        alphabet = (*sorted(set(symbols)), *([END] if terminate else []))
        places = {symbol: place for place, symbol in enumerate(alphabet)}
        codes = np.array([places[symbol] for symbol in [*symbols, *alphabet[len(set(symbols)) :]]])
        return cls(
            codes[: smallest_period(codes)], alphabet, "" if isinstance(text, str) else " ", len(codes)
        )

    @property
    def period(self) -> int:
        """Symbols until the string begins again."""
        return len(self.codes)

    @property
    def text(self) -> str:
        """One period, written out."""
        return self.separator.join(self.alphabet[code] for code in self.codes)

    @property
    def runs(self) -> NDArray[np.int64]:
        """How many unbroken runs of each symbol there are, around the period; one for a symbol that never changes.

        >>> PeriodicString.of("abracadabra").runs.tolist()  # the last a runs on into the first
        [4, 2, 1, 1, 2]
        """
        starts = self.codes[self.codes != np.roll(self.codes, 1)]
        return np.maximum(np.bincount(starts, minlength=len(self.alphabet)), 1)

    @property
    def changes(self) -> int:
        """Places around the period where one symbol follows another that is different."""
        return int((self.codes != np.roll(self.codes, 1)).sum())


def smallest_period(codes: NDArray[np.int64]) -> int:
    """The least p that divides the length and with which codes[i] = codes[i + p] everywhere.

    >>> smallest_period(np.array([0, 1, 0, 1, 0, 1])), smallest_period(np.array([0, 1, 0]))
    (2, 3)
    """
    length = len(codes)
    divisors = (p for p in range(1, length + 1) if length % p == 0)
    return next(p for p in divisors if np.array_equal(codes[p:], codes[:-p] if p < length else codes[p:]))

"""Which distances to measure."""

from __future__ import annotations

import operator
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError

LARGEST_DEFAULT = 10_000
# Minimum length of the longest document, in symbols, for default lags.
SHORTEST_TEXT = 20


def log_lags(first: int, last: int, per_decade: int = 12) -> NDArray[np.int64]:
    """`first` … 16 one by one, then `per_decade` per factor of ten (100 and 1,000 among them), to `last`.

    >>> log_lags(1, 30).tolist()
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 22, 26, 30]
    """
    if not 1 <= first <= last:
        raise InputError(f"lags from {first} to {last}: expected 1 <= first <= last")
    grid = 10 ** (np.arange(per_decade * 18) / per_decade)
    lags = np.concatenate([np.arange(1, 17), np.rint(grid[(grid > 16) & (grid < last)]).astype(np.int64), [last]])
    return np.unique(lags[(lags >= first) & (lags <= last)])


def default_lags(longest: int, most: int | None = None) -> NDArray[np.int64]:
    """1 - 16, then 12 per decade, up to a tenth of the longest document and 10,000, or up to `most`."""
    if most is not None:
        return checked_lags(log_lags(1, most), longest)
    if longest < SHORTEST_TEXT:
        raise InputError(
            f"the longest document has {longest} symbols, too few for two lags of a tenth of its length; "
            f"give at least {SHORTEST_TEXT} symbols, or name the lags (--lags 1)"
        )
    return log_lags(1, min(longest // 10, LARGEST_DEFAULT))


def chosen_lags(lags: int | str | Iterable[int] | None, longest: int) -> NDArray[np.int64]:
    """Lags as a caller gives them.

    None is the default grid, an int n the default grid up to n (as `--max-lag`), a string what `parse_lags` reads,
    anything else the lags one by one.

    >>> chosen_lags(20, longest=100).tolist()
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20]
    >>> chosen_lags("1:3", longest=100).tolist(), chosen_lags([5, 1], longest=100).tolist()
    ([1, 2, 3], [1, 5])
    """
    if lags is None or isinstance(lags, int | np.integer):
        return default_lags(longest, None if lags is None else int(lags))
    return parse_lags(lags, longest) if isinstance(lags, str) else checked_lags(lags, longest)


def checked_lags(lags: Iterable[int], longest: int) -> NDArray[np.int64]:
    """Sorted distinct lags, each at least 1 and shorter than the longest document."""
    given = list(lags) if isinstance(lags, Iterable) else [lags]
    try:
        given = [operator.index(lag) for lag in given]
    except TypeError as error:
        raise InputError(
            f"lags {given[:5]} are not whole numbers; a lag is a distance in symbols, as in [1, 2, 5]"
        ) from error
    if given and max(given) >= longest:
        raise InputError(
            f"lag {max(given)} is longer than the longest document ({longest:,} symbols); use --max-lag {longest - 1}"
        )
    values = np.unique(np.asarray(given, dtype=np.int64))
    if not len(values):
        raise InputError("no lags were given; use for example --lags 1,2,5 or --lags 1:100")
    if values[0] < 1:
        raise InputError(f"lag {values[0]} is below 1; a lag is a distance of at least one symbol")
    return values


def parse_lags(text: str, longest: int) -> NDArray[np.int64]:
    """Lags as typed: `1,2,5`, `1:1000` (every lag from 1 to 1000), `1,2,10:20`, or `all`.

    `all` is every lag up to a tenth of the longest document and 10,000.

    >>> parse_lags("1,2,5:7", longest=100).tolist()
    [1, 2, 5, 6, 7]
    """
    if text == "all":
        return np.arange(1, int(default_lags(longest)[-1]) + 1, dtype=np.int64)
    lags: list[int] = []
    try:
        for part in text.split(","):
            first, colon, last = part.partition(":")
            start, stop = int(first), int(last if colon else first)
            checked_lags([start, stop], longest)  # before a range of any length is written out
            if stop < start:
                raise InputError(f"--lags {part} runs backwards; write {stop}:{start}")
            lags.extend(range(start, stop + 1))
    except ValueError as error:
        raise InputError(f"--lags {text}: expected numbers as in 1,2,5 or 1:1000, or all") from error
    return checked_lags(lags, longest)

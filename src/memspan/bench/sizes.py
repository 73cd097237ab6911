"""How much work each benchmark does: enough that start-up costs do not matter, less than two minutes in all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, kw_only=True)
class Sizes:
    """Numbers of symbols and lags, and how often each side takes its turn."""

    symbols: int = 4_000_000
    """For alphabets of 256, 4 and 2 symbols."""
    scored: int = 1_000_000
    """For `mutual_info_score`, which takes two hundred times as long."""
    words: int = 2_000_000
    kinds_of_words: int = 33_000
    lags: int = 12
    """Lags per turn: what is prepared once is shared by all of them, as in use."""
    curves: tuple[int, ...] = (30_000, 300_000, 5_000_000)
    """For whole curves next to `automutualinformation`."""
    curve_lags: int = 50
    shared: int = 24_000_000
    """For two workers next to one."""
    shared_lags: int = 80
    long: int = 10_000_000
    """For every lag up to `every_lag`."""
    every_lag: int = 10_000
    sampled_lags: int = 30
    """Lags at which the kernel that takes one at a time is timed."""
    rounds: int = 5
    long_rounds: int = 3

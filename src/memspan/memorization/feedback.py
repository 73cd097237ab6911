"""`Feedback`: one hidden unit that reads its own output; the rest of the string is a number, shifted out digit by digit."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.memorization.constructions import Construction
from memspan.memorization.strings import PeriodicString, Text
from memspan.results import LinearNetwork

# Binary digits of the state that hold the string; the 53rd of a float64 is needed for the half unit of the thresholds.
STATE_BITS = 52

# Why rounding is harmless. Let u = 2^-53 and L the length; n^L <= 2^52, so n^-L >= 2 u. The constants n
# c_s and the thresholds halfway between digits are exact. State i is c_i plus a rest of at most (1 -
# n^-(L-i)) / 2, so it lies half of n^-(L-i) >= 2 u n^i or farther from a threshold; call n^-(L-i) its unit,
# which grows n-fold with each step, as errors do.
#
# The state. For n a power of two all is exact. Otherwise the first symbol has the digit nearest to 0, so
# |h_1| <= 1/2 (n odd) or 1 (n even), and h_0, h_1 and the product n h_1 are each rounded by |h_1| / 2n unit
# or less. A later product, at most n^2/2, is rounded by n^(1-i) / 4 unit. Subtracting n c_s is exact
# (Sterbenz) unless c_s = ±1/2, where it adds n^-i / 4. The total is 3/4n + 1/4(n-1) unit for odd n,
# 7/4n + (1 + 1/n)/4(n-1) for even n >= 6: never above 3/8, less than the half to the threshold.
#
# The scores. Those of the two nearest digits differ by the distance from the threshold between them, and
# are rounded by ((n-2)^2/2 + (n-1)(n-3)/4) u together. From the second state on the distance is greater:
# (n^2 - 3n/2) u for odd n, (n^2 - 7n/2) u for even n, and more from the third. At the first state the
# digits are 0 and ±1 (n odd), where ±h - 1/2 has the right sign however it is rounded, or ±1/2 and ±3/2 (n
# even), rounded by 2 u at a distance of (n - 2) u, n >= 6, or 4 u, n = 4.
#
# A reload. The state that follows is the longest, so its symbol gets the digit nearest to 0 and the
# reloading symbol the next; with those the reloading weight has period * log2(B) + 1 <= 53 binary digits.


@final
@dataclass(frozen=True)
class Feedback(Construction):
    """h' = B (h - c_s), y_j = c_j h - c_j^2 / 2: emits the symbol whose digit c_j is nearest to h, and removes the digit.

    h = c_1 + c_2 / B + c_3 / B^2 + … with the digits c = -(n - 1)/2, …, (n - 1)/2 of the remaining symbols. This goes
    beyond the Memorization note 2023, whose networks ignore their input (W_x = 0) and need two hidden units (errata 18).

    If a symbol s occurs once per period, its column of W_x can reload the state that follows it. With B = 2^ceil(log2 n)
    and period log2 B <= 52 every sum and product is exact, and the string repeats forever. Any other string of at most
    `capacity(n)` symbols is emitted once, with B = n.

    >>> Feedback().build("abracadabra").replay(25)
    'abracadabraabracadabraabr'
    """

    def build(self, text: Text) -> LinearNetwork:
        """The network of one hidden unit; raises InputError for strings of more than `capacity` symbols."""
        string = PeriodicString.of(text)
        code = code_of(string)
        W_x = [-code.base * digit for digit in code.digits]
        if code.reload is None:
            first = code.number(string.codes)
        else:
            symbol, following = string.codes[code.reload], np.roll(string.codes, -code.reload - 1)
            W_x[symbol] += code.number(following)
            first = code.number(string.codes[: code.reload + 1])
        digits = np.array(code.digits, dtype=np.float64)
        return LinearNetwork(
            string.alphabet,
            string.separator,
            W_h=np.array([[float(code.base)]]),
            W_x=np.array([W_x], dtype=np.float64),
            W_y=digits[:, None],
            b_y=-(digits**2) / 2,
            h_0=np.array([float(first / code.base)]),
        )


@final
@dataclass(frozen=True)
class Code:
    """Encoding of a string as a number, and whether it repeats."""

    base: int
    digits: tuple[Fraction, ...]
    """One for each symbol of the alphabet."""
    reload: int | None
    """Position whose symbol reloads the number; None if the string is emitted once."""
    reason: str
    """Why the string repeats or not, as a sentence."""

    @property
    def repeats(self) -> bool:
        """Whether the network repeats the string forever."""
        return self.reload is not None

    def number(self, codes: NDArray[np.int64]) -> Fraction:
        """c_1 + c_2 / B + c_3 / B^2 + …, without rounding."""
        value = Fraction(0)
        for symbol in codes[::-1]:
            value = value / self.base + self.digits[symbol]
        return value


def capacity(n_symbols: int) -> int | None:
    """floor(52 / log2 n): longest string over n symbols that one hidden unit can emit in float64; None: unlimited.

    >>> [capacity(n) for n in (1, 2, 3, 5, 8, 26)]
    [None, 52, 32, 22, 17, 11]
    """
    if n_symbols < 1:
        raise InputError(f"an alphabet of {n_symbols} symbols; expected 1 or more")
    if n_symbols == 1:
        return None
    length = 0
    while n_symbols ** (length + 1) <= 2**STATE_BITS:
        length += 1
    return length


def code_of(text: Text) -> Code:
    """Base, digits and reloading symbol of the network that `Feedback` builds, and why it repeats or does not.

    >>> code_of("abracadabra").repeats, code_of("abracadabra").reason
    (True, "'c' occurs once per period and reloads the number, so the string repeats forever, bit for bit")
    >>> code_of("aabb").repeats, code_of("aabb").reason
    (False, 'no symbol occurs exactly once per period, so none can reload the number; the string is emitted once')
    """
    string = PeriodicString.of(text)
    n, p = len(string.alphabet), string.period
    longest = capacity(n)
    if longest is None:
        return Code(1, (Fraction(0),), 0, "there is only one symbol, and nothing to remember")
    if p > longest:
        raise InputError(
            f"a string of {p} symbols over an alphabet of {n}; one hidden unit holds {longest} in float64; "
            "use --method spectral (or auto)"
        )
    bits = (n - 1).bit_length()
    place = _unique_symbol(string)
    if place is None:
        reason = "no symbol occurs exactly once per period, so none can reload the number; the string is emitted once"
    elif p * bits > STATE_BITS:
        reason = (
            f"the period of {p} symbols is longer than the {STATE_BITS // bits} that are exact in base {2**bits}, "
            f"so {string.alphabet[string.codes[place]]!r} cannot reload the number; the string is emitted once"
        )
    else:
        symbol, following = string.codes[place], string.codes[(place + 1) % p]
        reason = (
            f"{string.alphabet[symbol]!r} occurs once per period and reloads the number, "
            "so the string repeats forever, bit for bit"
        )
        return Code(2**bits, _digits(n, following, symbol), place, reason)
    return Code(n, _digits(n, string.codes[0]), None, reason)


def _unique_symbol(string: PeriodicString) -> int | None:
    """The first position whose symbol occurs nowhere else in the period."""
    single = np.flatnonzero(np.bincount(string.codes, minlength=len(string.alphabet))[string.codes] == 1)
    return int(single[0]) if len(single) else None


def _digits(n: int, *middle: int) -> tuple[Fraction, ...]:
    """-(n - 1)/2, …, (n - 1)/2 for the n symbols, assigned from 0 outwards: first those in `middle`, then the rest."""
    outwards = sorted((Fraction(2 * j - (n - 1), 2) for j in range(n)), key=abs)
    digit_of = dict(zip(dict.fromkeys([*middle, *range(n)]), outwards, strict=True))
    return tuple(digit_of[symbol] for symbol in range(n))

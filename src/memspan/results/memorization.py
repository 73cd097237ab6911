"""What the command `memorize` finds: a network that replays a string, how it was checked, and whether it is the smallest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.results.display import Displayed, Notebook, in_brief
from memspan.results.encoding import from_plain, to_plain

LONGEST_PERIOD = 2_000
"""Symbols of the longest period: a square matrix of that size takes 32 MB."""
SHOWN_PERIODS, SHOWN_SYMBOLS = 3, 300
"""How much of the replay is kept in the result: three periods, but no more than 300 symbols (or one period)."""


@final
@dataclass(frozen=True)
class FrequencySearch:
    """The search for the fewest rotations whose orbit can be told apart."""

    sets: int
    """Frequency sets that were decided: shown to be unable, or solved for their largest margin."""
    refuted_size: int
    """Every network of this form with this many hidden units or fewer was shown to be unable."""
    complete: bool
    """Whether the search ended before its budget did."""
    budget: float
    """Seconds it was given."""
    seconds: float


@final
@dataclass(frozen=True, eq=False, repr=False)
class TrainedLinearNetwork(Displayed):
    """A linear network of the same size, trained on the same string by gradient descent."""

    hidden_size: int
    updates: int
    loss: float
    """Mean cross-entropy in nats per symbol over the steps it was trained on."""
    trained_symbols: int
    """Steps of one pass of training."""
    replayed_symbols: int
    """Symbols it writes before the first wrong one, up to `tested_symbols`."""
    tested_symbols: int
    eigenvalues: NDArray[np.complex128]
    """Of its W_h, largest modulus first."""
    nearest_roots: NDArray[np.int64]
    """For each eigenvalue the k whose root of unity exp(2 pi i k / period) is nearest."""
    distances: NDArray[np.float64]
    """The distance to that root."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Memorization(Notebook):
    """One string, and a linear network that replays it."""

    text: str
    """One period, as text."""
    symbols: str
    """How symbols were read: chars, words, …"""
    length: int
    """Symbols that were given; `period` of them are memorized, and come back for ever."""
    period: int
    terminated: bool
    """Whether the last symbol of the period is the end symbol."""
    method: str
    """rotation, cyclic, spectral or feedback."""
    network: LinearNetwork
    frequencies: tuple[int, ...]
    """Turns per period of each plane of the state (the half of an even period: one sign); empty for other methods."""
    minimal: bool
    """Whether no network of the form that `statement` names is smaller."""
    statement: str
    """What is known about smaller networks, in one sentence."""
    size_bound: int
    """Hidden units that suffice by a theorem, before any search."""
    rational_size: int
    """No W_h of fractions with fewer hidden units has the period as its order; to write the string may take more."""
    margin: float
    """The least lead of the right symbol's score over any other, at any place of the period."""
    repeats: bool
    """Whether the string comes back for ever; otherwise it is written once."""
    verified_symbols: int
    """Symbols replayed by the recurrence, every one right."""
    drift: float
    """The largest change of a state's coordinate between the first period and the last that was replayed."""
    noise: float
    """Relative Gaussian noise on every weight with which nine networks in ten still write ten periods."""
    search: FrequencySearch | None
    learnt: TrainedLinearNetwork | None
    notes: tuple[str, ...]
    seconds: float

    def _summary(self) -> str:
        size = f"{self.hidden_size:,} hidden units{', minimal' if self.minimal else ''}"
        return f"{in_brief(self.name)}, period {self.period:,}, {size}, method {self.method}"

    def __post_init__(self) -> None:
        if not 1 <= self.period <= LONGEST_PERIOD or not all(
            1 <= 2 * frequency <= self.period for frequency in self.frequencies
        ):
            raise InputError(
                f"a period of {self.period} with frequencies {self.frequencies}; expected a period of 1 to "
                f"{LONGEST_PERIOD:,} and frequencies of 1 to half of it"
            )

    @property
    def hidden_size(self) -> int:
        """The number d of hidden units."""
        return self.network.hidden_size

    @property
    def alphabet(self) -> tuple[str, ...]:
        """The symbols, in the order of the rows of W_y."""
        return self.network.alphabet

    @property
    def name(self) -> str:
        """The text in short, for headings."""
        return self.text if len(self.text) <= 24 else self.text[:23] + "…"

    def replay(self, length: int) -> str:
        """The first `length` symbols that the network writes, as text; a finite string stops after its end symbol."""
        if self.terminated or not self.repeats:
            length = min(length, self.period)
        return self.network.replay(length)

    def to_json(self) -> dict[str, Any]:
        """The object that `memorize --json` prints, without `schema`, `command` and `version`."""
        plain = to_plain(self)
        plain["alphabet"] = list(self.alphabet)
        plain["hidden_size"] = self.hidden_size
        plain["replay"] = self.replay(max(self.period, min(SHOWN_PERIODS * self.period, SHOWN_SYMBOLS)))
        return plain

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Memorization:
        """The inverse of `to_json`."""
        return from_plain(cls, plain)


END = "<END>"
"""The symbol after which a finite string is over."""
_LARGEST = 1e15
_SPARSE = 64
"""Networks of more hidden units than this are run without the zeros of W_h: nearly all of its entries are."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class LinearNetwork(Displayed):
    """h_i = W_h h_{i-1} + W_x x_i, y_i = W_y h_i + b_y; the symbol after x_i is the arg max of y_i.

    x_i is one-hot, of length n; the state h_i has length d. `h_0` is the state whose successor emits the first
    symbol, and x_1 = 0: nothing was read yet. Memorization note 2023, first equation.
    """

    alphabet: tuple[str, ...]
    separator: str
    """What stands between two symbols when they are written as text: nothing for characters, a space for words."""
    W_h: NDArray[np.float64]
    """(d, d)"""
    W_x: NDArray[np.float64]
    """(d, n)"""
    W_y: NDArray[np.float64]
    """(n, d)"""
    b_y: NDArray[np.float64]
    """(n,)"""
    h_0: NDArray[np.float64]
    """(d,)"""

    def _summary(self) -> str:
        return f"{self.hidden_size:,} hidden units, {len(self.alphabet):,} symbols"

    def __post_init__(self) -> None:
        n, d = len(self.alphabet), self.h_0.size
        if not all(isinstance(symbol, str) for symbol in (*self.alphabet, self.separator)):
            raise InputError(
                "the symbols of a network and what stands between them are texts; got something else"
            )
        if n < 1 or d < 1 or len(set(self.alphabet)) < n:
            raise InputError(
                f"a network of {d} hidden units over {n} symbols; expected one or more of each, no symbol twice"
            )
        for name, shape in (
            ("W_h", (d, d)),
            ("W_x", (d, n)),
            ("W_y", (n, d)),
            ("b_y", (n,)),
            ("h_0", (d,)),
        ):
            weights = getattr(self, name)
            if weights.shape != shape:
                raise InputError(
                    f"{name} has shape {weights.shape}; expected {shape} for {d} hidden units, {n} symbols"
                )
            if not (np.abs(weights) <= _LARGEST).all():
                raise InputError(
                    f"{name} holds numbers that are not finite; expected weights of {_LARGEST:g} at most"
                )

    @property
    def hidden_size(self) -> int:
        """The number d of hidden units."""
        return len(self.h_0)

    def run(self, length: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """States h_1 … h_length, of shape (length, d), and the symbols they emit, as places in the alphabet."""
        states = np.empty((length, self.hidden_size))
        symbols = np.empty(length, dtype=np.int64)
        W_h, state, read = self.W_h, self.h_0, np.zeros(self.hidden_size)
        if self.hidden_size > _SPARSE:
            from scipy.sparse import csr_array

            W_h = csr_array(W_h)
        for step in range(length):
            states[step] = state = W_h @ state + read
            symbols[step] = symbol = int(np.argmax(self.W_y @ state + self.b_y))
            read = self.W_x[:, symbol]
        return states, symbols

    def replay(self, length: int) -> str:
        """The first `length` symbols that the network writes, as text."""
        if length < 0:
            raise InputError(f"a replay of {length} symbols; expected 0 or more")
        return self.written(self.run(length)[1])

    def written(self, symbols: NDArray[np.int64]) -> str:
        """Places in the alphabet as text."""
        return self.separator.join(self.alphabet[symbol] for symbol in symbols)


@final
@dataclass(frozen=True, eq=False, repr=False)
class Orbit(Notebook):
    """`points[i]` emits symbol `symbols[i]`; the plane is coloured by which symbol's score is the greatest there.

    The score of symbol k at a point is `weights[k] @ point + bias[k]`; where `weights` is empty, the regions are not drawn,
    because the score depends on coordinates that this plane does not show. Points are joined in their order.
    """

    name: str
    title: str
    x_label: str
    y_label: str
    alphabet: tuple[str, ...]
    points: NDArray[np.float64]
    """(places, 2)"""
    symbols: NDArray[np.int64]
    """(places,)"""
    weights: NDArray[np.float64]
    """(symbols, 2), or (0, 2)"""
    bias: NDArray[np.float64]
    """(symbols,), or (0,)"""
    round: bool
    """Whether the states walk around a circle: then both axes have one scale, and the last point is joined to the first."""
    caption: str

    def _summary(self) -> str:
        return f"{self.name!r}: {len(self.symbols):,} states, {len(self.alphabet):,} symbols"

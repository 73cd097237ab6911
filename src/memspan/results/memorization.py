"""What `memorize` returns: a linear network that replays a string, and what is known about smaller ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.results.display import Displayed, Notebook, in_brief
from memspan.results.encoding import JsonResult, check_lengths

Array = NDArray[np.float64]

END = "<END>"
"""The symbol that ends a finite string."""
# Symbols of the longest period: a square matrix of that size takes 32 MB.
LONGEST_PERIOD = 2_000
# The JSON holds a replay of three periods, but at most 300 symbols (or one period).
SHOWN_PERIODS, SHOWN_SYMBOLS = 3, 300
# Larger weights would leave no digits for differences of scores. The comparison also rejects NaN and infinity.
_LARGEST_WEIGHT = 1e15
# W_h is nearly all zeros, so larger networks run faster with a sparse matrix; small ones do not.
_SPARSE_SIZE = 64


@final
@dataclass(frozen=True, eq=False, repr=False)
class Memorization(JsonResult, Notebook):
    """One string, and a linear network that replays it."""

    text: str
    """One period, as text."""
    symbols: str
    """How symbols were read: chars, words, …"""
    length: int
    """Symbols of the given string; the network memorizes `period` of them and repeats them."""
    period: int
    terminated: bool
    """Whether the last symbol of the period is the end symbol."""
    method: str
    """rotation, cyclic, spectral or feedback."""
    network: LinearNetwork
    frequencies: tuple[int, ...]
    """Turns per period of each plane of the state (half an even period: a sign flip); empty for other methods."""
    minimal: bool
    """Whether no network of the form named in `statement` is smaller."""
    statement: str
    """What is known about smaller networks, in one sentence."""
    size_bound: int
    """Hidden units that suffice by a theorem, without any search."""
    rational_size: int
    """Fewest hidden units of a rational W_h whose order is the period; replaying the string may take more."""
    margin: float
    """Smallest lead of the correct symbol's score over any other, at any position of the period."""
    repeats: bool
    """Whether the string repeats forever; otherwise it is replayed once."""
    verified_symbols: int
    """Symbols that the recurrence replayed without an error."""
    drift: float
    """Largest change of a coordinate of the state between the first and the last replayed period."""
    noise: float
    """Relative Gaussian noise on every weight at which 90 % of networks still replay ten periods."""
    search: FrequencySearch | None
    learnt: TrainedLinearNetwork | None
    notes: tuple[str, ...]
    seconds: float

    def __post_init__(self) -> None:
        if not 1 <= self.period <= LONGEST_PERIOD or not all(
            1 <= 2 * frequency <= self.period for frequency in self.frequencies
        ):
            raise InputError(
                f"a period of {self.period} with frequencies {self.frequencies}; expected a period of 1 to "
                f"{LONGEST_PERIOD:,} and frequencies of 1 to half of it"
            )
        size = sum(1 if 2 * frequency == self.period else 2 for frequency in self.frequencies)
        if len(self.frequencies) > 1 and size != self.hidden_size:
            raise InputError(f"frequencies and hidden units differ in length; frequencies take {size} hidden units")

    def _summary(self) -> str:
        size = f"{self.hidden_size:,} hidden units{', minimal' if self.minimal else ''}"
        return f"{in_brief(self.name)}, period {self.period:,}, {size}, method {self.method}"

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
        """The text, shortened for headings."""
        return self.text if len(self.text) <= 24 else self.text[:23] + "…"

    def replay(self, length: int) -> str:
        """The first `length` symbols that the network emits, as text; a finite string stops after its end symbol."""
        if self.terminated or not self.repeats:
            length = min(length, self.period)
        return self.network.replay(length)

    def to_json(self) -> dict[str, Any]:
        """All fields, and `alphabet`, `hidden_size` and the beginning of the replay."""
        return {
            **super().to_json(),
            "alphabet": list(self.alphabet),
            "hidden_size": self.hidden_size,
            "replay": self.replay(max(self.period, min(SHOWN_PERIODS * self.period, SHOWN_SYMBOLS))),
        }


@final
@dataclass(frozen=True, eq=False, repr=False)
class LinearNetwork(Displayed):
    """h_i = W_h h_{i-1} + W_x x_i, y_i = W_y h_i + b_y; the symbol after x_i is the arg max of y_i.

    x_i is one-hot, of length n; the state h_i has length d. `h_0` is the state whose successor emits the first
    symbol, with x_1 = 0 because nothing was read yet. Memorization note 2023, first equation.
    """

    alphabet: tuple[str, ...]
    separator: str
    """Text between two symbols: empty for characters, a space for words."""
    W_h: Array
    """(d, d)"""
    W_x: Array
    """(d, n)"""
    W_y: Array
    """(n, d)"""
    b_y: Array
    """(n,)"""
    h_0: Array
    """(d,)"""

    def __post_init__(self) -> None:
        n, d = len(self.alphabet), self.h_0.size
        if not all(isinstance(symbol, str) for symbol in (*self.alphabet, self.separator)):
            raise InputError("the alphabet and the separator of a network hold something else than strings")
        if n < 1 or d < 1 or len(set(self.alphabet)) < n:
            raise InputError(
                f"a network of {d} hidden units over {n} symbols; expected at least one of each and no symbol twice"
            )
        shapes = {"W_h": (d, d), "W_x": (d, n), "W_y": (n, d), "b_y": (n,), "h_0": (d,)}
        for name, shape in shapes.items():
            weights = getattr(self, name)
            if weights.shape != shape:
                raise InputError(
                    f"{name} has shape {weights.shape}; expected {shape} for {d} hidden units, {n} symbols"
                )
            if not (np.abs(weights) <= _LARGEST_WEIGHT).all():
                raise InputError(f"{name} holds non-finite or huge weights; expected at most {_LARGEST_WEIGHT:g}")

    def _summary(self) -> str:
        return f"{self.hidden_size:,} hidden units, {len(self.alphabet):,} symbols"

    @property
    def hidden_size(self) -> int:
        """The number d of hidden units."""
        return len(self.h_0)

    def run(self, length: int) -> tuple[Array, NDArray[np.int64]]:
        """States h_1 … h_length, of shape (length, d), and the symbols they emit, as indices into the alphabet."""
        states = np.empty((length, self.hidden_size))
        symbols = np.empty(length, dtype=np.int64)
        W_h, state, read = self.W_h, self.h_0, np.zeros(self.hidden_size)
        if self.hidden_size > _SPARSE_SIZE:
            from scipy.sparse import csr_array

            W_h = csr_array(W_h)
        for step in range(length):
            states[step] = state = W_h @ state + read
            symbols[step] = symbol = int(np.argmax(self.W_y @ state + self.b_y))
            read = self.W_x[:, symbol]
        return states, symbols

    def replay(self, length: int) -> str:
        """The first `length` symbols that the network emits, as text."""
        if length < 0:
            raise InputError(f"a replay of {length} symbols; expected 0 or more")
        return self.written(self.run(length)[1])

    def written(self, symbols: NDArray[np.int64]) -> str:
        """Indices into the alphabet as text."""
        return self.separator.join(self.alphabet[symbol] for symbol in symbols)


@final
@dataclass(frozen=True)
class FrequencySearch:
    """The search for the smallest set of rotation frequencies whose orbit is linearly separable."""

    sets: int
    """Frequency sets that were decided: shown to be inseparable, or solved for their largest margin."""
    refuted_size: int
    """No network of this form with this many hidden units or fewer exists."""
    complete: bool
    """Whether the search finished within its budget."""
    budget: float
    """Time limit in seconds."""
    seconds: float


@final
@dataclass(frozen=True, eq=False, repr=False)
class TrainedLinearNetwork(Displayed):
    """A linear network of the same size, trained on the same string by gradient descent."""

    hidden_size: int
    updates: int
    loss: float
    """Mean cross-entropy in nats per symbol over the training steps."""
    trained_symbols: int
    """Steps of one training pass."""
    replayed_symbols: int
    """Correct symbols before the first error, up to `tested_symbols`."""
    tested_symbols: int
    eigenvalues: NDArray[np.complex128]
    """Of W_h, largest modulus first."""
    nearest_roots: NDArray[np.int64]
    """For each eigenvalue the k of the nearest root of unity exp(2 pi i k / period)."""
    distances: Array
    """Distance to that root."""

    def __post_init__(self) -> None:
        check_lengths(self, "eigenvalues", "nearest_roots", "distances")


@final
@dataclass(frozen=True, eq=False, repr=False)
class Orbit(Notebook):
    """States of a network in a plane: `points[i]` emits symbol `symbols[i]`, and regions show the arg max of the scores.

    The score of symbol k at a point is `weights[k] @ point + bias[k]`. If `weights` is empty, no regions are drawn, because
    the scores depend on coordinates outside this plane. Points are joined in their order.
    """

    name: str
    title: str
    x_label: str
    y_label: str
    alphabet: tuple[str, ...]
    points: Array
    """(positions, 2)"""
    symbols: NDArray[np.int64]
    """(positions,)"""
    weights: Array
    """(symbols, 2), or (0, 2)"""
    bias: Array
    """(symbols,), or (0,)"""
    round: bool
    """Whether the orbit is closed in the plane: equal axis scales, and the last point is joined to the first."""
    caption: str

    def __post_init__(self) -> None:
        if self.points.shape != (self.symbols.size, 2) or not self.symbols.size:
            raise InputError(f"points and symbols differ in length in {self.name}; expected one point per symbol")
        if not np.isin(self.symbols, np.arange(len(self.alphabet))).all():
            raise InputError(
                f"symbols and alphabet differ in length in {self.name}; expected indices into the alphabet"
            )
        if self.weights.size and not len(self.weights) == len(self.bias) == len(self.alphabet):
            raise InputError(f"weights, bias and alphabet differ in length in {self.name}; expected one row per symbol")

    def _summary(self) -> str:
        return f"{self.name!r}: {len(self.symbols):,} states, {len(self.alphabet):,} symbols"

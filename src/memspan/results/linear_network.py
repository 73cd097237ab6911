"""A linear recurrent network that writes symbols: its weights, and the recurrence that gives them meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from memspan.errors import InputError
from memspan.results.display import Displayed

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

"""Compiled loops that turn uniform random numbers into symbols; imported only when something is drawn.

Every draw is by Walker's alias method: a law over K outcomes is K columns of equal weight, each shared by two
outcomes, so one random number picks a column and one of its two in constant time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(nogil=True, cache=True)
def alias_tables(laws: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The share of each column that its own outcome keeps, and which outcome has the rest.  Vose 1991."""
    n_rows, n = laws.shape
    keep = np.ones((n_rows, n))
    alias = np.empty((n_rows, n), dtype=np.int64)
    poor = np.empty(n, dtype=np.int64)
    rich = np.empty(n, dtype=np.int64)
    for row in range(n_rows):
        weight = laws[row] * (n / laws[row].sum())
        n_poor = n_rich = 0
        for k in range(n):
            alias[row, k] = k
            if weight[k] < 1.0:
                poor[n_poor] = k
                n_poor += 1
            else:
                rich[n_rich] = k
                n_rich += 1
        while n_poor and n_rich:
            n_poor -= 1
            low, high = poor[n_poor], rich[n_rich - 1]
            keep[row, low] = weight[low]
            alias[row, low] = high
            weight[high] -= 1.0 - weight[low]
            if weight[high] < 1.0:
                n_rich -= 1
                poor[n_poor] = high
                n_poor += 1
        # Columns left over weigh one, but for rounding, and keep all of it.
    return keep, alias


@njit(nogil=True, cache=True, inline="always")
def _pick(uniform: float, keep: Any, alias: Any, row: int) -> int:
    scaled = uniform * keep.shape[1]
    column = min(int(scaled), keep.shape[1] - 1)
    return column if scaled - column < keep[row, column] else alias[row, column]


@njit(nogil=True, cache=True)
def walk(
    uniforms: NDArray[np.float64],
    keep: NDArray[np.float64],
    alias: NDArray[np.int64],
    state_of: NDArray[np.int64],
    symbol_of: NDArray[Any],
    state: int,
    until_next: int,
    length: int,
    out: NDArray[Any],
) -> int:
    """Write a symbol per random number, a document's first after `until_next` of them; the state reached."""
    for i in range(len(uniforms)):
        if until_next == 0:
            state = len(keep) - 1
            until_next = length
        until_next -= 1
        outcome = _pick(uniforms[i], keep, alias, state)
        state = state_of[outcome]
        out[i] = symbol_of[outcome]
    return state


@njit(nogil=True, cache=True)
def descend(
    uniforms: NDArray[np.float64],
    keep: NDArray[np.float64],
    alias: NDArray[np.int64],
    parents: NDArray[Any],
    start: int,
    children: int,
    out: NDArray[Any],
) -> None:
    """Write children number start, start + 1, … of the parents, each of which has `children`."""
    for i in range(len(uniforms)):
        out[i] = _pick(uniforms[i], keep, alias, parents[(start + i) // children])


@njit(nogil=True, cache=True)
def repeat_or_draw(
    uniforms: NDArray[np.float64],
    stay: float,
    keep: NDArray[np.float64],
    alias: NDArray[np.int64],
    symbol: int,
    until_next: int,
    length: int,
    out: NDArray[Any],
) -> int:
    """Repeat the last symbol where the random number is below `stay`, else draw from the law; the last symbol.

    What is left of the random number, (u - stay)/(1 - stay), is uniform again and draws the symbol. A document's
    first symbol is always drawn; the first document starts after `until_next` numbers.
    """
    for i in range(len(uniforms)):
        first = until_next == 0
        if first:
            until_next = length
        until_next -= 1
        if first:
            symbol = _pick(uniforms[i], keep, alias, 0)
        elif uniforms[i] >= stay:
            symbol = _pick((uniforms[i] - stay) / (1.0 - stay), keep, alias, 0)
        out[i] = symbol
    return symbol


@njit(nogil=True, cache=True)
def autoregress(
    normals: NDArray[np.float64],
    coefficient: float,
    thresholds: NDArray[np.float64],
    value: float,
    until_next: int,
    length: int,
    out: NDArray[Any],
) -> float:
    """Write the level of x_t = a x_{t-1} + sqrt(1 - a^2) z_t per normal number z; returns the last x.

    A document starts from x = z, the stationary law; the first one after `until_next` numbers.
    """
    innovation = np.sqrt(1.0 - coefficient * coefficient)
    for i in range(len(normals)):
        if until_next == 0:
            until_next = length
            value = normals[i]
        else:
            value = coefficient * value + innovation * normals[i]
        until_next -= 1
        out[i] = np.searchsorted(thresholds, value)
    return value
